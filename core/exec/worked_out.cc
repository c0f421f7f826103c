#include "core/exec/worked_out.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/exec/constants.h"
#include "core/exec/fold.h"
#include "core/exec/kernels.h"
#include "core/graph/editor.h"
#include "core/ops/moves.h"

namespace rlgo::exec {
namespace {

using graph::Graph;
using graph::NodeId;
using graph::Value;
using ops::DType;
using ops::Op;

int digits(DType type) {
  switch (type) {
    case DType::f64:
      return 53;
    case DType::f32:
      return 24;
    case DType::f16:
      return 11;
    case DType::bf16:
      return 8;
    default:
      return 0;
  }
}

// Whether every number of `from` is one of `to`. (Half has more digits than bfloat16, and a smaller range.)
bool holds(DType to, DType from) {
  if (!ops::is_float(to) || !ops::is_float(from)) return !ops::is_float(to) && !ops::is_float(from);
  return to == from || (digits(to) > digits(from) && digits(to) >= 24);
}

}  // namespace

bool is_rounded(const Graph& graph, NodeId id) {
  const auto& node = graph.node(id);
  const auto inputs = graph.input_types(id);
  const auto is_float = [](const ops::TensorType& type) { return ops::is_float(type.dtype); };
  if (std::ranges::none_of(inputs, is_float) && std::ranges::none_of(node.info->outputs, is_float)) return false;
  if (ops::moves_only(node.op())) return false;
  switch (node.op()) {
    case Op::weight:
    case Op::fill:
    case Op::literal:
    case Op::input:
    case Op::opaque:
    case Op::expand:
    case Op::where:
    case Op::neg:
    case Op::abs:
    case Op::relu:
    case Op::min:
    case Op::max:
    case Op::max_pool:
    case Op::reduce_max:
    case Op::equal:
    case Op::less:
    case Op::less_equal:
      return false;
    case Op::cast:
      return !holds(node.info->outputs[0].dtype, inputs[0].dtype);
    default:
      return true;
  }
}

namespace {

// A runtime computes halves in float, and rounds then.
at::Tensor rounded(const at::Tensor& exact, DType type) {
  if (!ops::is_float(type) || type == DType::f64) return exact;
  at::Tensor narrow = exact.to(at::kFloat);
  if (type != DType::f32) narrow = narrow.to(to_torch(type));
  return narrow;
}

bool is_half(DType type) { return type == DType::f16 || type == DType::bf16; }

// Where arithmetic on halves overflows on the way, runtimes differ: some keep floats between operators. Such a result
// is not settled here.
bool overflows(const at::Tensor& exact, const at::Tensor& narrow) {
  return at::logical_and(exact.isfinite(), narrow.isfinite().logical_not()).any().item<bool>();
}

uint64_t hash_of(const Graph& graph, NodeId id, int32_t port, const std::unordered_map<NodeId, uint64_t>& known) {
  uint64_t hash = hash_combine(graph.node(id).info->local_hash, static_cast<uint64_t>(port));
  for (const Value& input : graph.node(id).inputs)
    hash = hash_combine(hash_combine(hash, known.at(input.node)), static_cast<uint64_t>(input.port));
  return hash;
}

// Constant nodes that are rounded, and all that they are computed from, in topological order.
class Constants {
 public:
  explicit Constants(const Graph& graph) : graph_(graph) {
    const auto order = graph.order();
    const auto left = left_unfolded(graph);
    std::unordered_set<NodeId> needed;
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      const auto& node = graph.node(*it);
      if (!node.constant || left.contains(*it)) continue;
      if (is_rounded(graph, *it)) rounded_.insert(*it);
      if (!rounded_.contains(*it) && !needed.contains(*it)) continue;
      nodes_.push_back(*it);
      for (const Value& input : node.inputs) needed.insert(input.node);
    }
    std::ranges::reverse(nodes_);
    for (const NodeId id : nodes_) {
      const auto& node = graph.node(id);
      for (const Value& input : node.inputs) {
        last_reader_[input.node] = id;
        if (absent_.contains(input.node)) absent_.insert(id);
        if (of_tensors_.contains(input.node)) of_tensors_.insert(id);
      }
      hashes_[id] = hash_of(graph, id, 0, hashes_);
      const auto* blob = node.info->blob.get();
      if (blob != nullptr && !blob->available()) absent_.insert(id);
      if (blob != nullptr && blob->type().elements() != 1) of_tensors_.insert(id);
    }
    // Rules look at single numbers, which processes without contents have as far as they come from single numbers.
    std::erase_if(rounded_, [&](NodeId id) {
      const auto& types = graph.node(id).info->outputs;
      return of_tensors_.contains(id) &&
             std::ranges::any_of(types, [](const auto& type) { return type.elements() == 1; });
    });
  }

