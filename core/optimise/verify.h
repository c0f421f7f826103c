// That a rewritten model computes the same as the one it was made from, and that the file written is that model.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/options.h"
#include "core/base/stopwatch.h"
#include "core/cost/runtime.h"
#include "core/optimise/inputs.h"
#include "core/optimise/model.h"
#include "core/optimise/replay.h"
#include "core/optimise/result.h"

namespace rlgo::optimise {

struct CheckOptions {
  int seeds = 4;            // sets of random inputs, >= 1: their kinds take turns (exec::check_inputs)
  double tolerance = 1e-4;  // largest relative error in single precision, (0, 1]; or 8 times the model's own, if more
  int repeats = 96;         // paired end-to-end runs of the model before and after, at most, >= 3
  uint64_t seed = 0;
  int threads = 1;
};
// Options check.*.
void declare(OptionSink& sink, CheckOptions& options);

struct AtSizes;
struct Expected;
class Original;

// Holds the model's file and runtime, not their contents; what it is given must live on. The original's side of all
// comparisons is worked out once and kept for further candidates.
class Verifier {
 public:
  // `before`: the file of the model, for runtimes that read files. `left_s`: seconds that checks may still take; once
  // they are over only the least is done (one set of inputs, one set of other sizes). Null: no limit.
  Verifier(const LoadedModel& model, std::filesystem::path before, cost::Runtime& runtime, CheckOptions options,
           std::function<double()> left_s = {});
  ~Verifier();

  // Original and rewritten graph in double precision (core/exec/agreement.h): outputs, the values that both share, and
  // the values that rewrites replaced.
  Check exact(const Replayed& rewritten);
  // That; what was written to `file`, read again, in single precision beside the original's own rounding; both files at
  // sizes of open dimensions that neither import nor search has seen; and the runtime's own outputs, where that is
  // another one than LibTorch. Ends at the first check that finds a wrong rewrite.
  std::vector<Check> check(const Replayed& rewritten, const std::filesystem::path& file);
  // The runtime's own outputs alone, of what was written to `file`: where these are what check() refuses, many times as
  // quick.
  Check in_runtime(const Replayed& rewritten, const std::filesystem::path& file) const;
  // Sizes at which the last check ran both files in the runtime.
  const std::vector<SizeRun>& ran_at() const { return ran_at_; }

 private:
  // What one candidate's checks may take.
  struct Budget {
    double seconds;
    Stopwatch watch = {};
    bool over(double share) const { return watch.seconds() >= share * seconds; }
  };
  Check exact(const Replayed& rewritten, const Budget& budget);
  void add_rounding(const Expected& expected, const graph::Graph& after, Check& check) const;
  void add_ranges(const graph::Graph& after, const Budget& budget, Check& check) const;
  Check file_again(const std::filesystem::path& file, const Check& exact, const Budget& budget);
  // The runtime's own outputs of the graph, written to `file`, each beside the original's own error of it in single
  // precision; `least`: what is allowed in any case.
  Check by_runtime(const graph::Graph& graph, const std::filesystem::path& file, const Expected& expected, double least,
                   int sets, const std::string& where = "") const;
  Check at_sizes(const AtSizes& original, const std::filesystem::path& file) const;
  void at_other_sizes(const std::filesystem::path& file, const Budget& budget, std::vector<Check>& checks);

  const LoadedModel& model_;
  std::filesystem::path before_;
  cost::Runtime& runtime_;
  CheckOptions options_;
  std::function<double()> left_s_;
  std::unique_ptr<Original> original_;
  std::vector<SizeRun> ran_at_;
};

// The first check that refuses; null where none does.
const Check* refusal(const std::vector<Check>& checks);
// False: no check compared anything.
bool any_done(const std::vector<Check>& checks);

// Writes `graph` to `path` and reads it again. Throws Error where what is read is another model than `verified` holds;
// the file is then removed.
void write_and_read_again(const LoadedModel& model, const graph::Graph& graph, const std::filesystem::path& verified,
                          const std::filesystem::path& path);

}  // namespace rlgo::optimise
