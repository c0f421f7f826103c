// Search for a cheaper graph: the rivals of the agent, and a quick way to a result.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/options.h"
#include "core/cost/cost.h"
#include "core/graph/graph.h"
#include "core/rules/rules.h"
#include "core/rules/trace.h"

namespace rlgo::search {

// What is searched. Refers to the caller's objects.
struct Problem {
  const graph::Graph& graph;
  std::shared_ptr<const rules::RuleSet> rules;
  cost::CostModel& cost;  // used by one thread at a time
};

struct Counters {
  int64_t candidates = 0;  // graphs generated and priced
  int64_t refused = 0;     // matches that did not apply after all
  int64_t duplicates = 0;  // candidates that were known already
  int64_t steps = 0;       // rewrites that were followed: graphs taken from the queue, the beam, the walk
  int64_t walks = 0;       // random: starts from the original graph
  int64_t dropped = 0;     // graphs thrown away, unseen, because options.memory_mib was reached
};

struct Options {
  int64_t budget = 50'000;        // matches that may be tried (candidates + refused), >= 1
  uint64_t seed = 0;              // of methods that draw
  int max_locations = 200;        // per rule and graph, >= 1: the first ones, as in the environment
  int walk_length = 200;          // random: rewrites in one walk, >= 1
  double alpha = 1.05;            // taso: graphs below alpha times the best cost are gone on with, >= 1
  int64_t expansions = 0;         // taso: graphs taken from the queue (TASO's own unit of budget); 0: no limit
  int beam_width = 4;             // beam: graphs that continue, >= 1
  int threads = 1;                // taso, beam: price this many graphs' rewrites side by side; anneal: chains
  int64_t egraph_nodes = 20'000;  // egraph: e-nodes, about; >= 1
  int egraph_rounds = 1;       // egraph: rounds in which rules with several roots are applied (TENSAT's k_multi), >= 0
  double egraph_seconds = 60;  // egraph: saturation, then the integer program, > 0
  double memory_mib = 0;       // taso: about what the queue may hold, MiB; 0: half of what is free
  bool together = false;       // sweep: the trace may hold rewrites that are made together (core/rules/together.h)
  bool minimal = false;        // the trace without rewrites that can be left out at no cost: see trace.h
  bool cpu_time = false;       // seconds are those of the processor in the calling thread, not on the wall: see clock.h
  // Asked before each candidate, by the thread that called run(): true ends the search, with the best graph so far. The
  // caller's time limit. May be empty.
  std::function<bool()> stop{};
  // Asked now and then while the trace is minimised: true ends that, and Result::note reports so. May be empty.
  std::function<bool()> stop_minimising{};
  // Told now and then how far the search is, by the thread that called run(). May be empty.
  std::function<void(const Counters& counters, double best_us)> progress{};
};
// Options search.*.
void declare(OptionSink& sink, Options& options);

enum class StopReason : uint8_t {
  finished,  // nothing left to try: greedy found no improvement, a queue is empty, no rule applies
  budget,    // options.budget matches (or options.expansions graphs) were tried
  stopped,   // options.stop() returned true
};
std::string_view name(StopReason reason);

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
  rules::Trace trace;   // from the original to the best graph: see rules::replay()
  // egraph: extraction puts a graph together out of many rewrites, and no sequence of rewrites is known that leads to
  // it. Then `trace` is empty, and what is known of the graph is that each rule is proved: check it by running it.
  bool traced = true;
  // egraph: no graph of the e-graph costs less; 0: nothing is known. `optimal`: one that costs so much was found.
  double bound_us = 0;
  bool optimal = false;
  std::string note;  // egraph: what the bound holds for; a trace that may not be minimal; a line
  StopReason reason = StopReason::finished;
  Counters counters;
  double seconds = 0;
  std::vector<Sample> curve;
};

// The methods, in the order of the table in search.cc.
std::vector<std::string> names();
// Whether its results have a trace (Result::traced).
bool gives_trace(const std::string& method);
// Throws Error on an unknown method (naming the nearest) or options out of range. Everything but seconds depends on
// problem and options alone (and on when stop() reports so), for any fixed number of threads.
Result run(const std::string& method, const Problem& problem, const Options& options = {});

}  // namespace rlgo::search
