// Random observations for the tests of networks.
#pragma once

#include <vector>

#include "core/base/rng.h"
#include "core/mdp/mdp.h"

namespace rlgo::test {

inline mdp::ObservationSpec random_spec(int32_t rules = 5, int32_t max_locations = 6) {
  mdp::ObservationSpec spec{.ops = 8,
                            .node_features = 3,
                            .edge_features = 2,
                            .global_features = 4,
                            .rules = rules,
                            .max_locations = max_locations,
                            .rule_names = {}};
  for (int32_t x = 0; x < rules; ++x) spec.rule_names.push_back("rule" + std::to_string(x));
  return spec;
}

// Each node reads one or two earlier ones; about half of the rules have locations.
inline mdp::Observation random_observation(const mdp::ObservationSpec& spec, int nodes, Rng& rng) {
  mdp::Observation o;
  for (int i = 0; i < nodes; ++i) {
    o.node_op.push_back(static_cast<int32_t>(rng.below(static_cast<uint64_t>(spec.ops))));
    for (int f = 0; f < spec.node_features; ++f) o.node_feat.push_back(static_cast<float>(rng.normal()));
    for (int e = 0; i > 0 && e < 1 + static_cast<int>(rng.below(2)); ++e) {
      o.edge_src.push_back(static_cast<int32_t>(rng.below(static_cast<uint64_t>(i))));
      o.edge_dst.push_back(i);
      for (int f = 0; f < spec.edge_features; ++f) o.edge_feat.push_back(static_cast<float>(rng.normal()));
    }
  }
  for (int g = 0; g < spec.global_features; ++g) o.globals.push_back(static_cast<float>(rng.normal()));
  for (int32_t x = 0; x < spec.rules; ++x) {
    const auto count =
        rng.uniform() < 0.5 ? 0 : static_cast<int32_t>(rng.below(static_cast<uint64_t>(spec.max_locations) + 1));
    o.counts.push_back(count);
    for (int32_t k = 0; k < count; ++k)
      o.loc_node.push_back(static_cast<int32_t>(rng.below(static_cast<uint64_t>(nodes))));
  }
  return o;
}

inline std::vector<const mdp::Observation*> pointers(const std::vector<mdp::Observation>& observations) {
  std::vector<const mdp::Observation*> result;
  for (const auto& o : observations) result.push_back(&o);
  return result;
}

}  // namespace rlgo::test
