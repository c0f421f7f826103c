// That a rewritten model computes the same as the one it was made from, and that the file written is that model.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/deadline.h"
#include "core/base/options.h"
#include "core/base/stopwatch.h"
#include "core/cost/runtime.h"
#include "core/optimise/inputs.h"
#include "core/optimise/model.h"
#include "core/optimise/result.h"
#include "core/rules/script.h"

namespace rlgo::optimise {

struct CheckOptions {
  int seeds = 4;            // sets of random inputs, >= 1: their kinds take turns (verify::check_inputs)
  double tolerance = 1e-4;  // largest relative error in single precision, (0, 1]; or 8 times the model's own, if more
  int repeats = 96;         // paired end-to-end runs of the model before and after, at most, >= 3
  uint64_t seed = 0;
  int threads = 1;
};
// Options check.*.
void declare(OptionSink& sink, CheckOptions& options);

// What checks may take.
struct CheckTime {
  // Seconds that they may still take; once these are over only the least is done. Null: no limit.
  std::function<double()> left_s = {};
  Deadline end = {};  // then what runs is cut short: Finding::skipped
  double run_s = 0;   // of the model in the runtime: the price of a first check is predicted from it; 0: not known
  // The rules that rules::Replayed::trace is by. Null: double precision is checked at the sample sizes, however slow.
  std::shared_ptr<const rules::RuleSet> rules = {};
  double runtime_s = 0;  // of one comparison of outputs in the runtime, loading included; 0: predicted from run_s
  double kept_s = 0;     // before `end`, that the final measurement needs: only checks that must be made may take it
};

struct AtSizes;
struct Expected;
class Original;

// Holds the model's file and runtime, not their contents; what it is given must live on. The original's side of all
// comparisons is computed once and kept for further candidates.
class Verifier {
 public:
  // `before`: the file of the model, for runtimes that read files.
  Verifier(const LoadedModel& model, std::filesystem::path before, cost::Runtime& runtime, CheckOptions options,
           CheckTime time = {});
  ~Verifier();

  // Original and rewritten graph in double precision (core/verify/agreement.h): outputs, the values that both share,
  // and the values that rewrites replaced.
  Check exact(const rules::Replayed& rewritten);
  // That; what was written to `file`, read again, in single precision next to the original's own rounding; both files
  // at sizes of open dimensions that neither import nor search has seen; and the runtime's own outputs, where that is
  // one that reads files. Ends at the first check that finds a wrong rewrite. Where time is short the check has
  // smaller sizes of open dimensions, if the model has any; then there are fewer inputs; then checks are skipped, other
  // sizes first and the file in rlgo next. The others are begun in any case.
  std::vector<Check> check(const rules::Replayed& rewritten, const std::filesystem::path& file);
  // The runtime's own outputs alone, of what was written to `file`: where these are what check() refuses, many times as
  // quick.
  Check in_runtime(const rules::Replayed& rewritten, const std::filesystem::path& file) const;
  // Sizes at which the last check ran both files in the runtime.
  const std::vector<SizeRun>& ran_at() const { return ran_at_; }

 private:
  // What one candidate's checks may take.
  struct Budget {
    double seconds;
    Deadline end;
    Stopwatch watch = {};
    bool over(double fraction) const { return watch.seconds() >= fraction * seconds; }
    // What takes so long is over before this fraction of the time is, or (fits_end) before all has to end.
    bool fits(double fraction, double needed_s) const {
      return watch.seconds() + needed_s < fraction * seconds && fits_end(needed_s);
    }
    bool fits_end(double needed_s) const { return needed_s < end.left(); }
  };
  Budget budget() const;
  // The model as it is checked.
  const LoadedModel& checked() const { return smaller_ ? *smaller_ : model_; }
  // Where the next comparison in double precision would take too long: the model at smaller sizes from now on, if it
  // has any at which it runs.
  void choose_sizes(const Budget& budget);
  bool may_shrink() const { return time_.rules != nullptr && !smaller_ && !model_.samples.empty(); }
  // To about this fraction of the operations. False: there are no such sizes. Throws Stopped.
  bool shrink(double fraction);
  // The same rewrites of checked().
  rules::Replayed at_checked_sizes(const rules::Replayed& rewritten) const;
  // What one comparison in double precision takes, and one in the runtime; 0: not known.
  double exact_s() const;
  double runtime_s() const;
  Check exact(const rules::Replayed& rewritten, const Budget& budget);
  Check exact_once(const rules::Replayed& rewritten, const Budget& budget);
  void add_rounding(const Expected& expected, const graph::Graph& after, Check& check) const;
  void add_ranges(const graph::Graph& after, const Budget& budget, Check& check) const;
  Check file_again(const std::filesystem::path& file, const Check& exact, const Budget& budget);
  using OwnErrors = std::function<std::map<std::string, double>()>;
  // The runtime's own outputs of the graph, written to `file`. `least`: what is allowed in any case; where more is
  // needed `own_errors` is asked for the original's own error of each output in single precision.
  Check by_runtime(const graph::Graph& graph, const std::filesystem::path& file, const OwnErrors& own_errors,
                   double least, int sets, const std::string& where = "") const;
  Check in_runtime(const rules::Replayed& rewritten, const std::filesystem::path& file, int sets) const;
  const AtSizes* other_sizes(size_t k, bool soon, bool& in_time);
  // What a check states that was cut short.
  Check skipped(Check check) const;
  Check at_sizes(const AtSizes& original, const std::filesystem::path& file) const;
  void at_other_sizes(const std::filesystem::path& file, const Budget& budget, std::vector<Check>& checks);

  const LoadedModel& model_;
  std::filesystem::path before_;
  cost::Runtime& runtime_;
  CheckOptions options_;
  CheckTime time_;
  Deadline limit_;  // of what runs now, before time_.end
  // Of all that runs: the earlier one.
  const Deadline end_{[this] { return std::min(time_.end.left(), limit_.left()); }};
  std::unique_ptr<LoadedModel> smaller_;  // null: model_ itself is checked
  std::unique_ptr<Original> original_;    // of checked()
  double exact_s_ = 0;                    // what the latest comparison in double precision took, of checked()
  std::vector<SizeRun> ran_at_;
};

// The largest relative error that is allowed where the original's own rounding makes `own`: 8 times that, or
// `tolerance`.
double allowed_for(double own, double tolerance);
// The first check that refuses; null where none does.
const Check* refusal(const std::vector<Check>& checks);
// A check without which nothing is written, and for which there was no time; null where all of these were made: in
// double precision, and in the runtime (the file in rlgo, where that is the runtime).
const Check* least_skipped(const std::vector<Check>& checks);
// False: no check compared anything.
bool any_done(const std::vector<Check>& checks);

// Writes `graph` to `path` and reads it again before it has that name. Throws Error where what is read is another model
// than `verified` holds, and Stopped at the deadline; nothing is written then, and an older file stays.
void write_and_read_again(const LoadedModel& model, const graph::Graph& graph, const std::filesystem::path& verified,
                          const std::filesystem::path& path, const Deadline& deadline = {});

}  // namespace rlgo::optimise
