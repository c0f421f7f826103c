// `rlgo optimise`: import, search for a bounded time, choose by measurement, check, write.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/base/log.h"
#include "launch/config.h"
#include "core/optimise/result.h"
#include "core/base/status_line.h"

namespace rlgo::launch {

struct OptimiseRequest {
  RunConfig config;                 // graph, dims, rules, target, cost options, seed, outcome.tolerance
  std::string out;                  // the model to write, "" for none
  std::string method = "taso";      // after greedy: a method of search::names(), or "greedy" alone
  double seconds = 60;              // for all of it, about
  std::string prices;               // folder of tables of measured costs, "" for none
  int64_t budget = 1'000'000;       // matches that a search may try
  int64_t rounds = 31;              // end-to-end runs of each model at most
  std::vector<std::string> inputs;  // "NAME=VALUE": what inputs hold when whole models run
  bool force = false;               // writes also what is not faster
};

// Throws Error where the model cannot be read, the target cannot serve, the rewritten model does not compute the same
// or cannot be written; then nothing is written. `should_stop`: end soon with the best so far.
Story optimise(const OptimiseRequest& request, const Log& log, StatusLine& line,
               const std::function<bool()>& should_stop);

}  // namespace rlgo::launch
