// Times the checks in double precision, next to a runtime that computes the same.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/base/options.h"
#include "core/cost/runtime.h"
#include "core/report/json.h"

namespace rlgo::calibrate {

struct VerifyBenchOptions {
  std::vector<std::string> graphs = {"resnet50", "bert"};  // zoo graphs or .onnx files
  int64_t rounds = 5;                                      // timed runs of each model, >= 2
};
// Options graphs, rounds.
void declare(OptionSink& sink, VerifyBenchOptions& options);

// For each model: one run in core/evaluate with every float as double, one run of the same graph in double precision in
// `runtime` (the reference), and one comparison of the model with a copy, in which every value is compared. The
// reference runs before and after, so that drift of the machine shows. With one thread the evaluator's time is the
// thread's processor time. States a line each; members of "rlgo.bench-verify/1". Refused, with a reason, are models of
// which the runtime has no run in double precision or that have operators that rlgo does not know, and models during
// which the machine was too busy. Throws Error where all are refused, UsageError for an
// unknown graph.
report::Json bench_verify(const VerifyBenchOptions& options, cost::Runtime& runtime,
                          const std::function<bool()>& should_stop,
                          const std::function<void(const std::string&)>& print);

}  // namespace rlgo::calibrate
