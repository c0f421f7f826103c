// A rewritten model next to its original: whether it computes the same, and which is faster. What a training, a search
// with --out and a replay end with.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/cost/runtime.h"
#include "core/optimise/benchmark.h"
#include "core/optimise/model.h"
#include "core/optimise/result.h"
#include "core/optimise/verify.h"
#include "core/rules/script.h"
#include "core/rules/trace.h"

namespace rlgo::optimise {

// How far graphs before and after agree, and their latency.
struct Judgement {
  std::vector<Check> checks;
  Latency latency;
  std::string runtime;  // that they were timed in: "LibTorch, AMD EPYC", "onnxruntime 1.31.1, AMD EPYC"
  int threads = 1;
};

// The trace's rewrites of the model.
rules::Replayed replayed(const LoadedModel& model, const std::shared_ptr<const rules::RuleSet>& rules,
                         const rules::Trace& trace);
// The same as a file: with the cost of the graph after each rewrite.
rules::TraceFile trace_file(const LoadedModel& model, const std::shared_ptr<const rules::RuleSet>& rules,
                            const rules::Trace& trace, cost::CostModel& cost);
// `model`'s graph and the one rewritten from it. Throws Error where they differ by more than the tolerance.
// `should_stop` ends the measurement, not the checks.
Judgement judge(const LoadedModel& model, const rules::Replayed& after, cost::Runtime& runtime,
                const CheckOptions& options, const std::function<bool()>& should_stop = {});
// Lines about it, for summaries.
std::string to_text(const Judgement& judgement);

}  // namespace rlgo::optimise
