// Slice, Split and Transpose of small constants: PyTorch writes paddings through both.
#include <algorithm>
#include <limits>
#include <numeric>

#include "core/onnx/evaluate.h"

namespace rlgo::onnx_io {
namespace {

// The positions that one axis of a slice takes, in order.
std::optional<Ints> positions(int64_t extent, int64_t start, int64_t end, int64_t step) {
  if (step == 0 || step == std::numeric_limits<int64_t>::min()) return std::nullopt;
  const auto place = [&](int64_t at) {
    if (at < 0) at = at < -extent ? -1 : at + extent;
    return step > 0 ? std::clamp<int64_t>(at, 0, extent) : std::clamp<int64_t>(at, -1, extent - 1);
  };
  if (step < 0 && start < -extent) return std::nullopt;
  // ONNX Runtime takes this end for "all", ONNX itself for "nothing".
  if (step < 0 && end >= std::numeric_limits<int32_t>::max()) return std::nullopt;
  Ints taken;
  // "-1 - extent" and below mean "before the first element" for a negative step.
  const int64_t last = place(end);
  for (int64_t at = place(start); step > 0 ? at < last : at > last;) {
    taken.push_back(at);
    at += step > 0 ? std::min(step, last - at) : -std::min(-step, at - last);
  }
  return taken;
}

// Elements of `from` at `index[d]` along each axis d, in row-major order of the result's axes; `strides` are those of
// `from` for these axes.
Constant picked(const Constant& from, const std::vector<Ints>& index, const Ints& strides) {
  Constant result{{from.type.dtype, {}}, {}, {}};
  for (const auto& axis : index) result.type.shape.push_back(static_cast<int64_t>(axis.size()));
  const int64_t count = result.type.elements();
  std::vector<size_t> place(index.size(), 0);
  for (int64_t k = 0; k < count; ++k) {
    int64_t at = 0;
    for (size_t d = 0; d < index.size(); ++d) at += index[d][place[d]] * strides[d];
    if (from.is_float()) {
      result.floats.push_back(from.floats[static_cast<size_t>(at)]);
    } else {
      result.ints.push_back(from.ints[static_cast<size_t>(at)]);
    }
    for (size_t d = index.size(); d-- > 0;) {
      if (++place[d] < index[d].size()) break;
      place[d] = 0;
    }
  }
  return result;
}

Ints strides_of(const ops::Shape& shape) {
  Ints strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return strides;
}

Ints all_of(int64_t extent) {
  Ints all(static_cast<size_t>(extent));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace

std::optional<Constant> evaluate_slice(const OnnxNode& node) {
  const auto& from = *node.constants[0];
  bool known = true;
  const auto starts = node.ints_of("starts", 1, known), ends = node.ints_of("ends", 2, known);
  auto axes = node.ints_of("axes", 3, known), steps = node.ints_of("steps", 4, known);
  if (!starts || !ends || starts->size() != ends->size()) return std::nullopt;
  if (!axes) axes = all_of(static_cast<int64_t>(starts->size()));
  if (!steps) steps = Ints(starts->size(), 1);
  if (axes->size() != starts->size() || steps->size() != starts->size() || !normal_axes(*axes, from.type.rank()))
    return std::nullopt;
  std::vector<Ints> index;
  for (const int64_t extent : from.type.shape) index.push_back(all_of(extent));
  for (size_t k = 0; k < axes->size(); ++k) {
    const auto axis = static_cast<size_t>(*normal_axis((*axes)[k], from.type.rank()));
    const auto taken = positions(from.type.shape[axis], (*starts)[k], (*ends)[k], (*steps)[k]);
    if (!taken) return std::nullopt;
    index[axis] = *taken;
  }
  return picked(from, index, strides_of(from.type.shape));
}

std::optional<Constant> evaluate_split(const OnnxNode& node, size_t output) {
  const auto& from = *node.constants[0];
  const auto axis = normal_axis(node.i("axis", 0), from.type.rank());
  const size_t count = node.outputs.size();
  if (!axis || output >= count) return std::nullopt;
  const int64_t extent = from.type.shape[static_cast<size_t>(*axis)];
  bool known = true;
  auto sizes = node.ints_of("split", 1, known);
  if (!sizes) {  // equal parts, of which the last one may be smaller
    const int64_t each = (extent + static_cast<int64_t>(count) - 1) / static_cast<int64_t>(count);
    sizes.emplace(count, each);
    sizes->back() = extent - each * (static_cast<int64_t>(count) - 1);
  }
  if (!known || sizes->size() != count || std::ranges::any_of(*sizes, [](int64_t size) { return size < 0; }) ||
      std::accumulate(sizes->begin(), sizes->end(), int64_t{0}) != extent)
    return std::nullopt;
  std::vector<Ints> index;
  for (const int64_t all : from.type.shape) index.push_back(all_of(all));
  auto& taken = index[static_cast<size_t>(*axis)];
  taken = all_of((*sizes)[output]);
  for (int64_t& at : taken)
    at += std::accumulate(sizes->begin(), sizes->begin() + static_cast<int64_t>(output), int64_t{0});
  return picked(from, index, strides_of(from.type.shape));
}

std::optional<Constant> evaluate_transpose(const OnnxNode& node) {
  const auto& from = *node.constants[0];
  const auto rank = static_cast<size_t>(from.type.rank());
  Ints perm = all_of(static_cast<int64_t>(rank));
  std::ranges::reverse(perm);
  perm = node.ints("perm").value_or(perm);
  if (perm.size() != rank || !normal_axes(perm, static_cast<int>(rank))) return std::nullopt;
  const Ints strides = strides_of(from.type.shape);
  std::vector<Ints> index;
  Ints moved;
  for (const int64_t axis : perm) {
    if (axis < 0) return std::nullopt;
    index.push_back(all_of(from.type.shape[static_cast<size_t>(axis)]));
    moved.push_back(strides[static_cast<size_t>(axis)]);
  }
  return picked(from, index, moved);
}

}  // namespace rlgo::onnx_io
