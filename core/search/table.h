// Results of searches side by side: for people, and as CSV.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/rules/trace.h"
#include "core/search/search.h"

namespace rlgo::search {

struct SearchRow {
  std::string graph, method, cost;
  uint64_t seed = 0;
  int threads = 1;
  bool cpu_time = false;  // Options: what seconds are
  size_t nodes_before = 0, nodes_after = 0;
  double before_us = 0, after_us = 0;
  rules::Trace trace;  // from the unmodified graph to the best; empty where none is known (egraph)
  Counters counters;
  double seconds = 0;      // in all
  double measuring_s = 0;  // of these: timing operators that the cost table did not have
  StopReason reason = StopReason::finished;
  std::vector<Sample> curve;
  double bound_us = 0;  // Result
  bool optimal = false;
  std::string note;

  double change_percent() const { return before_us > 0 ? 100.0 * (after_us - before_us) / before_us : 0.0; }
  double graphs_per_s() const;  // candidates a second
  // Of the last improvement.
  double best_after_s() const { return curve.empty() ? 0.0 : curve.back().seconds; }
};

// What a search found; graph, method, seed, threads and what was measured are left to fill in.
SearchRow row_of(const Problem& problem, const Result& found);

// One line a row, below a heading.
std::string to_text(std::span<const SearchRow> rows);
// A line of column names, one line a row.
std::string to_csv(std::span<const SearchRow> rows);
// Best cost against seconds and candidates: graph, method, seed, seconds, candidates, best_us.
std::string curves_to_csv(std::span<const SearchRow> rows);

}  // namespace rlgo::search
