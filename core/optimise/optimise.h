// One model made faster: import, search for a bounded time, choose by measurement, check, write.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/log.h"
#include "core/base/options.h"
#include "core/base/status_line.h"
#include "core/cost/runtime.h"
#include "core/optimise/model.h"
#include "core/optimise/result.h"
#include "core/optimise/verify.h"
#include "core/rules/rules.h"
#include "core/search/search.h"

namespace rlgo::optimise {

struct OptimiseOptions {
  ModelOptions model;
  CheckOptions check;
  std::string out;                   // the model to write, "" for none
  std::vector<std::string> others;   // other files that the caller writes afterwards; "", "-": none
  std::string method = "portfolio";  // after sweeps: see methods()
  double seconds = 60;               // for all of it, about
  std::string costs;                 // folder of tables of measured costs, kept from call to call; "" for none
  uint64_t seed = 0;                 // of the search
  int max_locations = 200;           // of a rule and graph that a search tries
  int64_t budget = 1'000'000'000;    // matches that a search may try
  std::vector<std::string> inputs;   // "NAME=VALUE": what inputs hold when whole models run
  bool switches = true;              // the runtime's own switches are measured at the end
  bool force = false;                // writes also what is not faster
  std::string allow;                 // "rounding=N": of quantised models (quantised.h); "" for nothing
};

// The methods that --method takes: those of search::names() that record their rewrites; "search" (the usual one),
// "train" (as "search" for half of the time, then by an agent that learns on this model). "sweep": no more than the
// sweeps.
std::vector<std::string> methods();
// Options out, seconds, method, force, those of the model, input.
void declare(OptionSink& sink, OptimiseOptions& options);
// Options cost.folder, budget, switches, those of the checks.
void declare_details(OptionSink& sink, OptimiseOptions& options);

// What the caller chooses by name.
struct OptimiseParts {
  std::shared_ptr<const rules::RuleSet> rules;
  // Asked once, after the model was read. `should_stop` reports so as long as the runtime has not started.
  std::function<std::shared_ptr<cost::Runtime>(std::function<bool()> should_stop)> start_runtime;
  std::shared_ptr<cost::CostModel> formula;  // prices operators in place of the runtime; may be null
  std::string version;                       // of rlgo, for the report
  // Method "train": an agent that learns on this graph while it searches, from where these rewrites lead. Null: there
  // is none here.
  std::function<search::Result(const search::Problem&, const search::Options&, const std::vector<rules::Trace>&)> train;
};

// Throws Error where the model cannot be read, the runtime cannot serve, the rewritten model does not compute the same
// or cannot be written; then nothing is written. `should_stop`: end soon with the best so far.
Result optimise(const OptimiseOptions& options, const OptimiseParts& parts, const Log& log, StatusLine& line,
                const std::function<bool()>& should_stop);

}  // namespace rlgo::optimise
