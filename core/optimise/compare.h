// Two models of the same inputs and outputs: do they compute the same, and which is faster? For a build that must not
// get slower, and for models that other tools made.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/options.h"
#include "core/cost/runtime.h"
#include "core/optimise/benchmark.h"
#include "core/optimise/inputs.h"
#include "core/optimise/model.h"
#include "core/optimise/result.h"
#include "core/report/json.h"

namespace rlgo::optimise {

struct CompareModelsOptions {
  ModelOptions model;               // the first one: what the second is compared with
  std::string other;                // an ONNX file
  std::vector<std::string> inputs;  // "NAME=VALUE[,VALUE...]", as in OptimiseOptions
  double seconds = 10;              // of the measurement, about
  int64_t rounds = 96;              // paired runs, at most
  int64_t sets = 4;                 // of random inputs whose outputs are compared
  double tolerance = 1e-4;          // relative error of an output, or 8 times the runtime's own rounding, if more
  double limit = 1;                 // ratio above which the other one counts as slower, >= 1
  uint64_t seed = 0;                // of the orders in which models are loaded and run
};
// Options dim, size, input, seconds, limit, rounds, sets, tolerance, seed.
void declare(OptionSink& sink, CompareModelsOptions& options);

struct ModelComparison {
  std::string first, second, target, device;
  int threads = 1;
  Check outputs;              // of the second one against the first one's
  Sizes sizes;                // of open dimensions, by name; empty where none is open
  cost::InputValues assumed;  // numbers that the runtime chose for inputs that mean something
  Latency latency;            // after / before is second / first
  double limit = 1;
  bool same() const { return outputs.finding == Finding::same; }
  // Shown to take more than `limit` of the first one's time, with an error of SequentialRatio::kError.
  bool too_slow() const { return latency.ok() && latency.lower > limit; }
};

// Throws Error that names the file: one cannot be read or run, or inputs and outputs of the two differ in name, type or
// order.
ModelComparison compare_models(const CompareModelsOptions& options, cost::Runtime& runtime,
                               const std::function<bool()>& should_stop = {});
// Lines for people.
std::string to_text(const ModelComparison& comparison);
// Members of "rlgo.compare/1".
report::Json to_json(const ModelComparison& comparison);

}  // namespace rlgo::optimise
