#include "core/verify/double_graph.h"

#include <vector>

#include "core/base/error.h"
#include "core/evaluate/kernels.h"
#include "core/graph/editor.h"

namespace rlgo::verify {
namespace {

using graph::NodeId;
using graph::Value;
using ops::Attr;
using ops::DType;
using ops::Op;

std::shared_ptr<const graph::Blob> in_double(const std::shared_ptr<const graph::Blob>& blob) {
  if (!ops::is_float(blob->type().dtype) || blob->type().dtype == DType::f64) return blob;
  const evaluate::Tensor wide = evaluate::cast(evaluate::Tensor::of(*blob), DType::f64);
  auto type = blob->type();
  type.dtype = DType::f64;
  return graph::Blob::bytes(type, std::string(static_cast<const char*>(wide.raw()), static_cast<size_t>(wide.bytes())));
}

// An attribute may name the type that an operator makes.
ops::Attrs in_double(ops::Attrs attrs) {
  if (attrs.find(Attr::to) == nullptr) return attrs;
  const auto to = ops::dtype_from_name(attrs.word(Attr::to));
  if (to && ops::is_float(*to)) attrs.set(Attr::to, std::string(ops::name(DType::f64)));
  return attrs;
}

}  // namespace

graph::Graph in_double_precision(const graph::Graph& graph) {
  graph::Editor editor(graph.name());
  editor.trust();
  std::vector<NodeId> made(static_cast<size_t>(graph.id_bound()), graph::kNoNode);
  for (const NodeId id : graph.inputs()) {
    auto type = graph.type({id, 0});
    if (ops::is_float(type.dtype)) type.dtype = DType::f64;
    made[id] = editor.add_input(graph.node(id).info->name, type).node;
  }
  for (const NodeId id : graph.order()) {
    const auto& info = *graph.node(id).info;
    if (info.op == Op::input) continue;
    if (info.op == Op::opaque)
      fail("{}: operator {} is one that rlgo does not know", graph.name(), info.opaque->op_type);
    if (info.op == Op::weight) {
      made[id] = editor.add_weight(info.name, in_double(info.blob)).node;
      continue;
    }
    std::vector<Value> inputs;
    for (const Value in : graph.node(id).inputs) inputs.push_back({made[in.node], in.port});
    std::string reason;
    const auto added = editor.try_add(info.op, inputs, in_double(info.attrs), &reason, info.name);
    if (!added)
      fail("{}: {} '{}' does not run in double precision: {}", graph.name(), ops::name(info.op), info.name, reason);
    made[id] = *added;
  }
  for (const auto& out : graph.outputs()) editor.add_output(out.name, {made[out.value.node], out.value.port});
  return *editor.finish();
}

}  // namespace rlgo::verify
