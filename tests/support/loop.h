// Parts of tests of the learner's loop: an algorithm that counts, a policy with versions, hooks that write down.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "actors/actor_loop.h"
#include "learner/loop.h"
#include "tests/support/toy_env.h"

namespace rlgo::learner::test_parts {

inline std::unique_ptr<mdp::BatchEnv> paths(int count) {
  std::vector<std::unique_ptr<mdp::Env>> envs;
  for (int i = 0; i < count; ++i) envs.push_back(std::make_unique<test::PathToy>(9, 10));
  return mdp::make_batch(std::move(envs));
}

// Counts what it is given; its weights are the number of updates.
class Counter : public Algorithm {
 public:
  std::string weights() override { return std::to_string(updates); }
  UpdateReport update(std::vector<Episode> episodes, const UpdateContext& context) override {
    for (const auto& episode : episodes) {
      const auto& t = episode->facts;
      steps += static_cast<int64_t>(t.steps.size());
      names.emplace_back(t.weights_version, t.rank, t.episode);
    }
    context.between();
    EXPECT_EQ(context.version, updates);
    EXPECT_LT(context.progress, 1);
    ++updates;
    return {.values = {{"updates", static_cast<double>(updates)}}, .notes = {}};
  }
  int updates = 0;
  int64_t steps = 0;
  std::vector<std::tuple<int64_t, int32_t, int64_t>> names;  // version, rank, episode
};

// Random, but with versions: checks that weights and version belong together.
class Versioned : public actors::RandomPolicy {
 public:
  int64_t version() const override { return version_; }
  void load(std::string_view weights, int64_t version) override {
    EXPECT_EQ(weights, std::to_string(version));
    EXPECT_GT(version, version_);
    version_ = version;
  }

 private:
  int64_t version_ = -1;
};

// Hooks that write everything down.
struct Diary {
  LoopHooks hooks() {
    LoopHooks hooks;
    hooks.on_trajectory = [this](const Episode& t, bool) { trajectories.push_back(mdp::whole(*t)); };
    hooks.on_lost = [this](const comm::ErrorReport& lost) { errors.push_back(lost); };
    hooks.on_epoch = [this](const EpochReport& report, const LoopState&) { epochs.push_back(report); };
    hooks.log_line = [this](const std::string& line) { lines.push_back(line); };
    return hooks;
  }
  std::vector<mdp::Trajectory> trajectories;
  std::vector<comm::ErrorReport> errors;
  std::vector<EpochReport> epochs;
  std::vector<std::string> lines;
};

}  // namespace rlgo::learner::test_parts
