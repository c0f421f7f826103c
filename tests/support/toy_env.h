// Small environments with known optima, for tests of agents, learners and collectors.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/mdp/mdp.h"
#include "tests/support/toy_base.h"

namespace rlgo::test {

// A path of `length` cells, start at 0, goal at the end. "forward" to the next cell (location 0) or the one after it
// (location 1), "back" by one. Each move costs 1, the goal pays 10. Optimum: 10 - ceil((length - 1) / 2).
class PathToy : public ToyEnv {
 public:
  explicit PathToy(int length = 9, int limit = 40) : ToyEnv({"forward", "back"}, 2, limit), length_(length) {}
  static float optimum(int length) { return 10.0f - static_cast<float>(length / 2); }

 protected:
  void start() override { position_ = 0; }
  mdp::Observation observe() const override {
    auto o = line(length_);
    o.node_op[static_cast<size_t>(position_)] = 1;
    o.node_feat[static_cast<size_t>(position_) * 2] = 1.0f;
    o.globals[0] = static_cast<float>(position_) / static_cast<float>(length_);
    for (int next : {position_ + 1, position_ + 2}) {
      if (next < length_) o.loc_node.push_back(next), ++o.counts[0];
    }
    if (position_ > 0) o.loc_node.push_back(position_ - 1), ++o.counts[1];
    return o;
  }
  float move(mdp::Action action, bool& done) override {
    position_ += action.rule == 1 ? -1 : 1 + action.location;
    done = position_ == length_ - 1;
    return done ? 9.0f : -1.0f;
  }

 private:
  int length_, position_ = 0;
};

// 7 rules x 10 locations = 70 actions of which 15 are legal, others at each step; one of the 15 pays 1 (its node is
// marked), the rest 0. 100 steps. Optimum 100; a random legal player that does not stop gets 6.7.
class MaskedToy : public ToyEnv {
 public:
  explicit MaskedToy(int limit = 100) : ToyEnv({"a", "b", "c", "d", "e", "f", "g"}, 10, limit) {}

 protected:
  void start() override { deal(); }
  mdp::Observation observe() const override {
    auto o = line(15);
    o.counts = counts_;
    o.loc_node.resize(15);
    std::iota(o.loc_node.begin(), o.loc_node.end(), 0);
    o.node_feat[static_cast<size_t>(target_) * 2] = 1.0f;
    return o;
  }
  float move(mdp::Action action, bool&) override {
    const int flat = std::accumulate(counts_.begin(), counts_.begin() + action.rule, 0) + action.location;
    const float reward = flat == target_ ? 1.0f : 0.0f;
    deal();
    return reward;
  }

 private:
  void deal() {
    counts_.assign(7, 0);
    for (int left = 15; left > 0;) {
      auto& count = counts_[rng_.below(7)];
      if (count < 10) ++count, --left;
    }
    target_ = static_cast<int>(rng_.below(15));
  }
  std::vector<int32_t> counts_;
  int target_ = 0;
};

// Pays 1 a step for ever, but is cut off (truncated) every `limit` steps; stopping costs 100. The value of its only
// state under a player that never stops is 1 / (1 - gamma).
class EndlessToy : public ToyEnv {
 public:
  explicit EndlessToy(int limit = 16) : ToyEnv({"on"}, 1, limit) {}

 protected:
  void start() override {}
  mdp::Observation observe() const override {
    auto o = line(1);
    o.counts[0] = 1;
    o.loc_node = {0};
    return o;
  }
  float move(mdp::Action, bool&) override { return 1.0f; }
  float stop_reward() const override { return -100.0f; }
};

// Greedy fails here: "trim" pays 1 twice; "expand" costs 3 (once), after which "collapse" pays 10 at the one of its 3
// locations that stands on the marked node. Optimum 2 - 3 + 10 = 9; a player who takes no loss gets 2.
class HillToy : public ToyEnv {
 public:
  explicit HillToy(int limit = 12) : ToyEnv({"trim", "expand", "collapse"}, 3, limit) {}

 protected:
  void start() override {
    trims_ = 2;
    stage_ = 0;
    marked_ = static_cast<int>(rng_.below(3));
  }
  mdp::Observation observe() const override {
    auto o = line(stage_ == 1 ? 5 : 3);
    o.globals[0] = static_cast<float>(trims_);
    o.globals[1] = static_cast<float>(stage_);
    if (trims_ > 0) o.loc_node.push_back(0), ++o.counts[0];
    if (stage_ == 0) o.loc_node.push_back(1), ++o.counts[1];
    if (stage_ == 1) {
      for (int i = 1; i < 4; ++i) o.loc_node.push_back(i), ++o.counts[2];
      o.node_feat[static_cast<size_t>(marked_ + 1) * 2] = 1.0f;
    }
    return o;
  }
  float move(mdp::Action action, bool&) override {
    if (action.rule == 0) return --trims_, 1.0f;
    if (action.rule == 1) return stage_ = 1, -3.0f;
    stage_ = 2;
    return action.location == marked_ ? 10.0f : 0.0f;
  }

 private:
  int trims_ = 2, stage_ = 0, marked_ = 0;
};

}  // namespace rlgo::test
