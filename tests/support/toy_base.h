// What all toy environments share. One observation layout:
// 4 operators, 2 node features, 1 edge feature, 2 globals; nodes form a line.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/rng.h"
#include "core/mdp/mdp.h"

namespace rlgo::test {

// What every toy does alike: legality, NO-OP, step limit, costs (initially 100 us; a reward of 1 saves 1 us).
class ToyEnv : public mdp::Env {
 public:
  const mdp::ObservationSpec& spec() const override { return spec_; }
  mdp::Observation reset(uint64_t key) override {
    rng_ = Rng({key});
    cost_us_ = 100;
    steps_ = 0;
    running_ = true;
    start();
    return last_ = observe();
  }
  mdp::StepResult step(mdp::Action action) override {
    if (!running_) fail("toy: no episode is running");
    const bool stop = action.rule == spec_.rules;
    if (stop ? action.location != 0 : !legal(action))
      fail("toy: action ({}, {}) is not legal", action.rule, action.location);
    mdp::StepResult result;
    bool done = stop;
    result.reward = stop ? stop_reward() : move(action, done);
    cost_us_ -= result.reward;
    result.observation = last_ = observe();
    const bool stuck = std::all_of(last_.counts.begin(), last_.counts.end(), [](int32_t c) { return c == 0; });
    result.terminal = done || stuck;
    result.truncated = !result.terminal && ++steps_ >= limit_;
    running_ = !result.terminal && !result.truncated;
    result.info.rule = stop ? "" : spec_.rule_names[static_cast<size_t>(action.rule)];
    result.info.cost_us = cost_us_;
    result.info.location = action.location;
    return result;
  }
  double initial_cost_us() const override { return 100; }
  double current_cost_us() const override { return cost_us_; }

 protected:
  ToyEnv(std::vector<std::string> rules, int max_locations, int limit) : limit_(limit) {
    spec_ = {.ops = 4,
             .node_features = 2,
             .edge_features = 1,
             .global_features = 2,
             .rules = static_cast<int32_t>(rules.size()),
             .max_locations = max_locations,
             .rule_names = std::move(rules)};
  }
  virtual void start() = 0;
  virtual mdp::Observation observe() const = 0;
  // Reward of a legal move; sets `done` where it ends the episode.
  virtual float move(mdp::Action action, bool& done) = 0;
  virtual float stop_reward() const { return 0; }

  // A line of nodes, without legal actions.
  mdp::Observation line(int nodes) const {
    mdp::Observation o;
    o.node_op.assign(static_cast<size_t>(nodes), 0);
    o.node_feat.assign(static_cast<size_t>(nodes) * 2, 0.0f);
    for (int i = 0; i + 1 < nodes; ++i) {
      o.edge_src.push_back(i);
      o.edge_dst.push_back(i + 1);
      o.edge_feat.push_back(1.0f);
    }
    o.globals.assign(2, 0.0f);
    o.counts.assign(static_cast<size_t>(spec_.rules), 0);
    return o;
  }
  Rng rng_{0};

 private:
  bool legal(mdp::Action a) const {
    return a.rule >= 0 && a.rule < spec_.rules && a.location >= 0 &&
           a.location < last_.counts[static_cast<size_t>(a.rule)];
  }
  mdp::ObservationSpec spec_;
  mdp::Observation last_;
  int limit_, steps_ = 0;
  bool running_ = false;
  double cost_us_ = 100;
};

}  // namespace rlgo::test
