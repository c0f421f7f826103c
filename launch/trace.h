// best.trace: the rewrites of an episode as text, replayable.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/env/rewrite_env.h"
#include "core/rules/rules.h"

namespace rlgo::launch {

struct TraceFile {
  std::string graph;        // as --graph named it
  uint64_t graph_hash = 0;  // of the unmodified graph
  uint64_t rules_hash = 0;
  env::Trace actions;
  std::vector<double> cost_us;  // after each action; may be empty
};

// One line per rewrite: number, rule, location, cost afterwards.
std::string to_text(const TraceFile& trace, const rules::RuleSet& rules);
// Throws Error with file and line. Rules are found by name.
TraceFile parse_trace(const std::string& text, const std::string& file_name, const rules::RuleSet& rules);

}  // namespace rlgo::launch
