// Rewrites one after the other: as numbers, replayed on a graph, and as the text of a trace file (best.trace).
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/rules/rules.h"

namespace rlgo::rules {

// By the location-th match of a rule, in the order of find_matches; below 0: see together.h.
struct Rewrite {
  int32_t rule = 0;  // index in the rule set
  int32_t location = 0;
  bool operator==(const Rewrite&) const = default;
};
using Trace = std::vector<Rewrite>;

// The graph at the end of a trace. `after_each` gets the graph after each rewrite, and how many were made at once:
// one, but for those that are made together. Throws Error naming the rewrite
// that does not apply, or whose location is not one of the first `max_locations`; Stopped where `stop` reports so.
graph::Graph replay(const graph::Graph& graph, const std::shared_ptr<const RuleSet>& rules,
                    std::span<const Rewrite> trace, int max_locations = std::numeric_limits<int>::max(),
                    const std::function<void(const graph::Graph&, size_t)>& after_each = {},
                    const std::function<bool()>& stop = {});

// What make_everywhere() made.
struct Everywhere {
  graph::Graph graph;
  Trace trace;
};
// Rewrites by each rule wherever it matches, the first rule first, and from the first again after each rewrite: until
// none matches, `most` were made or `stop` returns true. Cost is not considered.
Everywhere make_everywhere(const graph::Graph& graph, const std::shared_ptr<const RuleSet>& rules, size_t most,
                           const std::function<bool()>& stop = {});

// "53 x fold-batch-norm-into-conv, 49 x ...", most frequent first.
std::string count_rules(std::span<const Rewrite> trace, const RuleSet& rules);

// A trace with what it belongs to.
struct TraceFile {
  std::string graph;        // as --graph named it
  uint64_t graph_hash = 0;  // of the unmodified graph; 0: not known
  uint64_t rules_hash = 0;
  Trace rewrites;
  std::vector<double> cost_us;  // after each rewrite; may be empty
};

// One line per rewrite: number, rule, location, cost afterwards.
std::string to_text(const TraceFile& trace, const RuleSet& rules);
// Throws Error with file and line. Rules are found by name.
TraceFile parse_trace(const std::string& text, const std::string& file_name, const RuleSet& rules);

}  // namespace rlgo::rules
