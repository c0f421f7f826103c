// The end of a run: the best graph is rebuilt, polished, checked, measured, written, and summed up.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/log.h"
#include "core/cost/cost.h"
#include "core/cost/runtime.h"
#include "core/optimise/benchmark.h"
#include "core/optimise/replay.h"
#include "core/optimise/result.h"
#include "core/rules/trace.h"
#include "launch/config.h"
#include "launch/model.h"
#include "launch/train/run_folder.h"
#include "learner/session/best.h"

namespace rlgo::launch {

// Counts of the training, for the summary.
struct Interactions {
  int64_t steps = 0, episodes = 0, lost_episodes = 0, epochs = 0;
  double seconds = 0;
  std::string agent, stop_reason;
};

struct OutcomeInput {
  const RunConfig& config;
  const RunFolder& folder;
  const LoadedModel& model;
  std::shared_ptr<const rules::RuleSet> rules;
  cost::CostModel& cost;
  cost::Runtime& runtime;
  Interactions interactions;
  std::function<bool()> should_stop;  // cuts the polish short
};

// How far graphs before and after agree, and their latency.
struct Verdict {
  std::vector<optimise::Check> checks;
  optimise::Latency latency;
  std::string runtime;  // that they were timed in: "LibTorch, AMD EPYC", "onnxruntime 1.31.1, AMD EPYC"
};

// The trace's rewrites of the model.
optimise::Replayed replayed(const LoadedModel& model, std::shared_ptr<const rules::RuleSet> rules,
                            const rules::Trace& trace);
// `model`'s graph and the one rewritten from it. Throws Error where they differ by more than the tolerance.
Verdict judge(const RunConfig& config, const LoadedModel& model, const optimise::Replayed& after,
              cost::Runtime& runtime);
// Lines about a verdict, for summaries.
std::string to_text(const Verdict& verdict, const RunConfig& config);

// Writes best.trace, best.onnx, summary.txt and result.json (document "rlgo.train/1");
// returns the summary. Throws Error where the result does not compute the
// same (nothing is written then) or cannot be written.
std::string conclude(const OutcomeInput& input, learner::BestGraph& best, const Log& log);

}  // namespace rlgo::launch
