#include "core/agent/local_rows.h"

#include <gtest/gtest.h>

#include "core/nets/actor_critic.h"
#include "tests/core/nets/_random_graphs.h"

namespace rlgo::nets {
namespace {

using test::pointers;
using test::random_observation;

mdp::ObservationSpec spec() {
  auto result = test::random_spec();
  result.nonlocal_node_features = {1};
  return result;
}

// A line of nodes with the given operators, all else equal.
mdp::Observation line(const std::vector<int32_t>& ops) {
  mdp::Observation o{.node_op = ops,
                     .node_feat = std::vector<float>(3 * ops.size(), 0.5f),
                     .edge_src = {},
                     .edge_dst = {},
                     .edge_feat = std::vector<float>(2 * (ops.size() - 1), 0.25f),
                     .globals = {1, 1, 1, 1},
                     .counts = {0, 0, 0, 0, 0},
                     .loc_node = {}};
  for (int32_t i = 1; i < static_cast<int32_t>(ops.size()); ++i) {
    o.edge_src.push_back(i - 1);
    o.edge_dst.push_back(i);
  }
  return o;
}

TEST(SequenceTable, EqualSequencesHaveOneNumber) {
  agent::SequenceTable table;
  for (int32_t i = 0; i < 1000; ++i) EXPECT_EQ(table.number(std::vector<int32_t>{i / 2, 7}), i / 2);
  EXPECT_EQ(table.number(std::vector<int32_t>{7, 3}), 500);
  EXPECT_EQ(table.number({}), 501);
  EXPECT_EQ(table.number({}), 501);
  EXPECT_EQ(table[3].size(), 2u);
  EXPECT_EQ(table[3][0], 3);
}

TEST(RowTable, ARowIsItsNeighbourhood) {
  RowTable table(spec(), 2, true);
  const auto ids = table.add(line({1, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(table.nodes(0), 1);  // all alike
  EXPECT_EQ(table.nodes(1), 3);  // first, last, between
  EXPECT_EQ(table.nodes(2), 5);  // the second and the last but one see an end
  EXPECT_EQ(ids.nodes[2], ids.nodes[3]);
  EXPECT_NE(ids.nodes[1], ids.nodes[2]);
  table.add(line({1, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(table.nodes(2), 5);
  const auto changed = table.add(line({2, 1, 1, 1, 1, 1, 1}));  // is seen two hops away, not three
  EXPECT_NE(changed.nodes[2], ids.nodes[2]);
  EXPECT_EQ(changed.nodes[3], ids.nodes[3]);
}

TEST(RowTable, LeavesOutColumnsThatAreNotLocal) {
  RowTable table(spec(), 2, true);
  auto o = line({1, 2, 3});
  const auto ids = table.add(o);
  o.node_feat[1] = 9;  // column 1
  EXPECT_EQ(table.add(o).nodes, ids.nodes);
  o.node_feat[2] = 9;
  EXPECT_NE(table.add(o).nodes, ids.nodes);
  EXPECT_EQ(table.columns(), (std::vector<int64_t>{0, 2}));
}

TEST(RowTable, CountsRepeatedEdges) {
  auto once = line({1, 1}), twice = once;
  twice.edge_src.push_back(0);
  twice.edge_dst.push_back(1);
  twice.edge_feat.insert(twice.edge_feat.end(), {0.25f, 0.25f});
  RowTable table(spec(), 2, true);
  EXPECT_NE(table.add(once).nodes, table.add(twice).nodes);
}

// Graphs of which each differs from the one before in one node, as in an episode, and others.
std::vector<mdp::Observation> episode(Rng& rng) {
  std::vector<mdp::Observation> result = {random_observation(spec(), 30, rng)};
  for (size_t i = 0; i < 70; ++i) {
    result.push_back(result.back());
    result.back().node_op[rng.below(30)] = static_cast<int32_t>(rng.below(8));
    result.back().node_feat[3 * i % 90 + 1] += 0.5f;
  }
  result.push_back(random_observation(spec(), 4, rng));
  result.push_back(result[3]);
  return result;
}

struct Learned {
  Evaluation evaluation;
  std::vector<Tensor> gradients;
};
Learned learn(const AgentOptions& options, GraphBatch batch, const std::vector<mdp::Action>& actions) {
  ActorCritic agent(spec(), options, 1);
  agent->to(torch::kFloat64);
  batch.convert(torch::kFloat64);
  Learned result{agent->evaluate(batch, actions), {}};
  const auto& e = result.evaluation;
  (e.log_prob().square() + e.entropy() + e.value_rule.square() + e.value_location.square()).sum().backward();
  for (const auto& p : agent->parameters()) result.gradients.push_back(p.grad().clone());
  return result;
}

class Options : public ::testing::TestWithParam<AgentOptions> {};
INSTANTIATE_TEST_SUITE_P(All, Options,
                         ::testing::Values(AgentOptions{.rounds = 3, .width = 8, .block = Block::local},
                                           AgentOptions{.rounds = 2,
                                                        .width = 8,
                                                        .location_head = LocationHead::index,
                                                        .aggregation = Aggregation::mean,
                                                        .pooling = Aggregation::sum,
                                                        .both_directions = false,
                                                        .shared = true,
                                                        .block = Block::local}));

// What a network makes of distinct rows, and its gradients, are those of all rows.
TEST_P(Options, DistinctRowsChangeNothing) {
  Rng rng({1});
  const auto seen = episode(rng);
  RowTable table(spec(), GetParam().rounds, GetParam().both_directions);
  std::vector<RowIds> rows;
  std::vector<const RowIds*> row_pointers;
  std::vector<mdp::Action> actions;
  for (const auto& o : seen) {
    rows.push_back(table.add(o));
    actions.push_back(o.counts[2] > 0 ? mdp::Action{2, o.counts[2] - 1} : mdp::Action{5, 0});
  }
  for (const auto& r : rows) row_pointers.push_back(&r);
  auto batch = collate(pointers(seen), spec(), table, row_pointers);
  EXPECT_LT(batch.nodes, 30 * 73 * 2 / 3);
  EXPECT_TRUE(batch.distinct->node_counts.chains);
  const auto distinct = learn(GetParam(), batch, actions);
  const auto plain = learn(GetParam(), collate(pointers(seen), spec()), actions);
  EXPECT_TRUE(torch::allclose(distinct.evaluation.log_prob(), plain.evaluation.log_prob(), 1e-9, 1e-9));
  EXPECT_TRUE(torch::allclose(distinct.evaluation.value_rule, plain.evaluation.value_rule, 1e-9, 1e-9));
  for (size_t i = 0; i < plain.gradients.size(); ++i)
    EXPECT_TRUE(torch::allclose(distinct.gradients[i], plain.gradients[i], 1e-9, 1e-9)) << i;
}

}  // namespace
}  // namespace rlgo::nets
