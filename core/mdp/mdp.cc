#include "core/mdp/mdp.h"

#include <bit>
#include <cmath>

#include "core/base/error.h"
#include "core/base/hash.h"

namespace rlgo::mdp {
namespace {

void check_size(std::string_view field, size_t actual, size_t expected) {
  if (actual != expected) fail("observation: {} has {} items, expected {}", field, actual, expected);
}

// Every value lies in [0, limit).
void check_range(std::string_view field, const std::vector<int32_t>& values, int64_t limit) {
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] < 0 || values[i] >= limit)
      fail("observation: {}[{}] is {}, outside [0, {})", field, i, values[i], limit);
  }
}

void check_finite(std::string_view field, const std::vector<float>& values) {
  // All of them at once; which one it is matters only when one is wrong.
  constexpr uint32_t kExponent = 0x7F800000, kLowestBit = 0x00800000;
  uint32_t carry = 0;  // the top bit: some exponent is all ones
  size_t i = 0;
  for (; i + 8 <= values.size(); i += 8) {
    for (size_t k = i; k < i + 8; ++k) carry |= (std::bit_cast<uint32_t>(values[k]) & kExponent) + kLowestBit;
  }
  for (; i < values.size(); ++i) carry |= (std::bit_cast<uint32_t>(values[i]) & kExponent) + kLowestBit;
  if (carry >> 31 == 0) return;
  for (i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) fail("observation: {}[{}] is {}, not a finite number", field, i, values[i]);
  }
}

}  // namespace

uint64_t ObservationSpec::hash() const {
  const int64_t sizes[] = {ops, node_features, edge_features, global_features, rules, max_locations};
  uint64_t h = hash_ints(sizes, 0x5BEC);
  h = hash_combine(h, rule_names.size());
  for (const auto& name : rule_names) h = hash_combine(h, hash_string(name));
  if (location_features > 0) h = hash_combine(h, static_cast<uint64_t>(location_features));
  return h;
}

namespace {

// Where each location's other nodes end.
void check_rest(const Observation& o) {
  check_size("loc_rest_end", o.loc_rest_end.size(), o.loc_node.size());
  int32_t before = 0;
  for (size_t l = 0; l < o.loc_rest_end.size(); ++l) {
    if (o.loc_rest_end[l] < before) fail("observation: loc_rest_end[{}] is {}, below {}", l, o.loc_rest_end[l], before);
    before = o.loc_rest_end[l];
  }
  check_size("loc_rest", o.loc_rest.size(), static_cast<size_t>(before));
  check_range("loc_rest", o.loc_rest, static_cast<int64_t>(o.node_op.size()));
}

}  // namespace

void check(const Observation& observation, const ObservationSpec& spec) {
  const auto& o = observation;
  const size_t nodes = o.node_op.size();
  const size_t edges = o.edge_src.size();
  check_finite("latent", o.latent);
  check_size("counts", o.counts.size(), static_cast<size_t>(spec.rules));
  check_range("counts", o.counts, int64_t{spec.max_locations} + 1);
  size_t locations = 0;
  for (int32_t count : o.counts) locations += static_cast<size_t>(count);
  if (!o.latent.empty()) {
    check_size("latent", o.latent.size(),
               static_cast<size_t>(spec.latent_features) + locations * static_cast<size_t>(spec.location_latents));
  }
  if (is_dreamed(o)) {
    check_size("edges, globals and locations of a dream",
               edges + o.globals.size() + o.loc_node.size() + o.loc_feat.size() + o.loc_rest.size(), 0);
    return;
  }
  check_size("node_feat", o.node_feat.size(), nodes * static_cast<size_t>(spec.node_features));
  check_size("edge_dst", o.edge_dst.size(), edges);
  check_size("edge_feat", o.edge_feat.size(), edges * static_cast<size_t>(spec.edge_features));
  check_size("globals", o.globals.size(), static_cast<size_t>(spec.global_features));
  check_range("node_op", o.node_op, spec.ops);
  check_range("edge_src", o.edge_src, static_cast<int64_t>(nodes));
  check_range("edge_dst", o.edge_dst, static_cast<int64_t>(nodes));
  check_size("loc_node", o.loc_node.size(), locations);
  check_range("loc_node", o.loc_node, static_cast<int64_t>(nodes));
  check_size("loc_feat", o.loc_feat.size(), locations * static_cast<size_t>(spec.location_features));
  if (!o.loc_rest_end.empty() || !o.loc_rest.empty()) check_rest(o);
  check_finite("loc_feat", o.loc_feat);
  check_finite("node_feat", o.node_feat);
  check_finite("edge_feat", o.edge_feat);
  check_finite("globals", o.globals);
}

}  // namespace rlgo::mdp
