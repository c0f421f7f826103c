// The runtime that will serve the model (--target): its measurer, and whole models timed under it.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/log.h"
#include "core/exec/device.h"
#include "core/graph/graph.h"
#include "core/measure/measurer.h"
#include "launch/config.h"
#include "core/optimise/model.h"

namespace rlgo::launch {

// True where --target is not libtorch: times come from a measurer.
bool is_external(const RunConfig& config);
// "LibTorch", "onnxruntime 1.31.1".
std::string target_name(const measure::Measurer* measurer);
// The command line of a target's measurer. Throws Error where a shipped one is not found.
std::vector<std::string> measurer_command(const RunConfig& config);
// Starts the measurer; null for libtorch. Throws Error where it cannot serve (a missing package is named).
std::shared_ptr<measure::Measurer> start_target(const RunConfig& config, const Log& log = {},
                                                std::function<bool()> should_stop = {});

// Latency of whole graphs, in turns, the first being the one to compare with: under the measurer, each exported as it
// would be delivered, or (null) in LibTorch on `device`. All graphs were made from `model`. Throws Error where the
// first one cannot be exported or LibTorch cannot run one; other failures are told in the result.
measure::Comparison compare_graphs(const RunConfig& config, const LoadedModel& model,
                                   std::span<const graph::Graph* const> graphs, measure::Measurer* measurer,
                                   const exec::Device& device, int repeats);

}  // namespace rlgo::launch
