// Applies rules at random places of random graphs and compares the graphs before and after in the prime field.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/rulegen/check/check.h"

namespace rlgo::rulegen {

struct SoundnessOptions {
  int64_t applications = 20'000;
  int seeds = 2;  // evaluations of each pair, the second with 90 % negative numbers
  int walk = 3;   // rewrites by any rule that follow the one a graph was made for
  uint64_t seed = 1;
  std::function<bool(int64_t done)> go_on = {};  // asked after every graph
};

struct SoundnessResult {
  int64_t applications = 0;      // compared
  int64_t incomparable = 0;      // an operator without a meaning over the reals, or equal but for rounded constants
  std::vector<int64_t> by_rule;  // applications of each
  std::vector<std::pair<int, Counterexample>> counterexamples;  // by rule, the first of each
  int idle_rules = 0;                                           // rules that never applied
};

// Graphs are instances of the rules in turn (instance.h: groups, strides, dilations, pads, broadcasts, odd extents);
// all places of the rule there are tried, then a random walk goes on from the result with any rule at any place.
SoundnessResult check_soundness(std::shared_ptr<const rules::RuleSet> rules, const SoundnessOptions& options);

}  // namespace rlgo::rulegen
