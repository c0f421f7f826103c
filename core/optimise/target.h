// The runtime that will serve a model, chosen by name: LibTorch, or the measurer of another runtime.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/log.h"
#include "core/base/options.h"
#include "core/cost/runtime.h"
#include "core/cost/timing.h"

namespace rlgo::optimise {

struct TargetOptions {
  std::string runtime = "libtorch";  // or "cuda", a shipped measurer's name, or a measurer's command line
  std::string folder;                // of what `rlgo calibrate` learned on this machine; "": none
  std::string python;                // runs the shipped measurers; "": that of set-up, else python3
  // Runs in this process, and prices single operators; else a measurer's.
  bool is_own() const { return runtime == "libtorch" || runtime == "cuda"; }
};

// Option target.
void declare(OptionSink& sink, TargetOptions& options);
// Option target.python.
void declare_details(OptionSink& sink, TargetOptions& options);

// "auto", "libtorch", "cuda", and the shipped measurers.
std::vector<std::string> known_targets();
// Throws UsageError where it is one word that is neither a known runtime nor a program in one of the folders of `path`
// (as the variable PATH has them); names the known ones.
void check_target(const TargetOptions& target, const std::string& path);

struct RuntimeOptions {
  TargetOptions target;  // with a python
  cost::TimingOptions timing;
  std::string device = "auto";  // of the targets of its own, see exec::resolve_device
  uint64_t seed = 0;
  // Start the targets "libtorch" and "cuda". Null: this build of rlgo has no LibTorch.
  using Start = std::function<std::shared_ptr<cost::Runtime>(const RuntimeOptions&, const Log&, std::function<bool()>)>;
  Start libtorch, cuda;
};
// LibTorch on a device, or the measurer of the target, started. "auto": ONNX Runtime where it is installed, else
// LibTorch where this build has it. Throws Error where it cannot serve (a missing package is named).
std::shared_ptr<cost::Runtime> start_runtime(const RuntimeOptions& options, const Log& log = {},
                                             std::function<bool()> should_stop = {});

}  // namespace rlgo::optimise
