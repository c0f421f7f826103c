// What `rlgo optimise` did to a model, step by step: what is printed, what the report shows, what the status states.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/cost/kept.h"
#include "core/onnx/onnx.h"
#include "core/optimise/benchmark.h"
#include "core/optimise/clock.h"
#include "core/optimise/quantised.h"
#include "core/rules/rules.h"
#include "core/search/search.h"

namespace rlgo::optimise {

// One search that was run.
struct SearchRun {
  std::string method;
  std::string from;    // "the model", "greedy's graph"
  double begin_s = 0;  // since the start of the command
  double seconds = 0;
  double before_us = 0, after_us = 0;
  search::Counters counters;
  search::StopReason reason = search::StopReason::finished;
  std::vector<search::Sample> curve;
};

// Where a search gets costs: times of operators under the target, or what predicts them.
enum class By : uint8_t { timed, formula, learned };
struct Stage {
  std::string method;
  By by = By::timed;
};

// One way of rewriting, as a model file that can be run.
struct Candidate {
  std::string name;  // "sweep", "sweep, then taso", "sweep without fuse-x", "no rewrites"
  graph::Graph graph;
  rules::Trace trace = {};             // by Result::rules, from the model's graph
  std::vector<Stage> stages = {};      // searches that led to it, one from the other's graph
  std::set<std::string> without = {};  // rules that were left out
  double cost_us = 0;                  // sum over operators
  std::filesystem::path file = {};     // "" where it could not be written
  onnx_io::ExportReport normalised = {};
  double ratio = 0;  // latency to the original's, of the last comparison that it was in; 0: not measured
  double ratio_spread = 0;
  double to_best = 0;      // its ratio to that of the best one so far, in the same comparison
  double doubt = 0;        // what `ratio` is uncertain by
  std::string error = {};  // why it could not be written or measured
  cost::RunnableModel runnable() const { return {&graph, file}; }
  // Its rewrites begin with those of searches that time nothing.
  bool begins_untimed() const { return !stages.empty() && stages[0].by != By::timed; }
  // Searches by learned prices are among these.
  bool begins_learned() const { return std::ranges::find(stages, By::learned, &Stage::by) != stages.end(); }
};

// What a check found.
enum class Finding : uint8_t {
  same,
  rounding,      // no further apart than rounding explains, but further than is allowed
  differs,       // further apart than that, or undefined elsewhere, without a proof that a rewrite is wrong
  wrong,         // computes something else, beyond what any rounding explains
  not_compared,  // the check could not be made, or saw nothing
  skipped,       // there was no time for it
};

// A comparison of the model before and after.
struct Check {
  // Which of the checks: what it refuses may be tried again by it alone.
  enum class Kind : uint8_t { other, exact, runtime, file };  // in double precision; in the runtime; the file, read
  std::string by;                                             // "rlgo in double precision, 4 inputs"
  Finding finding = Finding::not_compared;
  double error = 0;         // largest relative error
  double allowed = 0;       // what it may be
  std::string detail;       // why not, or where the error is
  std::string limits = {};  // what `error` does not state: operators that rlgo does not compute; "" for nothing
  Kind kind = Kind::other;
  bool done() const { return finding != Finding::not_compared && finding != Finding::skipped; }
  bool refuses() const { return done() && finding != Finding::same; }
};

// Sizes of open dimensions, as "N=1, M=7", and the shapes of all inputs that follow.
struct SizeRun {
  std::string sizes;
  cost::InputShapes shapes;
};
// Original and chosen candidate at these sizes.
struct SizeLatency {
  std::string sizes;
  Latency latency;
};

struct Result {
  // The request.
  std::string model, out, method, target, device;
  int threads = 1;
  double seconds = 0;
  double tolerance = 0;
  // What was found.
  std::string about;                 // import report
  cost::InputValues given, assumed;  // numbers of inputs: of --input, and by the measurer
  std::string sizes;  // sizes that were found for the model to run, as options: "--size h=48"; "" for none
  std::vector<std::string> changes;       // what of the file the import did without, one line each
  std::vector<QuantisedTrial> quantised;  // rewrites of a quantised model, tried before all else
  double steps_apart = 0;                 // of the outputs, by those that were taken
  graph::Graph before;                    // with these
  std::shared_ptr<const rules::RuleSet> rules;
  std::string cost_name;                  // "measured:cpu"
  std::string estimates;                  // "learned prices", "a formula": of what is not timed; "": all are by formula
  std::string learned_on;                 // the processors whose times learned prices are from: "AMD EPYC"
  double before_us = 0;                   // sum over operators
  size_t costs_known = 0, costs_new = 0;  // timed in earlier calls, and in this one
  std::filesystem::path costs_file;
  std::vector<SearchRun> searches;
  std::string contradicted;           // how whole models contradict prices of a family of rules; "" for nothing
  std::vector<Candidate> candidates;  // in the order in which they were made; [0] is "no rewrites"
  size_t chosen = 0;                  // of candidates
  cost::KeptOperators kept;           // of the original
  std::vector<double> step_us;        // cost after each rewrite of the chosen one
  std::vector<double> before_op_us, after_op_us;  // cost by node id
  std::vector<Check> checks;                      // of the chosen one
  bool checked = false;                           // they compared something, and nothing differs
  std::vector<cost::SwitchTiming> switches;       // of the file that was given and, where it differs, the chosen one
  Latency end_to_end;                             // of the file that was given and the chosen candidate
  std::vector<SizeRun> ran_at;                    // where the checks ran original and chosen one in the runtime
  std::vector<SizeLatency> at_sizes;              // of these, where both were timed
  bool touched = true;                            // false: the chosen candidate is the model as it was read
  bool improved = false, interrupted = false, written = false;
  bool forced = false;                        // by --force, which writes what is not faster
  bool refused = false;                       // not even by --force: a check found that the outputs differ
  std::string verdict;                        // one sentence
  int64_t bytes_before = 0, bytes_after = 0;  // of both models' files, with external data; 0: no file
  double took_s = 0;
  std::string version;            // of rlgo
  std::vector<PhaseTime> phases;  // what took_s was spent on

  const Candidate& best() const { return candidates[chosen]; }
};

// "3 x fuse-a, 1 x fuse-b", most frequent first; "none".
std::string rules_used(const Result& result);
// Operator -> how many, before and after, of the operators that run (no constants): {name, before, after}.
struct OperatorCount {
  std::string name;
  int before = 0, after = 0;
};
std::vector<OperatorCount> operator_counts(const graph::Graph& before, const graph::Graph& after);
// "-19.51 %", by 100 (after - before) / before.
std::string percent_change(double before, double after);
std::string milliseconds(double us);
std::string sizes_text(const Result& result);  // "5.0 KiB -> 5.1 KiB"; "" where a file is missing
// Lines "equivalence   text" about checks.
std::string to_text(const std::vector<Check>& checks);
// "largest relative error 2e-14 (value of conv2d 'c1'), allowed 1e-09".
std::string to_text(const Check& check);
// The verdict first: "1.42x faster (1.38 to 1.46), same outputs (4 checks; ...)"; then what was measured, and a table
// of before and after. `brief`: that line alone. `report`: the page that was written; "" for none.
std::string to_summary(const Result& result, bool brief, const std::string& report);
// All that is known: lines of "name   text".
std::string to_text(const Result& result);

}  // namespace rlgo::optimise
