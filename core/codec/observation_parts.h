// What the two halves of observation_code.h share. Only for observation_*.cc.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/error.h"
#include "core/mdp/mdp.h"

namespace rlgo::mdp {

// The first two: of an observation without features and other nodes of its locations.
enum class CodeKind : uint8_t { whole = 0, difference = 1, whole_detailed = 2, difference_detailed = 3 };

// Rows of nodes in a code. A varint of length * 4 + kind; for `changed` in place of the length a Reference.
enum class Run : uint8_t {
  next = 0,     // rows of the base, from the cursor on: after the last row that was taken from it
  moved = 1,    // the same from cursor + d on; signed varint d
  again = 2,    // rows of this observation, d before; varint d
  changed = 3,  // one row that differs from a reference in some columns
};
// What a changed row (of a node) refers to. The first two stand for the same node: edges and locations follow it.
enum class Reference : uint8_t {
  next = 0,     // the base's row at the cursor
  moved = 1,    // the base's row at cursor + d
  other = 2,    // the base's row d, of another node; varint d
  again = 3,    // this observation's row d before; varint d
  nothing = 4,  // a row of zeros
};
// What the features of an edge refer to. A varint of mask * 8 + kind.
enum class EdgeReference : uint8_t {
  place = 0,    // the base's edge into the same node, at the same place
  source = 1,   // the last edge of this observation from the same source; else the base's first one
  again = 2,    // this observation's edge d before; varint d
  other = 3,    // the base's edge d; varint d
  nothing = 4,  // zeros
};

// A column of node features that follows from others, so that rows are compared and copied without it.
struct DerivedColumn {
  enum Kind : uint8_t {
    position = 1,      // row number / number of rows, as floats
    proportional = 2,  // float(double(source column) * ratio), but for some units in the last place
  };
  size_t column = 0;
  Kind kind = position;
  size_t source = 0;
  double ratio = 0;
};

inline constexpr size_t kMaxNodes = size_t{1} << 20, kMaxEdges = size_t{1} << 21, kMaxLocations = size_t{1} << 22;
inline constexpr size_t kMaxWidth = 60;  // of node, edge and global features: masks are varints

struct Sizes {
  size_t nodes = 0, node_width = 0, edges = 0, edge_width = 0, globals = 0, rules = 0;
  size_t location_width = 0;  // features of a location
  bool rest = false;          // whether its other nodes are known
  bool detailed() const { return location_width > 0 || rest; }
  bool same_widths(const Sizes& other) const {
    return node_width == other.node_width && edge_width == other.edge_width && globals == other.globals &&
           rules == other.rules;
  }
};

// Whether differences can be taken of it: rows of one width, edges in the order of their reading nodes, indices in
// range, as many locations as the counts state, nothing larger than the limits above. What rewrite environments and
// dreams make is. `known`: its maker reports so, but for the limits.
bool in_order(const Observation& observation, Sizes* sizes, bool known = false);

// The other nodes of a location of an observation that is in order; empty where they are not known.
inline std::span<const int32_t> rest_of(const Observation& o, size_t location) {
  if (o.loc_rest_end.empty()) return {};
  const int32_t begin = location == 0 ? 0 : o.loc_rest_end[location - 1];
  return {o.loc_rest.data() + begin, static_cast<size_t>(o.loc_rest_end[location] - begin)};
}

inline uint32_t bits(float value) { return std::bit_cast<uint32_t>(value); }

// Floats as integers in their order, so that neighbours differ by 1.
inline int64_t rank_of(float value) {
  const auto b = static_cast<int32_t>(bits(value));
  return b >= 0 ? int64_t{b} : -int64_t{b & 0x7FFFFFFF} - 1;
}
inline float float_of(int64_t rank) {
  const auto magnitude = static_cast<uint32_t>(rank >= 0 ? rank : -(rank + 1));
  return std::bit_cast<float>(rank >= 0 ? magnitude : magnitude | 0x80000000u);
}
inline float position_of(size_t row, size_t rows) { return static_cast<float>(row) / static_cast<float>(rows); }
inline float proportional(float source, double ratio) {
  return static_cast<float>(static_cast<double>(source) * ratio);
}

// [nodes + 1] first edge into each node.
std::vector<int32_t> first_edges(const Observation& observation, size_t nodes);

// Numbers the different bit patterns of a column in the order in which they first appear.
class Values {
 public:
  explicit Values(size_t rows);
  // Its number; `added` shows whether it is new.
  uint32_t number(float value, bool* added);

 private:
  std::vector<std::pair<uint32_t, uint32_t>> slots_;  // bits, number + 1
  uint32_t count_ = 0;
};

// Numbers of a code; Error where they lie outside their limits.
inline size_t get_at_most(ByteReader& in, std::string_view what, size_t limit) {
  const uint64_t value = in.get_varint();
  if (value > limit) fail("observation code: {} is {}, above {}", what, value, limit);
  return static_cast<size_t>(value);
}

// A number in [0, limit).
inline size_t get_index(ByteReader& in, std::string_view what, size_t limit) {
  const uint64_t value = in.get_varint();
  if (value >= limit) fail("observation code: {} is {} of {}", what, value, limit);
  return static_cast<size_t>(value);
}

// `value` where it is in [0, limit), else Error.
inline size_t checked(int64_t value, std::string_view what, size_t limit) {
  if (value < 0 || static_cast<uint64_t>(value) >= limit) fail("observation code: {} is {} of {}", what, value, limit);
  return static_cast<size_t>(value);
}

// Codes the locations of an observation against those of its base (unless `use_base` is false), and reads them again
// (`base` is then null). `to`: [nodes of the base] row that each has become, or -1.
void put_locations(const Observation& base, bool use_base, const std::vector<int32_t>& to, const Observation& now,
                   const Sizes& sizes, ByteWriter& out);
void get_locations(const Observation* base, const std::vector<int32_t>& to, const Sizes& sizes, ByteReader& in,
                   Observation& now);

}  // namespace rlgo::mdp
