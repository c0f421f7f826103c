// Fits a cost profile to operators timed on this machine, and shows how well it predicts others.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/options.h"
#include "core/calibrate/operator_samples.h"
#include "core/cost/profile_fit.h"
#include "core/cost/runtime.h"
#include "core/report/json.h"

namespace rlgo::calibrate {

struct ProfileBenchOptions {
  double seconds = 60;        // of timing operators
  int64_t drawn = 48;         // operators of each kind next to the zoo's, >= 0
  std::string start = "cpu";  // the profile whose constants the fit begins at: a shipped one's name, or a file
  std::string out;            // file for the fitted profile; "": none is written
  uint64_t seed = 0;          // of the drawn sizes and the order
};
// Options seconds, drawn, cost.profile, out, seed.
void declare(OptionSink& sink, ProfileBenchOptions& options);

// An operator with its time.
struct TimedSample {
  const OperatorSample* sample = nullptr;
  std::string kind;
  double us = 0;
  bool held_out = false;  // every fourth of its kind: no constant was fitted to it
};
// Times operators, one of each kind in turn, until `seconds` have passed or all are timed. What the runtime cannot run,
// and what takes less than 0.05 us (nothing is seen of it next to an empty model), is left out.
std::vector<TimedSample> time_operators(const std::vector<OperatorKind>& kinds, cost::Runtime& runtime, double seconds,
                                        const std::function<bool()>& should_stop);

// How well prices predict times of operators.
struct PriceScore {
  size_t operators = 0;
  double factor = 1;  // median of max(price / time, time / price): half of the operators are nearer
  double rank = 0;    // Spearman's correlation of prices and times
};
// Of the samples that are held out, of one kind or ("") all.
PriceScore score(std::span<const TimedSample> samples, const std::string& kind, const cost::AnalyticOptions& profile);

// Times, fits, states a table, writes the profile where options.out asks for it. Members of "rlgo.bench-profile/1".
// Throws Error where too few operators can be timed, or the file cannot be written.
report::Json bench_profile(const ProfileBenchOptions& options, cost::Runtime& runtime,
                           const std::function<bool()>& should_stop,
                           const std::function<void(const std::string&)>& print);

}  // namespace rlgo::calibrate
