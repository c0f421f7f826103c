// The first time that the runtime runs the model: with synthetic sizes of open dimensions, else with likely ones.
#pragma once

#include <cstdint>
#include <string>

#include "core/cost/runtime.h"
#include "core/optimise/benchmark.h"
#include "core/optimise/clock.h"
#include "core/optimise/model.h"
#include "core/optimise/result.h"

namespace rlgo::optimise {

// Why the model is not run with so much memory, or "": of one operator all tensors are held at once, and the checks
// hold them in double precision. A model that passes may still need more.
std::string no_room(const graph::Graph& graph, uint64_t available_bytes);
// Why the model is not run however long that may take, or "": operators on weights alone would be computed for each
// of its checks, and take more than ops::kMostFoldedFlops.
std::string too_much_folding(const graph::Graph& graph);

// Times the model alone. Where it does not run at the sizes that it was read with, likely sizes are tried; `model`, the
// runtime's shapes and `result` are then at the first ones with which it runs, and result.sizes states which. The
// numbers that the runtime assumed for inputs hold for all further models. False: it does not run at all; `result` is
// then complete and its verdict states why. `given`: as the user asked for it. Trying sizes has a fraction of the time.
bool first_run(const ModelOptions& given, LoadedModel& model, Benchmark& benchmark, cost::Runtime& runtime,
               OptimiseClock& clock, Result& result);

}  // namespace rlgo::optimise
