// The end of a run: the best graph is rebuilt, searched on from, checked, measured, written, and summed up.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "core/base/log.h"
#include "core/cost/cost.h"
#include "core/cost/runtime.h"
#include "core/optimise/model.h"
#include "core/optimise/verify.h"
#include "core/report/json.h"
#include "core/rules/trace.h"
#include "learner/session/best.h"
#include "learner/session/run_folder.h"
#include "learner/session/whole_timings.h"

namespace rlgo::learner {

// Counts of the training, for the summary.
struct Interactions {
  int64_t steps = 0, episodes = 0, lost_episodes = 0, epochs = 0;
  double seconds = 0;
  std::string agent, stop_reason;
  std::string form;           // of the agent, behind its name: agent_form()
  WholeTimings timings = {};  // of reward latency
};

struct OutcomeInput {
  const RunFolder& folder;
  const optimise::LoadedModel& model;
  std::shared_ptr<const rules::RuleSet> rules;
  cost::CostModel& cost;
  cost::Runtime& runtime;
  Interactions interactions;
  std::string graph;        // as --graph named it
  uint64_t seed = 0;        // of the run
  int max_locations = 200;  // of one rule that the agent was offered
  bool polish = true;       // search on, from the best graph and from the unmodified one; take the cheapest
  double polish_s = 10;     // s: at most, for the search `portfolio`, from both; 0: greedy rewriting only
  rules::Trace start = {};  // the best that searches gave the agent to start from; empty: nothing
  bool by_latency = false;  // candidates are timed whole, and the fastest is taken, whatever it costs
  optimise::CheckOptions check = {};
  std::function<bool()> should_stop = {};  // cuts polish and measurement short
};

struct Outcome {
  std::string summary;  // for people
  report::Json json;    // members of the document "rlgo.train/1"
};
// Writes best.trace, best.onnx and summary.txt. Throws Error where the result does not compute the same (nothing is
// written then) or cannot be written.
Outcome conclude(const OutcomeInput& input, BestGraph& best, const Log& log);

}  // namespace rlgo::learner
