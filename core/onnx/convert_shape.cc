// Operators that move elements.
#include <algorithm>
#include <numeric>

#include "core/onnx/converters.h"

namespace rlgo::onnx_io {
namespace {

using ops::Attr;
using ops::Op;

// A position as Slice takes it, for steps >= 1: negative counts from the end, and all is clamped to [0, extent].
int64_t clamped(int64_t position, int64_t extent) {
  if (position < 0) position = position < -extent ? 0 : position + extent;
  return std::clamp<int64_t>(position, 0, extent);
}

}  // namespace

// Where the result's shape is known, it does not matter how the file states it.
bool convert_reshape(const OnnxNode& node, Maker& maker) {
  if (!node.output_types[0].is_static()) return false;
  maker.out_reshaped(node.inputs[0], node.output_types[0].extents(), true);
  return true;
}

bool convert_transpose(const OnnxNode& node, Maker& maker) {
  Ints reversed(node.input_types[0].shape.size());
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  maker.out(Op::transpose, {node.inputs[0]}, {{Attr::perm, node.ints("perm").value_or(reversed)}});
  return true;
}

bool convert_concat(const OnnxNode& node, Maker& maker) {
  const auto axis = normal_axis(node.i("axis", 1), node.input_types[0].rank());
  if (!axis) return false;
  maker.out(Op::concat, node.inputs, {{Attr::axis, *axis}});
  return true;
}

// Sizes come from the types of the outputs: given as attribute, as input, or as a number of equal parts.
bool convert_split(const OnnxNode& node, Maker& maker) {
  const auto axis = normal_axis(node.i("axis", 0), node.input_types[0].rank());
  if (!axis || node.input_types[0].is_open(*axis)) return false;
  Ints sizes;
  for (const auto& type : node.output_types) {
    if (!type.is_static() || type.rank() <= *axis || type.is_open(*axis)) return false;
    sizes.push_back(type.shape[*axis]);
  }
  maker.out(Op::split, {node.inputs[0]}, {{Attr::axis, *axis}, {Attr::sizes, sizes}});
  return true;
}

bool convert_slice(const OnnxNode& node, Maker& maker) {
  const auto& x = node.input_types[0];
  bool known[4] = {};
  const auto starts = node.ints_of("starts", 1, known[0]), ends = node.ints_of("ends", 2, known[1]);
  auto axes = node.ints_of("axes", 3, known[2]), steps = node.ints_of("steps", 4, known[3]);
  if (!starts || !ends || !known[2] || !known[3]) return false;
  const size_t count = starts->size();
  if (!axes) {
    axes.emplace(count);
    std::iota(axes->begin(), axes->end(), 0);
  }
  if (!steps) steps.emplace(count, 1);
  if (ends->size() != count || axes->size() != count || steps->size() != count || !normal_axes(*axes, x.rank()))
    return false;

  struct Part {
    int64_t axis, start, end, step;
  };
  std::vector<Part> parts;
  for (size_t k = 0; k < count; ++k) {
    const int64_t axis = *normal_axis((*axes)[k], x.rank()), extent = x.shape[axis];
    if (x.is_open(axis) && (*starts)[k] == 0 && (*ends)[k] >= kBehindEnd && (*steps)[k] == 1) continue;  // all of it
    if ((*steps)[k] < 1 || x.is_open(axis)) return false;  // positions mean something else at other sizes
    const int64_t start = clamped((*starts)[k], extent);
    parts.push_back({axis, start, std::max(start, clamped((*ends)[k], extent)), (*steps)[k]});
  }
  std::ranges::sort(parts, {}, &Part::axis);
  Ints lists[4];
  for (const Part& part : parts) {
    lists[0].push_back(part.axis);
    lists[1].push_back(part.start);
    lists[2].push_back(part.end);
    lists[3].push_back(part.step);
  }
  maker.out(Op::slice, {node.inputs[0]},
            {{Attr::axes, lists[0]}, {Attr::starts, lists[1]}, {Attr::ends, lists[2]}, {Attr::steps, lists[3]}});
  return true;
}

// Constant padding with a known value; pads are an attribute before opset 11, and may be for some axes only since 18.
bool convert_pad(const OnnxNode& node, Maker& maker) {
  bool known[3] = {};
  const auto given = node.ints_of("pads", 1, known[0]), axes = node.ints_of("", 3, known[1]);
  const auto value = node.scalar_of("value", 2, known[2]);
  if (!given || !known[1] || !known[2] || node.s("mode", "constant") != "constant") return false;
  const auto rank = node.input_types[0].shape.size();
  Ints pads(2 * rank, 0);
  if (!axes) {
    pads = *given;
  } else {
    if (given->size() != 2 * axes->size() || !normal_axes(*axes, static_cast<int>(rank))) return false;
    for (size_t k = 0; k < axes->size(); ++k) {
      const auto axis = static_cast<size_t>(*normal_axis((*axes)[k], static_cast<int>(rank)));
      pads[axis] = (*given)[k];
      pads[rank + axis] = (*given)[axes->size() + k];
    }
  }
  maker.out(Op::pad, {node.inputs[0]}, {{Attr::pads, pads}, {Attr::value, value.value_or(0.0)}});
  return true;
}

bool convert_gather(const OnnxNode& node, Maker& maker) {
  const auto axis = normal_axis(node.i("axis", 0), node.input_types[0].rank());
  if (!axis) return false;
  maker.out(Op::gather, {node.inputs[0], node.inputs[1]}, {{Attr::axis, *axis}});
  return true;
}

bool convert_expand(const OnnxNode& node, Maker& maker) {
  if (!node.output_types[0].is_static()) return false;
  if (node.output_types[0] == node.input_types[0]) {
    maker.pass(node.inputs[0]);
  } else if (!is_closed(node.output_types[0])) {
    return false;
  } else {
    maker.out(Op::expand, {node.inputs[0]}, {{Attr::shape, to_ints(node.output_types[0].shape)}});
  }
  return true;
}

// Filled with the one element of the attribute `value`, or zeros.
bool convert_constant_of_shape(const OnnxNode& node, Maker& maker) {
  constexpr int64_t kMaxBytes = int64_t{64} << 20;
  const auto& type = node.output_types[0];
  if (!is_closed(type) || type.bytes() > kMaxBytes) return false;
  const Constant* value = node.tensor("value");
  if (node.has("value") && (!value || value->size() != 1)) return false;
  double number = 0.0;
  if (value) number = value->is_float() ? value->floats[0] : static_cast<double>(value->ints[0]);
  constexpr double kExact = 9007199254740992.0;  // integers up to 2^53 are exact as double
  if (value && !value->is_float() && std::abs(number) >= kExact) return false;
  maker.out(
      Op::fill, {},
      {{Attr::shape, to_ints(type.shape)}, {Attr::to, std::string(ops::name(type.dtype))}, {Attr::value, number}});
  return true;
}

}  // namespace rlgo::onnx_io
