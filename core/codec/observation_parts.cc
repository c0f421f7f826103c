#include "core/codec/observation_parts.h"

#include <algorithm>

namespace rlgo::mdp {
namespace {

// Whether all lie in [0, limit), limit below 2^31.
bool inside(const std::vector<int32_t>& values, size_t limit) {
  const auto last = static_cast<uint32_t>(limit) - 1;
  uint32_t outside = 0;  // the top bit: some value is below zero, or above the last one
  size_t i = 0;
  for (; i + 8 <= values.size(); i += 8) {  // eight at once
    for (size_t k = i; k < i + 8; ++k)
      outside |= static_cast<uint32_t>(values[k]) | (last - static_cast<uint32_t>(values[k]));
  }
  for (; i < values.size(); ++i)
    outside |= static_cast<uint32_t>(values[i]) | (last - static_cast<uint32_t>(values[i]));
  return outside >> 31 == 0;
}

// Width of `rows` rows that hold `values` values; false where they do not divide.
bool width_of(size_t values, size_t rows, size_t* width) {
  *width = rows == 0 ? 0 : values / rows;
  return *width * rows == values && *width <= kMaxWidth;
}

// Whether the other nodes of the locations are where loc_rest_end states, all inside.
bool rest_in_order(const Observation& o, size_t nodes) {
  int32_t before = 0, falling = 0;  // below zero: some end is before the one before
  for (const int32_t end : o.loc_rest_end) {
    falling |= end - before;
    before = end;
  }
  return falling >= 0 && static_cast<size_t>(before) == o.loc_rest.size() && inside(o.loc_rest, nodes);
}

bool details_fit(const Observation& o, Sizes* sizes) {
  sizes->rest = !o.loc_rest_end.empty();
  const bool rest_fits = o.loc_rest_end.size() == (sizes->rest ? o.loc_node.size() : 0) &&
                         (sizes->rest || o.loc_rest.empty()) && o.loc_rest.size() <= kMaxLocations;
  return width_of(o.loc_feat.size(), o.loc_node.size(), &sizes->location_width) && rest_fits;
}

}  // namespace

bool in_order(const Observation& o, Sizes* sizes, bool known) {
  sizes->nodes = o.node_op.size();
  sizes->edges = o.edge_src.size();
  sizes->globals = o.globals.size();
  sizes->rules = o.counts.size();
  if (sizes->nodes > kMaxNodes || sizes->edges > kMaxEdges || o.loc_node.size() > kMaxLocations ||
      sizes->rules > kMaxNodes || sizes->globals > kMaxWidth || o.edge_dst.size() != sizes->edges)
    return false;
  if (!width_of(o.node_feat.size(), sizes->nodes, &sizes->node_width) ||
      !width_of(o.edge_feat.size(), sizes->edges, &sizes->edge_width) || !details_fit(o, sizes))
    return false;
  if (known) return true;
  if (!inside(o.edge_src, sizes->nodes) || !inside(o.edge_dst, sizes->nodes) || !inside(o.loc_node, sizes->nodes) ||
      !rest_in_order(o, sizes->nodes))
    return false;
  int32_t falling = 0;  // below zero: some edge's reading node is before that of the edge before
  for (size_t e = 1; e < o.edge_dst.size(); ++e) falling |= o.edge_dst[e] - o.edge_dst[e - 1];
  if (falling < 0) return false;
  if (sizes->nodes == 0) return o.loc_node.empty() && std::ranges::all_of(o.counts, [](int32_t c) { return c >= 0; });
  uint64_t locations = 0;
  for (const int32_t count : o.counts) {
    if (count < 0) return false;
    locations += static_cast<uint64_t>(count);
  }
  return locations == o.loc_node.size();
}

std::vector<int32_t> first_edges(const Observation& o, size_t nodes) {
  std::vector<int32_t> first(nodes + 1, static_cast<int32_t>(o.edge_dst.size()));
  size_t node = 0;
  for (size_t e = 0; e < o.edge_dst.size(); ++e) {
    for (; node <= static_cast<size_t>(o.edge_dst[e]); ++node) first[node] = static_cast<int32_t>(e);
  }
  return first;
}

Values::Values(size_t rows) : slots_(std::bit_ceil(2 * rows + 2)) {}

uint32_t Values::number(float value, bool* added) {
  const uint32_t key = bits(value);
  const size_t mask = slots_.size() - 1;
  for (size_t at = (key * 0x9E3779B1u) >> 7 & mask;; at = (at + 1) & mask) {
    auto& [held, number] = slots_[at];
    *added = number == 0;
    if (*added) {
      held = key;
      number = ++count_;
    }
    if (held == key) return number - 1;
  }
}

}  // namespace rlgo::mdp
