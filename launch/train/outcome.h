// The end of a run: the best graph is rebuilt, polished, checked, measured, written, and summed up.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/base/log.h"
#include "core/cost/cost.h"
#include "core/exec/device.h"
#include "core/exec/equivalence.h"
#include "core/measure/measurer.h"
#include "launch/config.h"
#include "core/optimise/model.h"
#include "launch/train/best.h"
#include "launch/train/run_folder.h"

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
  measure::Measurer* measurer;  // of the target; null: LibTorch
  exec::Device device;
  Interactions interactions;
  std::function<bool()> should_stop;  // cuts the polish short
};

// Graph before and after by sum of operators and end to end, and how far they agree.
struct Verdict {
  exec::Equivalence equivalence;
  measure::Timing before, after;
  double ratio = 1;        // of the times, after to before, median over interleaved runs
  double noise = 0;        // |1 - ratio| of the unmodified graph to itself, in the same runs
  std::string unmeasured;  // why the target has no times for them; "" where it has
  std::string runtime;     // that they were timed in: "LibTorch, cpu", "onnxruntime 1.31.1"
};

// `model`'s graph and the one rewritten from it. Throws Error where they differ by more than the tolerance.
Verdict judge(const RunConfig& config, const LoadedModel& model, const graph::Graph& after, measure::Measurer* measurer,
              const exec::Device& device);
// Lines about a verdict, for summaries.
std::string to_text(const Verdict& verdict, const RunConfig& config);
// "53 x fold-batch-norm-into-conv, 49 x ...", most frequent first.
std::string count_rules(const env::Trace& trace, const rules::RuleSet& rules);

// Writes best.trace, best.onnx and summary.txt; returns the summary. Throws Error where the result does not compute the
// same (nothing is written then) or cannot be written.
std::string conclude(const OutcomeInput& input, BestGraph& best, const Log& log);

}  // namespace rlgo::launch
