// Times whole graphs end to end: what reward R4 pays for.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "core/cost/runtime.h"
#include "core/graph/graph.h"
#include "core/optimise/model.h"

namespace rlgo::optimise {

// Latency of a graph that was rewritten from a model's, us. Throws Error where the runtime cannot run it.
using WholeTimer = std::function<double(const graph::Graph&)>;

// Writes a graph that was rewritten from a model's as a file, for runtimes that read files.
using WriteGraph = std::function<void(const LoadedModel&, const graph::Graph&, const std::filesystem::path&)>;

// Each graph runs in turns with the model's own, `repeats` (>= 1) rounds: the model's latency, taken once, times the
// median of their quotients, so that a machine whose speed drifts pays nothing for it. Graphs that are equal are timed
// once. Copies share what was timed, and wait for one another. Keeps a copy of `model`, which needs its weights where
// the runtime reads files. `write`: as export_model(), which computes constants.
WholeTimer whole_timer(std::shared_ptr<cost::Runtime> runtime, const LoadedModel& model, int repeats, WriteGraph write);

}  // namespace rlgo::optimise
