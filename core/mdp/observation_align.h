// Which rows of an observation are rows of its base. Only for observation_encode.cc.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/mdp/observation_parts.h"

namespace rlgo::mdp {

struct Alignment {
  std::vector<int32_t> from;   // [nodes] row of the base that stands for the same node, or -1
  std::vector<uint8_t> equal;  // [nodes] whether that row is the same, derived columns aside
  std::vector<DerivedColumn> derived;
  std::array<uint32_t, kMaxWidth> mask{};  // [node_width] all ones, for derived columns zero
};

// Row of node features.
inline const float* row_of(const Observation& o, size_t row, size_t width) { return o.node_feat.data() + row * width; }
// Whether two rows are the same under a mask of columns.
inline bool same_features(const float* a, const float* b, const uint32_t* mask, size_t width) {
  uint64_t difference = 0;
  size_t c = 0;
  for (; c + 2 <= width; c += 2) {  // two at once
    uint64_t x, y, m;
    std::memcpy(&x, a + c, 8);
    std::memcpy(&y, b + c, 8);
    std::memcpy(&m, mask + c, 8);
    difference |= (x ^ y) & m;
  }
  if (c < width) difference |= (bits(a[c]) ^ bits(b[c])) & mask[c];
  return difference == 0;
}
// Columns in which they differ.
inline uint64_t changed_features(const float* a, const float* b, const uint32_t* mask, size_t width) {
  uint64_t changed = 0;
  for (size_t c = 0; c < width; ++c) changed |= uint64_t{((bits(a[c]) ^ bits(b[c])) & mask[c]) != 0} << c;
  return changed;
}
uint64_t hash_row(const Observation& o, size_t row, size_t width, const uint32_t* mask);

// `base` has the same widths, or no nodes.
Alignment align(const Observation& base, size_t base_nodes, const Observation& now, const Sizes& sizes);

}  // namespace rlgo::mdp
