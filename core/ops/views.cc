#include "core/ops/views.h"

#include <algorithm>

namespace rlgo::ops {
namespace {

Extents without_ones(const TensorType& type) {
  Extents left;
  for (int64_t d = 0; d < type.rank(); ++d) {
    if (type.extent(d).number() != 1) left.push_back(type.extent(d));
  }
  return left;
}

bool are_same(std::span<const Extent> a, std::span<const Extent> b) {
  return std::ranges::equal(a, b, [](const Extent& x, const Extent& y) { return x.same(y); });
}

}  // namespace

View view_of(const TensorType& input, const TensorType& output) {
  const Extents in = input.extents(), out = output.extents();
  if (in.size() > out.size() && are_same(without_ones(input), out)) return {View::Kind::squeeze, 0};
  if (in.size() < out.size() && are_same(in, without_ones(output))) return {View::Kind::unsqueeze, 0};
  const std::span<const Extent> all(in);
  for (size_t axis = 0; out.size() == 2 && axis <= all.size(); ++axis) {
    if (out[0].same(product(all.first(axis))) && out[1].same(product(all.subspan(axis))))
      return {View::Kind::flatten, static_cast<int64_t>(axis)};
  }
  return {};
}

std::optional<std::pair<int64_t, int64_t>> axes_of(const TensorType& input, const Extent& extent) {
  for (int64_t first = 0; first < input.rank(); ++first) {
    Extent all(1);
    for (int64_t end = first; end < input.rank(); ++end) {
      all = all * input.extent(end);
      if (all.same(extent)) return std::pair(first, end + 1);
    }
  }
  return std::nullopt;
}

bool needs_elements(const TensorType& input, const Ints& shape, const TensorType& output) {
  const bool copies = std::ranges::find(shape, kSameExtent) != shape.end();
  const bool rest = std::ranges::find(shape, kRestExtent) != shape.end();
  return copies && rest && view_of(input, output).kind == View::Kind::other;
}

}  // namespace rlgo::ops
