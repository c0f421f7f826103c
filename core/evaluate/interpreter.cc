#include "core/evaluate/interpreter.h"

#include <algorithm>

#include "core/base/hash.h"
#include "core/evaluate/constants.h"

namespace rlgo::evaluate {
namespace {

using graph::Graph;
using graph::NodeId;
using ops::Op;

bool fits(const Tensor& tensor, const ops::TensorType& type) {
  if (type.dtype == ops::DType::other || !type.ranked) return true;
  if (tensor.rank() != type.rank()) return false;
  for (size_t d = 0; d < type.shape.size(); ++d) {
    if (type.shape[d] >= 0 && tensor.shape()[d] != type.shape[d]) return false;
  }
  return tensor.dtype() == type.dtype || (ops::is_float(tensor.dtype()) && ops::is_float(type.dtype));
}

// Whether the kernel takes f32 there in place of f64, and widens what it reads.
bool takes_narrow(Op op, size_t input) {
  return op == Op::gather || ((op == Op::matmul || op == Op::conv2d) && input == 1);
}

// No kernel that reads it wants all of it widened at once.
bool stays_narrow(const Graph& graph, graph::Value value) {
  return !graph.is_output(value.node) && std::ranges::all_of(graph.node(value.node).uses, [&](const graph::Use& use) {
    const auto& user = graph.node(use.user);
    return user.constant || use.port != value.port || takes_narrow(user.op(), static_cast<size_t>(use.input));
  });
}

}  // namespace

Tensor WeightStore::load(const graph::Blob& blob, ops::DType dtype) {
  const uint64_t content = hash_combine(blob.content_hash(), blob.type().hash());
  Tensor& tensor = tensors_[hash_combine(content, static_cast<uint64_t>(dtype))];
  if (!tensor.defined()) tensor = cast(Tensor::of(blob), dtype);
  return tensor;
}

Interpreter::Interpreter(Graph graph, const InterpreterOptions& options)
    : graph_(std::move(graph)), plan_(graph_), precision_(options.precision), run_{options.threads, options.deadline} {
  constants_.resize(plan_.slots);
  load_constants(options);
}

void Interpreter::load_constants(const InterpreterOptions& options) {
  const auto store = options.weights ? options.weights : std::make_shared<WeightStore>();
  const bool f64 = precision_ == Precision::f64, many = f64 && wide_bytes(graph_) > options.most_wide_bytes;
  const auto keeps_narrow = [&](graph::Value value, const ops::TensorType& type) {
    return f64 && is_large(type) && (many || stays_narrow(graph_, value));
  };
  const auto read = read_constants(graph_);
  for (const NodeId id : read) {
    const auto& info = *graph_.node(id).info;
    if (info.op != Op::weight) continue;
    const auto& type = info.outputs[0];
    const bool narrow = keeps_narrow({id, 0}, type);
    constants_[plan_.slot({id, 0})] =
        store->load(*info.blob, held(type.dtype, narrow ? Precision::native : precision_));
    if (narrow) narrow_.insert(plan_.slot({id, 0}));
  }
  const std::unordered_set<NodeId> wanted(read.begin(), read.end());
  compute_constants(graph_, read, Precision::f64, run_, [&](NodeId id, const Tensors&, const Tensors& out) {
    if (!wanted.contains(id)) return;
    const auto& types = graph_.node(id).info->outputs;
    for (size_t p = 0; p < out.size(); ++p) {
      const graph::Value value{id, static_cast<int32_t>(p)};
      const Slot to = plan_.slot(value);
      const bool narrow = keeps_narrow(value, types[p]) && out[p].dtype() == types[p].dtype;
      constants_[to] = narrow ? out[p] : cast(out[p], held(types[p].dtype, precision_), run_);
      if (narrow) narrow_.insert(to);
    }
  });
}

Tensor Interpreter::read(const Tensors& values, Slot from) const {
  return narrow_.contains(from) ? cast(values[from], ops::DType::f64, run_) : values[from];
}

TensorMap Interpreter::prepare(const TensorMap& inputs) const {
  TensorMap ready;
  for (const NodeId id : graph_.inputs()) {
    const auto& info = *graph_.node(id).info;
    const auto found = inputs.find(info.name);
    if (found == inputs.end()) fail("graph '{}': input '{}' is missing", graph_.name(), info.name);
    const auto& type = info.outputs[0];
    if (!fits(found->second, type)) {
      fail("graph '{}': input '{}' is {}, not {}", graph_.name(), info.name, to_string(found->second.type()),
           to_string(type));
    }
    ready[info.name] = cast(found->second, held(type.dtype, precision_), run_);
  }
  return ready;
}

TensorMap Interpreter::run(const TensorMap& inputs, const Observer& observe) const {
  Tensors values = constants_;
  const TensorMap ready = prepare(inputs);
  for (const NodeId id : graph_.inputs()) values[plan_.first_slot[id]] = ready.at(graph_.node(id).info->name);
  Tensors in;
  for (const auto& step : plan_.steps) {
    run_.deadline.check();
    in.clear();
    const auto& info = *graph_.node(step.node).info;
    for (size_t i = 0; i < step.inputs.size(); ++i)
      in.push_back(takes_narrow(info.op, i) ? values[step.inputs[i]] : read(values, step.inputs[i]));
    Tensors out =
        run_kernel({.in = in, .info = info, .precision = precision_, .run = run_, .index_bounds = step.index_bounds});
    for (size_t p = 0; p < out.size(); ++p) {
      if (observe) observe({step.node, static_cast<int32_t>(p)}, out[p]);
      values[step.first_output + static_cast<Slot>(p)] = std::move(out[p]);
    }
    for (const Slot s : step.freed) values[s] = Tensor();
  }
  TensorMap outputs;
  for (const auto& output : graph_.outputs()) outputs[output.name] = read(values, plan_.slot(output.value));
  return outputs;
}

}  // namespace rlgo::evaluate
