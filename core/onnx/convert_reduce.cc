// Reductions and the normalisations built on them.
#include <numeric>

#include "core/onnx/operator_table.h"

namespace rlgo::onnx_io {
namespace {

using ops::Attr;
using ops::Op;

}  // namespace

// Axes are an attribute in older opsets, an input since 13 (sum) and 18 (others).
bool convert_reduce(const OnnxNode& node, Maker& maker) {
  bool known = true;
  const auto given = node.ints_of("axes", 1, known);
  if (!known) return false;
  const int rank = node.input_types[0].rank();
  Ints all(static_cast<size_t>(rank));
  std::iota(all.begin(), all.end(), 0);
  const bool empty = !given || given->empty();
  if (empty && node.i("noop_with_empty_axes", 0) != 0) {
    // Of the sum of squares and its like ONNX does not state whether single elements are squared.
    if (node.op != "ReduceSum" && node.op != "ReduceMean" && node.op != "ReduceMax" && node.op != "ReduceMin" &&
        node.op != "ReduceProd")
      return false;
    maker.pass(node.inputs[0]);
    return true;
  }
  const auto axes = normal_axes(empty ? all : *given, rank);
  if (!axes) return false;
  maker.out(find_operator(node.op)->op, {node.inputs[0]},
            {{Attr::axes, *axes}, {Attr::keepdims, node.i("keepdims", 1)}});
  return true;
}

// Before opset 13: over all axes from `axis` on, as one.
bool convert_softmax(const OnnxNode& node, Maker& maker) {
  const Op op = find_operator(node.op)->op;
  const auto& x = node.input_types[0];
  const auto axis = normal_axis(node.i("axis", node.opset < 13 ? 1 : -1), x.rank());
  if (!axis) return false;
  if (node.opset >= 13 || *axis == x.rank() - 1) {
    maker.out(op, {node.inputs[0]}, {{Attr::axis, *axis}});
    return true;
  }
  const ops::Extents extents = x.extents();
  const auto before = ops::product(std::span(extents).first(static_cast<size_t>(*axis))),
             after = ops::product(std::span(extents).subspan(static_cast<size_t>(*axis)));
  const auto flat = maker.reshaped(node.inputs[0], {before, after});
  const auto soft = maker.op(op, {flat}, {{Attr::axis, int64_t{1}}});
  maker.out_reshaped(soft, extents);
  return true;
}

bool convert_layer_norm(const OnnxNode& node, Maker& maker) {
  const auto axis = normal_axis(node.i("axis", -1), node.input_types[0].rank());
  if (!axis || !node.only_first_output() || node.i("stash_type", 1) != 1) return false;
  std::vector<graph::Value> inputs{node.inputs[0], node.inputs[1]};
  if (node.has_input(2)) inputs.push_back(node.inputs[2]);
  maker.out(Op::layer_norm, inputs, {{Attr::axis, *axis}, {Attr::eps, node.f("epsilon", 1e-5)}});
  return true;
}

}  // namespace rlgo::onnx_io
