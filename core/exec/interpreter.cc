#include "core/exec/interpreter.h"

#include <ATen/Parallel.h>

#include <unordered_set>

#include "core/base/error.h"
#include "core/evaluate/constants.h"

namespace rlgo::exec {
namespace {

using graph::Graph;
using graph::NodeId;
using ops::Op;

bool fits(const at::Tensor& tensor, const ops::TensorType& type) {
  if (type.dtype == ops::DType::other || !type.ranked) return true;
  if (tensor.dim() != type.rank()) return false;
  for (int64_t d = 0; d < tensor.dim(); ++d) {
    if (type.shape[d] >= 0 && tensor.size(d) != type.shape[d]) return false;
  }
  const auto dtype = from_torch(tensor.scalar_type());
  return dtype == type.dtype || (ops::is_float(dtype) && ops::is_float(type.dtype));
}

}  // namespace

Interpreter::Interpreter(graph::Graph graph, const InterpreterOptions& options)
    : graph_(std::move(graph)), plan_(graph_), device_(options.device), deadline_(options.deadline) {
  const c10::InferenceMode inference;
  constants_.resize(plan_.slots);
  load_constants(options);
}

void Interpreter::load_constants(const InterpreterOptions& options) {
  const auto store = options.weights ? options.weights : std::make_shared<WeightStore>(device_);
  RLGO_CHECK(store->device() == device_);
  const auto read = evaluate::read_constants(graph_);
  for (NodeId id : read) {
    const auto& info = *graph_.node(id).info;
    if (info.op != Op::weight) continue;
    constants_[plan_.slot({id, 0})] = store->load(*info.blob, to_torch(info.outputs[0].dtype));
  }
  const std::unordered_set<NodeId> wanted(read.begin(), read.end());
  const auto keep = [&](NodeId id, const evaluate::Tensors&, const evaluate::Tensors& out) {
    if (!wanted.contains(id)) return;
    const auto& types = graph_.node(id).info->outputs;
    for (size_t p = 0; p < out.size(); ++p) {
      constants_[plan_.slot({id, static_cast<int32_t>(p)})] =
          to_torch(out[p]).to(to_torch(types[p].dtype)).to(to_torch(device_));
    }
  };
  evaluate::compute_constants(graph_, read, evaluate::Precision::f64, {.threads = at::get_num_threads()}, keep);
}

TensorMap Interpreter::prepare(const TensorMap& inputs) const {
  TensorMap ready;
  for (NodeId id : graph_.inputs()) {
    const auto& info = *graph_.node(id).info;
    const auto found = inputs.find(info.name);
    if (found == inputs.end()) fail("graph '{}': input '{}' is missing", graph_.name(), info.name);
    const auto& type = info.outputs[0];
    if (!fits(found->second, type)) {
      fail("graph '{}': input '{}' is {}, not {}", graph_.name(), info.name, to_string(type_of(found->second)),
           to_string(type));
    }
    ready[info.name] = found->second.to(at::TensorOptions(to_torch(type.dtype)).device(to_torch(device_))).contiguous();
  }
  return ready;
}

TensorMap Interpreter::run(const TensorMap& inputs) const {
  const c10::InferenceMode inference;
  Tensors values = constants_;
  const TensorMap ready = prepare(inputs);
  for (NodeId id : graph_.inputs()) values[plan_.first_slot[id]] = ready.at(graph_.node(id).info->name);
  Tensors in;
  for (const auto& step : plan_.steps) {
    deadline_.check();
    in.clear();
    for (evaluate::Slot s : step.inputs) in.push_back(values[s]);
    Call call{.in = in, .info = *graph_.node(step.node).info};
    call.device = to_torch(device_);
    call.index_bounds = step.index_bounds;
    Tensors out = run_kernel(call);
    for (size_t p = 0; p < out.size(); ++p) {
      values[step.first_output + static_cast<evaluate::Slot>(p)] = std::move(out[p]);
    }
    for (evaluate::Slot s : step.freed) values[s] = at::Tensor();
  }
  TensorMap outputs;
  for (const auto& output : graph_.outputs()) outputs[output.name] = values[plan_.slot(output.value)];
  return outputs;
}

}  // namespace rlgo::exec
