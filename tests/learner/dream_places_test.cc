#include "learner/dream/places.h"

#include <gtest/gtest.h>

#include "learner/dream/sequences.h"
#include "tests/support/toy_env.h"

namespace rlgo::learner {
namespace {

// Two rules on a line of 4 nodes; changes of cost in percent, one a location.
mdp::Observation state(std::vector<int32_t> counts, std::vector<int32_t> nodes, std::vector<float> changes) {
  mdp::Observation o;
  o.node_op = {0, 0, 0, 0};
  o.counts = std::move(counts);
  o.loc_node = std::move(nodes);
  for (const float change : changes) o.loc_feat.insert(o.loc_feat.end(), {change, 0});
  return o;
}
torch::Tensor features_of(const mdp::Observation& o) {
  auto features = torch::zeros({std::ssize(o.loc_node), 3});
  for (int64_t l = 0; l < features.size(0); ++l) features[l][1] = o.loc_feat[static_cast<size_t>(2 * l)];
  return features;
}

// Rule 0 is applied at its second location: it goes, so does a location of rule 1 on the same node, and rule 1 gets a
// new one, which undoes it.
mdp::Trajectory episode() {
  mdp::Trajectory t;
  t.steps.resize(2);
  t.steps[0].observation = state({2, 2}, {0, 2, 2, 3}, {-1, -2, 0.5f, 0.5f});
  t.steps[0].action = {0, 1};
  t.steps[1].observation = state({1, 2}, {0, 2, 3}, {-1, 2, 0.5f});
  t.steps[1].action = {2, 0};
  t.last = t.steps.back().observation;
  t.terminal = true;
  return t;
}
mdp::ObservationSpec spec() {
  mdp::ObservationSpec s;
  s.rules = 2;
  s.location_features = 2;
  return s;
}
EpisodePlaces places_of(const mdp::Trajectory& t) {
  std::vector<torch::Tensor> features;
  for (const auto& step : t.steps) features.push_back(features_of(step.observation));
  features.push_back(features_of(t.last));
  return find_places(t, features, spec());
}

TEST(Places, WhatGoesAndWhatComes) {
  const auto p = places_of(episode());
  EXPECT_TRUE(torch::equal(p.gone[0], torch::tensor({int64_t{1}, int64_t{1}})));
  EXPECT_EQ(p.come_step, (std::vector<int64_t>{0}));
  EXPECT_EQ(p.come_rule, (std::vector<int64_t>{1}));
  EXPECT_FLOAT_EQ(p.come[0][1].item<float>(), 2);
}

TEST(Places, TheActionIsWhereItIsAndWhatItSaves) {
  const auto p = places_of(episode());
  EXPECT_FLOAT_EQ(p.place[0][1].item<float>(), -2);
  EXPECT_TRUE(torch::equal(p.overlap[0], torch::tensor({1.0f, 1.0f})));
}

TEST(Places, NoOpDoesNothing) {
  const auto p = places_of(episode());
  for (const auto& part : {p.place[1], p.overlap[1]}) EXPECT_EQ(part.abs().sum().item<float>(), 0);
  EXPECT_EQ(p.gone[1].sum().item<int64_t>(), 0);
}

// Counts after a step are those before, less what goes, plus what comes: in every step of any episode.
TEST(Places, CountsAddUp) {
  const auto t = episode();
  const auto p = places_of(t);
  const mdp::Trajectory* const one[] = {&t};
  const EpisodePlaces* const own[] = {&p};
  auto s = make_sequences(one, spec(), 4);
  add_places(s, own);
  auto come = torch::zeros({4, 1, 2}, torch::kInt64);
  for (int64_t i = 0; i < s.come_step.size(0); ++i)
    come.index_put_({s.come_step[i], s.come_row[i], s.come_rule[i]}, torch::ones({}, torch::kInt64), true);
  const auto change = (s.counts.slice(0, 1, 3) - s.counts.slice(0, 0, 2)).to(torch::kInt64);
  EXPECT_TRUE(torch::equal(change, (come - s.gone).slice(0, 0, 2)));
}

}  // namespace
}  // namespace rlgo::learner
