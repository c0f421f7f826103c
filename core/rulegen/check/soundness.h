// Applies rules at random places of random graphs and compares the graphs before and after in the prime field.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/rulegen/check/check.h"

namespace rlgo::rulegen {

struct SoundnessOptions {
  int64_t applications = 20'000;
  int64_t least = 0;  // of each rule: those that had fewer get graphs of their own, at most kGraphsOfSeldomRules
  int seeds = 2;      // evaluations of each pair, the second with 90 % negative numbers
  int walk = 3;       // rewrites by any rule that follow the one a graph was made for
  uint64_t seed = 1;
  bool wild = true;  // every other graph from wild_instance.h, which knows nothing of what rules are proved for
  // Called with each pair that was compared and found equal; for checks elsewhere.
  std::function<void(int rule, const graph::Graph& before, const graph::Graph& after)> pair = {};
  std::function<bool(int64_t done)> go_on = {};  // asked after every graph
};

constexpr int kGraphsOfSeldomRules = 2'000;

struct SoundnessResult {
  int64_t applications = 0;      // compared
  int64_t incomparable = 0;      // an operator without a meaning over the reals, or equal but for rounded constants
  std::vector<int64_t> by_rule;  // applications of each
  std::vector<std::pair<int, Counterexample>> counterexamples;  // by rule, the first of each
  int seldom_rules = 0;                                         // rules that applied fewer than 100 times
  int idle_rules = 0;                                           // rules that never applied
};

// What moves elements alone must also read the same elements on both sides: so it moves infinities and NaN as they are.
// Graphs are instances of the rules in turn (instance.h: groups, strides, dilations, pads, broadcasts, odd extents);
// all places of the rule there are tried, then a random walk continues from the result with any rule at any place.
SoundnessResult check_soundness(const std::shared_ptr<const rules::RuleSet>& rules, const SoundnessOptions& options);

}  // namespace rlgo::rulegen
