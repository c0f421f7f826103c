#include "core/nets/slices.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/core/nets/_random_graphs.h"

namespace rlgo::nets {
namespace {

using Part = torch::Tensor GraphBatch::*;
constexpr Part kParts[] = {
    &GraphBatch::node_op,   &GraphBatch::node_feat,  &GraphBatch::node_graph, &GraphBatch::edge_src,
    &GraphBatch::edge_dst,  &GraphBatch::edge_feat,  &GraphBatch::edge_graph, &GraphBatch::globals,
    &GraphBatch::counts,    &GraphBatch::latent,     &GraphBatch::loc_latent, &GraphBatch::loc_node,
    &GraphBatch::loc_graph, &GraphBatch::loc_rule,   &GraphBatch::loc_index,  &GraphBatch::loc_pair,
    &GraphBatch::loc_first, &GraphBatch::pair_graph, &GraphBatch::pair_rule,  &GraphBatch::pair_first,
    &GraphBatch::loc_feat,  &GraphBatch::rest_node,  &GraphBatch::rest_loc,   &GraphBatch::rest_fraction};

// That graphs 6, 0 and 3 taken from all are what collate makes of them.
void expect_slices(const std::vector<mdp::Observation>& seen, const mdp::ObservationSpec& spec) {
  const auto all = test::pointers(seen);
  const std::vector<const mdp::Observation*> some = {all[6], all[0], all[3]};
  const std::vector<int64_t> chosen = {6, 0, 3};
  const auto a = BatchSlices(collate(all, spec)).take(chosen, torch::tensor(chosen, torch::kInt64));
  const auto b = collate(some, spec);
  for (const Part part : kParts) EXPECT_TRUE(torch::equal(a.*part, b.*part)) << a.*part << b.*part;
  EXPECT_EQ(a.node_offset, b.node_offset);
  EXPECT_EQ(a.edge_offset, b.edge_offset);
  EXPECT_EQ(a.rest_offset, b.rest_offset);
  EXPECT_EQ(a.loc_offset, b.loc_offset);
  EXPECT_EQ((std::array{a.graphs, a.nodes, a.edges, a.locations, a.pairs, a.rules, a.max_locations}),
            (std::array{b.graphs, b.nodes, b.edges, b.locations, b.pairs, b.rules, b.max_locations}));
}

// Graphs of one to eight nodes, whose locations match two others each.
std::vector<mdp::Observation> graphs(const mdp::ObservationSpec& spec) {
  Rng rng({4});
  std::vector<mdp::Observation> seen;
  for (int i = 1; i <= 8; ++i) {
    auto& o = seen.emplace_back(test::random_observation(spec, i, rng));
    for (size_t l = 0; l < o.loc_node.size(); ++l) {
      o.loc_rest.insert(o.loc_rest.end(), {0, i - 1});
      o.loc_rest_end.push_back(static_cast<int32_t>(o.loc_rest.size()));
      o.loc_feat.push_back(static_cast<float>(rng.normal()));
    }
  }
  return seen;
}

TEST(BatchSlices, AreWhatCollateMakesOfTheirGraphs) {
  auto spec = test::random_spec();
  spec.location_features = 1;
  auto seen = graphs(spec);
  expect_slices(seen, spec);
  for (auto& o : seen) {  // nothing fits anywhere
    o.counts.assign(o.counts.size(), 0);
    for (auto* list : {&o.loc_node, &o.loc_rest, &o.loc_rest_end}) list->clear();
    o.loc_feat.clear();
  }
  expect_slices(seen, spec);
}

TEST(BatchSlices, OfDreams) {
  auto spec = test::random_spec();
  spec.latent_features = 2;
  spec.location_latents = 1;
  auto seen = graphs(test::random_spec());
  for (auto& o : seen) {
    mdp::Observation dream;
    dream.counts = o.counts;
    for (size_t i = 0; i < 2 + o.loc_node.size(); ++i) dream.latent.push_back(static_cast<float>(i));
    o = dream;
  }
  expect_slices(seen, spec);
}

}  // namespace
}  // namespace rlgo::nets