  bool none() const { return rounded_.empty(); }

  // Calls back with the weight of each output of the rounded nodes.
  void compute(const std::function<void(Value, std::shared_ptr<const graph::Blob>)>& found) {
    const c10::InferenceMode inference;
    std::unordered_map<NodeId, Tensors> values;
    for (const NodeId id : nodes_) {
      const auto& node = graph_.node(id);
      const auto& types = node.info->outputs;
      const bool absent = absent_.contains(id);
      Tensors out = absent ? Tensors(types.size()) : run(id, values);
      for (size_t p = 0; rounded_.contains(id) && p < types.size(); ++p) {
        const Value value{id, static_cast<int32_t>(p)};
        const uint64_t hash = hash_of(graph_, id, value.port, hashes_);
        if (absent) {
          found(value, graph::Blob::absent(types[p], hash, node.infinities));
          continue;
        }
        const at::Tensor narrow = rounded(out[p], types[p].dtype);
        if (node.op() != Op::cast && is_half(types[p].dtype) && overflows(out[p], narrow)) continue;
        found(value, graph::Blob::bytes(types[p], *to_blob(narrow, types[p])->share(), hash));
        out[p] = ops::is_float(types[p].dtype) ? narrow.to(at::kDouble) : narrow;
      }
      for (const Value& input : node.inputs) {
        if (last_reader_.at(input.node) == id) values.erase(input.node);
      }
      if (last_reader_.contains(id)) values[id] = std::move(out);
    }
  }

 private:
  Tensors run(NodeId id, const std::unordered_map<NodeId, Tensors>& values) const {
    const auto& node = graph_.node(id);
    Tensors in;
    for (const Value& input : node.inputs) in.push_back(values.at(input.node)[static_cast<size_t>(input.port)]);
    Call call{.in = in, .info = *node.info};
    call.precision = Precision::f64;
    return run_kernel(call);
  }

  const Graph& graph_;
  std::vector<NodeId> nodes_;
  std::unordered_set<NodeId> rounded_;
  std::unordered_map<NodeId, NodeId> last_reader_;
  std::unordered_map<NodeId, uint64_t> hashes_;
  std::unordered_set<NodeId> absent_;      // made of contents that are not here
  std::unordered_set<NodeId> of_tensors_;  // made of weights of more than one element
};

std::unordered_set<std::string> leaf_names(const Graph& graph) {
  std::unordered_set<std::string> names;
  for (const NodeId id : graph.order()) {
    if (graph.node(id).inputs.empty()) names.insert(graph.node(id).info->name);
  }
  for (const NodeId id : graph.inputs()) names.insert(graph.node(id).info->name);
  return names;
}

}  // namespace

Graph work_out_constants(Graph graph, const std::function<std::string(Value)>& name_of) {
  Constants constants(graph);
  if (constants.none()) return graph;
  auto names = leaf_names(graph);
  graph::Editor editor(graph);
  constants.compute([&](Value value, std::shared_ptr<const graph::Blob> blob) {
    std::string name = name_of(value);
    if (name.empty()) name = fmt::format("worked_out_{}", value.node);
    while (!names.insert(name).second) name += '+';
    editor.replace(value, editor.add_weight(std::move(name), std::move(blob)));
  });
  auto edited = editor.finish();
  RLGO_CHECK(edited.has_value());
  return std::move(*edited);
}

}  // namespace rlgo::exec
