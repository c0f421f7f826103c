// Which rows of an observation are rows of its base. Only for observation_align.cc and observation_encode*.cc.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/base/bytes.h"
#include "core/codec/observation_parts.h"

namespace rlgo::mdp {

// Columns of node features that followed from others in an earlier observation: only these are looked at in the next
// one of the same width.
struct Relations {
  size_t width = 0;  // 0: not looked for yet
  std::vector<DerivedColumn> columns;
};

struct Alignment {
  struct Derived : DerivedColumn {
    std::vector<int64_t> residuals;  // of each value of the source: how far the column is from the formula
  };
  std::vector<int32_t> from;   // [nodes] row of the base that stands for the same node, or -1
  std::vector<uint8_t> equal;  // [nodes] whether that row is the same, derived columns aside
  std::vector<Derived> derived;
  std::array<uint32_t, kMaxWidth> mask{};  // [node_width] all ones, for derived columns zero
};

// Row of node features.
inline const float* row_of(const Observation& o, size_t row, size_t width) { return o.node_feat.data() + row * width; }
// Whether two rows are the same under a mask of columns.
inline bool same_features(const float* a, const float* b, const uint32_t* mask, size_t width) {
  using Lanes = uint32_t __attribute__((vector_size(16)));
  Lanes x, y, m, difference{};
  size_t c = 0;
  for (; c + 4 <= width; c += 4) {  // four at once
    std::memcpy(&x, a + c, sizeof(x));
    std::memcpy(&y, b + c, sizeof(y));
    std::memcpy(&m, mask + c, sizeof(m));
    difference |= (x ^ y) & m;
  }
  uint32_t rest = difference[0] | difference[1] | difference[2] | difference[3];
  for (; c < width; ++c) rest |= (bits(a[c]) ^ bits(b[c])) & mask[c];
  return rest == 0;
}
// Whether numbers are the same. For few of them faster than memcmp.
inline bool same_features(const float* a, const float* b, size_t count) {
  uint64_t difference = 0;
  size_t c = 0;
  for (; c + 2 <= count; c += 2) {
    uint64_t x, y;
    std::memcpy(&x, a + c, sizeof(x));
    std::memcpy(&y, b + c, sizeof(y));
    difference |= x ^ y;
  }
  return difference == 0 && (c == count || bits(a[c]) == bits(b[c]));
}
// How many of them differ.
inline size_t count_changed(const float* a, const float* b, const uint32_t* mask, size_t width) {
  using Lanes = int32_t __attribute__((vector_size(16)));
  Lanes x, y, m, equal{};
  size_t c = 0;
  for (; c + 4 <= width; c += 4) {
    std::memcpy(&x, a + c, sizeof(x));
    std::memcpy(&y, b + c, sizeof(y));
    std::memcpy(&m, mask + c, sizeof(m));
    equal -= ((x ^ y) & m) == 0;
  }
  auto changed = c - static_cast<size_t>(equal[0] + equal[1] + equal[2] + equal[3]);
  for (; c < width; ++c) changed += ((bits(a[c]) ^ bits(b[c])) & mask[c]) != 0;
  return changed;
}
// Columns in which they differ.
inline uint64_t changed_features(const float* a, const float* b, const uint32_t* mask, size_t width) {
  uint64_t changed = 0;
  for (size_t c = 0; c < width; ++c) changed |= uint64_t{((bits(a[c]) ^ bits(b[c])) & mask[c]) != 0} << c;
  return changed;
}
uint64_t hash_row(const Observation& o, size_t row, size_t width, const uint32_t* mask);

// `base` has the same widths, or no nodes. `reported`: what is known to have changed, or null; throws Error where it
// cannot be about these two.
Alignment align(const Observation& base, size_t base_nodes, const Observation& now, const Sizes& sizes,
                const Changes* reported, Relations& relations);

// What is found out about an observation once, for its own code and as a base.
struct Facts {
  bool in_order = false;
  Sizes sizes;
  std::vector<int32_t> first_edge;  // first_edges(), where it is in order
};

// encode_observation, with what is known already. `reported` may be null.
void put_coded(const Observation* base, const Facts& base_facts, const Observation& now, const Facts& facts,
               const Changes* reported, Relations& relations, ByteWriter& out);

}  // namespace rlgo::mdp
