// The runtime that will serve the model (--target).
#pragma once

#include <functional>
#include <memory>

#include "core/base/log.h"
#include "core/cost/runtime.h"
#include "launch/problem.h"

namespace rlgo::launch {

// The Python that runs the measurers that rlgo ships: --target.python, else that of set-up, else python3.
std::string measurer_python(const Problem& config);
// Throws UsageError where it is one word that is neither a known runtime nor a program on PATH; names the known ones.
void check_target(const TargetOptions& target);
// LibTorch or cuDNN on --device, or the measurer of --target, started. "auto": ONNX Runtime where it is installed, else
// LibTorch. Throws Error where it cannot serve (a missing package is named).
std::shared_ptr<cost::Runtime> start_runtime(const Problem& problem, const Log& log = {},
                                             std::function<bool()> should_stop = {});

}  // namespace rlgo::launch
