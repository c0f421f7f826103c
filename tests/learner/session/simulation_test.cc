#include "learner/session/simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/base/error.h"
#include "replay/reader.h"
#include "tests/replay/store.h"

namespace rlgo::learner {
namespace {

mdp::CodedTrajectory coded(const mdp::ObservationSpec& spec, int64_t episode, size_t steps) {
  auto t = replay::make_trajectory(spec, episode, static_cast<int>(steps));
  auto codes = mdp::code_observations(t);
  for (auto& step : t.steps) step.observation = {};
  t.last = {};
  return {std::move(t), std::move(codes)};
}

// What was sent is received and stored, once each, from all actors; with aggregators too.
class Simulation : public testing::TestWithParam<int> {};

TEST_P(Simulation, IsTheRealLoopAndStore) {
  const replay::TempFolder folder;
  const auto spec = replay::make_spec();
  const std::vector<mdp::CodedTrajectory> recorded = {coded(spec, 0, 3), coded(spec, 1, 5)};
  SimulationOptions options{.actors = 5, .steps_per_s = 200, .seconds = 0.5, .epoch_s = 0.1, .weights_bytes = 1000};
  options.store = folder;
  options.aggregators = GetParam();
  const auto report = simulate(recorded, replay::make_header(spec), options);
  EXPECT_EQ(report.offered_steps_per_s, 1000);
  EXPECT_GT(report.steps_per_s, 0);
  EXPECT_GT(report.bytes_in_per_s, 0);
  EXPECT_GT(report.bytes_out_per_s, 0);
  EXPECT_LE(report.lag_max, 1);
  std::set<std::pair<int32_t, int64_t>> names;
  std::set<int32_t> ranks;
  int64_t episodes = 0;
  replay::RolloutReader reader(folder);
  for (; const auto t = reader.next(); ++episodes) {
    names.emplace(t->rank, t->episode);
    ranks.insert(t->rank);
    EXPECT_TRUE(t->steps.size() == 3 || t->steps.size() == 5);
  }
  EXPECT_GT(episodes, 10);
  EXPECT_EQ(names.size(), static_cast<size_t>(episodes));
  EXPECT_THAT(ranks, testing::ElementsAre(1, 2, 3, 4, 5));
}

INSTANTIATE_TEST_SUITE_P(Aggregators, Simulation, testing::Values(0, 2));

TEST(SimulationErrors, NeedsEpisodesWithSteps) { EXPECT_THROW(simulate({}, replay::make_header(), {}), Error); }

}  // namespace
}  // namespace rlgo::learner
