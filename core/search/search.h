// Search for a cheaper graph without a trained agent: the rivals of the agent, and a quick way to a result.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/cost/cost.h"
#include "core/graph/graph.h"
#include "core/rules/rules.h"

namespace rlgo::search {

// What is searched. Refers to the caller's objects.
struct Problem {
  const graph::Graph& graph;
  std::shared_ptr<const rules::RuleSet> rules;
  cost::CostModel& cost;
};

struct Options {
  int64_t budget = 50'000;  // matches that may be tried (candidates + refused), >= 1
  uint64_t seed = 0;        // of methods that draw
  int max_locations = 200;  // per rule and graph, >= 1: the first ones, as in the environment
  int walk_length = 50;     // random: rewrites in one walk, >= 1
  std::function<bool()>
      stop{};  // asked before each candidate: true ends the search. The caller's time limit. May be empty.
};

// Rewrite by the location-th match of a rule, in the order of rules::find_matches.
struct Step {
  int32_t rule = 0;  // index in the rule set
  int32_t location = 0;
  bool operator==(const Step&) const = default;
};
using Trace = std::vector<Step>;

enum class StopReason : uint8_t {
  finished,  // nothing left to try: greedy found no improvement, or no rule applies
  budget,    // options.budget matches were tried
  stopped,   // options.stop() said so
};
std::string_view name(StopReason reason);

struct Counters {
  int64_t candidates = 0;  // graphs made and priced
  int64_t refused = 0;     // matches that did not apply after all
  int64_t steps = 0;       // rewrites that were followed
  int64_t walks = 0;       // random: starts from the original graph
};

// One point of the curve of best cost: at the start, and at each improvement.
struct Sample {
  double seconds = 0;  // since the start
  int64_t candidates = 0;
  double best_us = 0;
};

struct Result {
  graph::Graph graph;  // the best
  double before_us = 0;
  double after_us = 0;  // <= before_us
  Trace trace;          // from the original to the best graph: see replay()
  StopReason reason = StopReason::finished;
  Counters counters;
  double seconds = 0;
  std::vector<Sample> curve;
};

// The methods, in the order of the table in search.cc.
std::vector<std::string> names();
// Throws Error on an unknown method (naming the nearest) or options out of range. Everything but seconds depends on
// problem and options alone (and on when stop() says so).
Result run(const std::string& method, const Problem& problem, const Options& options = {});

// The graph at the end of a trace. Throws Error naming the step that does not apply.
graph::Graph replay(const graph::Graph& graph, std::shared_ptr<const rules::RuleSet> rules,
                    std::span<const Step> trace);

}  // namespace rlgo::search
