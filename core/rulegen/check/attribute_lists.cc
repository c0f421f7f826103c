#include "core/rulegen/check/attribute_lists.h"

#include <algorithm>
#include <numeric>

namespace rlgo::rulegen {

using ops::AttrValue;
using ops::Ints;
using ops::Shape;

std::vector<AttrValue> permutations(size_t rank) {
  Ints perm(rank);
  std::iota(perm.begin(), perm.end(), 0);
  std::vector<AttrValue> all;
  do {
    all.emplace_back(perm);
  } while (std::ranges::next_permutation(perm).found);
  return all;
}

std::vector<AttrValue> subsets(size_t rank) {
  std::vector<AttrValue> all;
  for (size_t mask = 1; mask < size_t{1} << rank; ++mask) {
    Ints axes;
    for (size_t d = 0; d < rank; ++d) {
      if (mask >> d & 1) axes.push_back(static_cast<int64_t>(d));
    }
    all.emplace_back(axes);
  }
  return all;
}

std::vector<AttrValue> compositions(int64_t extent, size_t parts) {
  std::vector<AttrValue> all;
  const auto extend = [&](const auto& self, Ints sizes, int64_t rest) -> void {
    if (sizes.size() + 1 == parts) {
      sizes.push_back(rest);
      if (rest >= 1) all.emplace_back(sizes);
      return;
    }
    for (int64_t size = 1; size < rest; ++size) {
      Ints longer = sizes;
      longer.push_back(size);
      self(self, longer, rest - size);
    }
  };
  extend(extend, {}, extent);
  return all;
}

std::vector<AttrValue> paddings(size_t rank) {
  Ints rising, before(2 * rank, 0), behind(2 * rank, 0);
  for (size_t d = 0; d < 2 * rank; ++d) rising.push_back(static_cast<int64_t>(d % 3));
  std::vector<AttrValue> all{Ints(2 * rank, 0), Ints(2 * rank, 1)};
  if (rank == 0) return all;
  before[rank - 1] = 1;
  behind[2 * rank - 1] = 2;
  for (const auto& more : {rising, before, behind}) all.emplace_back(more);
  if (rank != 4) return all;
  for (const auto& image : {Ints{0, 0, 1, 0, 0, 0, 0, 2}, Ints{0, 0, 0, 1, 0, 0, 2, 0}}) all.emplace_back(image);
  return all;
}

std::vector<AttrValue> reshapes(const Shape& from) {
  const Ints own(from.begin(), from.end());
  std::vector<AttrValue> all{own};
  for (size_t d = 0; d + 1 < own.size(); ++d) {
    Ints merged = own;
    merged[d] *= merged[d + 1];
    merged.erase(merged.begin() + static_cast<ptrdiff_t>(d) + 1);
    all.emplace_back(merged);
  }
  Ints before = own, behind = own;
  before.insert(before.begin(), 1);
  behind.push_back(1);
  all.emplace_back(before);
  all.emplace_back(behind);
  for (int64_t side = 1; own.size() == 1 && side * side <= own[0]; ++side) {
    if (side * side != own[0]) continue;  // matrices and kernels that are the identity
    all.emplace_back(Ints{side, side, 1, 1});
    all.emplace_back(Ints{1, side, side});
  }
  if (own.size() == 3) all.emplace_back(Ints{own[0] * own[1], own[2], 1, 1});
  return all;
}

std::vector<AttrValue> all_reshapes(const Shape& from) {
  std::vector<AttrValue> all;
  const size_t gaps = from.empty() ? 0 : from.size() - 1;
  for (size_t merged = 0; merged < size_t{1} << gaps; ++merged) {  // bit d: axis d + 1 joins the one before it
    Ints shape;
    for (size_t d = 0; d < from.size(); ++d) {
      if (d > 0 && (merged >> (d - 1) & 1)) {
        shape.back() *= from[d];
      } else {
        shape.push_back(from[d]);
      }
    }
    Ints before = shape;
    before.insert(before.begin(), 1);
    for (size_t ones = 0; ones < 3; ++ones, shape.push_back(1)) all.emplace_back(shape);
    all.emplace_back(std::move(before));
  }
  return all;
}

std::vector<AttrValue> expansions(const Shape& from, int64_t more) {
  std::vector<AttrValue> all;
  for (const bool enlarged : {false, true}) {
    Ints shape(from.begin(), from.end());
    for (auto& length : shape) length = length == 1 && enlarged ? more : length;
    all.emplace_back(shape);
    shape.insert(shape.begin(), more);
    all.emplace_back(std::move(shape));
  }
  return all;
}

}  // namespace rlgo::rulegen
