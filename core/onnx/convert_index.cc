// Operators that place elements by indices or in blocks, sums along an axis, and triangles.
#include "core/onnx/operator_table.h"

namespace rlgo::onnx_io {

using ops::Attr;
using ops::Op;

bool convert_depth_to_space(const OnnxNode& node, Maker& maker) {
  maker.out(Op::depth_to_space, {node.inputs[0]},
            {{Attr::blocksize, node.i("blocksize", 0)}, {Attr::mode, node.s("mode", "DCR")}});
  return true;
}

bool convert_scatter(const OnnxNode& node, Maker& maker) {
  const Op op = find_operator(node.op)->op;
  ops::Attrs attrs{{Attr::reduction, node.s("reduction", "none")}};
  if (op == Op::scatter_elements) {
    const auto axis = normal_axis(node.i("axis", 0), node.input_types[0].rank());
    if (!axis) return false;
    attrs.set(Attr::axis, *axis);
  }
  maker.out(op, node.inputs, attrs);
  return true;
}

// The axis is an input.
bool convert_cumsum(const OnnxNode& node, Maker& maker) {
  bool known = true;
  const auto given = node.scalar_of("", 1, known);
  const auto axis = given ? normal_axis(static_cast<int64_t>(*given), node.input_types[0].rank()) : std::nullopt;
  if (!axis) return false;
  maker.out(Op::cumsum, {node.inputs[0]},
            {{Attr::axis, *axis}, {Attr::exclusive, node.i("exclusive", 0)}, {Attr::reverse, node.i("reverse", 0)}});
  return true;
}

bool convert_trilu(const OnnxNode& node, Maker& maker) {
  bool known = true;
  const auto diagonal = node.scalar_of("", 1, known);
  if (!known) return false;
  maker.out(Op::trilu, {node.inputs[0]},
            {{Attr::diagonal, static_cast<int64_t>(diagonal.value_or(0))}, {Attr::upper, node.i("upper", 1)}});
  return true;
}

// By a constant depth; -1 names the new last axis.
bool convert_one_hot(const OnnxNode& node, Maker& maker) {
  bool known = true;
  const auto depth = node.scalar_of("", 1, known);
  const auto axis = normal_axis(node.i("axis", -1), node.input_types[0].rank() + 1);
  if (!depth || !axis || *depth != static_cast<double>(static_cast<int64_t>(*depth))) return false;
  maker.out(Op::one_hot, {node.inputs[0], node.inputs[2]},
            {{Attr::axis, *axis}, {Attr::depth, static_cast<int64_t>(*depth)}});
  return true;
}

}  // namespace rlgo::onnx_io
