// The runtime that will serve the model (--target).
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/log.h"
#include "core/cost/runtime.h"
#include "launch/config.h"
#include "learner/session/run_folder.h"

namespace rlgo::launch {

// The Python that runs the measurers that rlgo ships: --target.python, else that of set-up, else python3.
std::string measurer_python(const RunConfig& config);
// Throws UsageError where it is one word that is neither a known runtime nor a program on PATH; names the known ones.
void check_target(const TargetOptions& target);
// The options of a run folder, for what the command line leaves open. A folder may be somebody else's: a measurer's
// command, or a Python, that stands in its config.cfg is not run. Throws Error that names the folder and what to say on
// the command line to run it all the same.
void read_run_options(Options& options, RunConfig& config, const learner::RunFolder& folder);
// LibTorch on --device, or the measurer of --target, started. "auto": ONNX Runtime where it is installed, else
// LibTorch. Throws Error where it cannot serve (a missing package is named).
std::shared_ptr<cost::Runtime> start_runtime(const RunConfig& config, const Log& log = {},
                                             std::function<bool()> should_stop = {});

}  // namespace rlgo::launch
