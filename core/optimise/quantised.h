// Quantised models: the rewrites of core/onnx/quantised.h that make the model faster in the target, and keep its
// outputs.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/log.h"
#include "core/cost/runtime.h"
#include "core/onnx/onnx.h"

namespace rlgo::optimise {

class Benchmark;
class OptimiseClock;
struct LoadedModel;
struct OptimiseOptions;
struct Result;

// What came of one rewrite of quantised models, or of several together.
struct QuantisedTrial {
  std::string name;  // "s8-weights-conv"
  int matches = 0;   // in so many places
  double ratio = 0;  // latency to the original's; 0: not measured
  double steps = 0;  // outputs in the target are so many quantisation steps apart; 0: the same bit for bit
  std::string why;   // it was not taken; "" where it was
  bool taken() const { return why.empty(); }
};
// "s8-weights-conv (3 operators, 0.41 of the latency, the same outputs bit for bit)".
std::string to_text(const QuantisedTrial& trial);

// How many quantisation steps `--allow` admits between outputs: "rounding" two, "rounding=N" N, "" none. Throws
// UsageError on anything else.
int allowed_steps(const std::string& allow);

// How many quantisation steps outputs are apart at most: 0 where they are the same bit for bit. Nothing, and why, where
// they cannot be compared, differ in more than their numbers, or the step of one that differs is not known.
std::optional<double> steps_apart(const cost::Outputs& a, const cost::Outputs& b, const onnx_io::QuantisedReport& model,
                                  std::string& why);

// Writes the model with each rewrite, then with all that pay together, compares the outputs in the target, and times it
// against the original. Where one is faster, `model` is the model with it from now on, and so is result.before. Takes
// about a quarter of the time that is left. Where the target cannot run a rewritten model, the reason is kept.
void choose_quantised(const OptimiseOptions& options, LoadedModel& model, cost::Runtime& runtime, Benchmark& benchmark,
                      const std::filesystem::path& folder, OptimiseClock& clock, const Log& log, Result& result);

}  // namespace rlgo::optimise
