// How often two copies of one model are called different: false positives of the benchmark.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/options.h"
#include "core/cost/runtime.h"
#include "core/optimise/benchmark.h"
#include "core/report/json.h"

namespace rlgo::calibrate {

struct SameOptions {
  // Zoo graphs or .onnx files; they take turns.
  std::vector<std::string> graphs = {"toy_conv", "toy_mlp", "toy_attention", "squeezenet1_1"};
  int64_t runs = 50;    // measurements in all, >= 1
  int64_t rounds = 64;  // paired runs of a measurement, at most
  double seconds = 2;   // after which a measurement ends
};
// Options graphs, runs, rounds, seconds.
void declare(OptionSink& sink, SameOptions& options);

// Measures, states a line of CSV each; members of "rlgo.bench-same/1": {"measurements": [{"graph", "run", "latency"}]}.
report::Json bench_same(const SameOptions& options, cost::Runtime& runtime, const std::function<bool()>& should_stop,
                        const std::function<void(const std::string&)>& print);

}  // namespace rlgo::calibrate
