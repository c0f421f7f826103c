#include "core/verify/constant_values.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/graph/editor.h"
#include "core/ops/moves.h"
#include "core/verify/fold.h"
#include "core/verify/folded_size.h"
#include "core/verify/numbers.h"

namespace rlgo::verify {
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
    case Op::reduce_min:
    case Op::arg_max:
    case Op::arg_min:
    case Op::ceil:
    case Op::floor:
    case Op::round:
    case Op::sign:
    case Op::thresholded_relu:
    case Op::trilu:
    case Op::one_hot:
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
Tensor rounded(const Tensor& exact, DType type) {
  if (!ops::is_float(type) || type == DType::f64) return exact;
  return evaluate::cast(evaluate::cast(exact, DType::f32), type);
}

bool is_half(DType type) { return type == DType::f16 || type == DType::bf16; }

// Where arithmetic on halves overflows on the way, runtimes differ: some keep floats between operators. Such a result
// is not settled here.
bool overflows(const Tensor& exact, const Tensor& narrow) {
  const auto numbers = numbers_of(narrow);
  bool any = false;
  each_number(exact, [&](int64_t i, double number) {
    any = any || (std::isfinite(number) && !std::isfinite(numbers[static_cast<size_t>(i)]));
  });
  return any;
}

uint64_t hash_of(const Graph& graph, NodeId id, int32_t port, const std::unordered_map<NodeId, uint64_t>& known) {
  uint64_t hash = hash_combine(graph.node(id).info->local_hash, static_cast<uint64_t>(port));
  for (const Value& input : graph.node(id).inputs)
    hash = hash_combine(hash_combine(hash, known.at(input.node)), static_cast<uint64_t>(input.port));
  return hash;
}

// Constant nodes that are rounded, those of them that become weights, and all that these are computed from, in
// topological order.
class Constants {
 public:
  explicit Constants(const Graph& graph) : graph_(graph) {
    const auto left = unfoldable(graph);
    for (const NodeId id : graph.order()) {
      if (graph.node(id).constant && !left.contains(id)) look_at(id);
    }
    const auto operators = left_for_size(graph, left, graph.id_bound());
    std::unordered_set<NodeId> needed;
    const auto order = graph.order();
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      const auto& node = graph.node(*it);
      if (!hashes_.contains(*it)) continue;
      if (rounded_.contains(*it) && !operators.contains(*it) && stays_read(*it, operators)) weights_.insert(*it);
      if (!weights_.contains(*it) && !needed.contains(*it)) continue;
      nodes_.push_back(*it);
      for (const Value& input : node.inputs) needed.insert(input.node);
    }
    std::ranges::reverse(nodes_);
    for (const NodeId id : nodes_) {
      for (const Value& input : graph.node(id).inputs) last_reader_[input.node] = id;
    }
  }

  bool none() const { return weights_.empty(); }

  // Calls back with the weight of each output of the nodes that become weights.
  void compute(const Deadline& deadline, const std::function<void(Value, std::shared_ptr<const graph::Blob>)>& found) {
    std::unordered_map<NodeId, Tensors> values;
    for (const NodeId id : nodes_) {
      deadline.check();
      const auto& node = graph_.node(id);
      const auto& types = node.info->outputs;
      const bool absent = absent_.contains(id);
      Tensors out = absent ? Tensors(types.size()) : run(id, values, deadline);
      for (size_t p = 0; rounded_.contains(id) && p < types.size(); ++p) {
        const Value value{id, static_cast<int32_t>(p)};
        const uint64_t hash = hash_of(graph_, id, value.port, hashes_);
        if (absent) {
          if (weights_.contains(id)) found(value, graph::Blob::absent(types[p], hash, node.infinities));
          continue;
        }
        const Tensor narrow = rounded(out[p], types[p].dtype);
        if (node.op() != Op::cast && is_half(types[p].dtype) && overflows(out[p], narrow)) continue;
        if (weights_.contains(id))
          found(value, graph::Blob::bytes(types[p], *to_blob(narrow, types[p])->share(), hash));
        out[p] = evaluate::cast(narrow, evaluate::held(types[p].dtype, Precision::wider));
      }
      for (const Value& input : node.inputs) {
        if (last_reader_.at(input.node) == id) values.erase(input.node);
      }
      if (last_reader_.contains(id)) values[id] = std::move(out);
    }
  }

 private:
  Tensors run(NodeId id, const std::unordered_map<NodeId, Tensors>& values, const Deadline& deadline) const {
    const auto& node = graph_.node(id);
    Tensors in;
    for (const Value& input : node.inputs) in.push_back(values.at(input.node)[static_cast<size_t>(input.port)]);
    return evaluate::run_kernel(
        {.in = in, .info = *node.info, .precision = Precision::wider, .run = {.deadline = deadline}});
  }

  void look_at(NodeId id) {
    const auto& node = graph_.node(id);
    const auto among = [&](const std::unordered_set<NodeId>& some) {
      return std::ranges::any_of(node.inputs, [&](const Value& input) { return some.contains(input.node); });
    };
    const auto* blob = node.info->blob.get();
    if (among(absent_) || (blob != nullptr && !blob->available())) absent_.insert(id);
    if (among(of_tensors_) || (blob != nullptr && blob->type().elements() != 1)) of_tensors_.insert(id);
    hashes_[id] = hash_of(graph_, id, 0, hashes_);
    if (!is_rounded(graph_, id)) return;
    // Rules look at single numbers, which processes without contents have as far as they come from single numbers.
    const auto is_single = [](const ops::TensorType& type) { return type.elements() == 1; };
    if (!of_tensors_.contains(id) || std::ranges::none_of(node.info->outputs, is_single)) rounded_.insert(id);
  }

  // Whether something reads the node that does not become a weight itself.
  bool stays_read(NodeId id, const std::unordered_set<NodeId>& operators) const {
    return graph_.is_output(id) || std::ranges::any_of(graph_.node(id).uses, [&](const graph::Use& use) {
             const auto& types = graph_.node(use.user).info->outputs;
             return !rounded_.contains(use.user) || operators.contains(use.user) ||
                    std::ranges::any_of(types, [](const auto& type) { return is_half(type.dtype); });  // may overflow
           });
  }

  const Graph& graph_;
  std::vector<NodeId> nodes_;
  std::unordered_set<NodeId> rounded_, weights_;
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

Graph fold_rounded_constants(Graph graph, const std::function<std::string(Value)>& name_of, const Deadline& deadline) {
  Constants constants(graph);
  if (constants.none()) return graph;
  auto names = leaf_names(graph);
  graph::Editor editor(graph);
  constants.compute(deadline, [&](Value value, std::shared_ptr<const graph::Blob> blob) {
    std::string name = name_of(value);
    if (name.empty()) name = fmt::format("folded_{}", value.node);
    while (!names.insert(name).second) name += '+';
    editor.replace(value, editor.add_weight(std::move(name), std::move(blob)));
  });
  auto edited = editor.finish();
  RLGO_CHECK(edited.has_value());
  return std::move(*edited);
}

}  // namespace rlgo::verify
