// Times whole graphs end to end: what the rewards R4 and latency pay for.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "core/cost/runtime.h"
#include "core/cost/whole_timing.h"
#include "core/graph/graph.h"
#include "core/optimise/model.h"

namespace rlgo::optimise {

// Writes a graph that was rewritten from a model's as a file, for runtimes that read files.
using WriteGraph = std::function<void(const LoadedModel&, const graph::Graph&, const std::filesystem::path&)>;

// How often a graph runs. A look loads it and the model's own once, and runs them in turns.
struct WholeTimerOptions {
  int rounds = 9;       // of a look, >= 1
  int least_looks = 1;  // >= 1
  int most_looks = 1;  // >= least_looks; more than the least only while the graph may be as fast as it is compared with
};
// What the reward latency needs: an error that includes where memory lies in a load.
inline WholeTimerOptions looks_for_latency(int rounds) { return {rounds, 2, 4}; }

// The error of a ratio is margin() of the quotients of all rounds, or half of what the looks' medians differ by,
// whichever is larger. Graphs that are equal share their looks. A graph that failed is tried once more when it is asked
// for again, then never: each failure may end a process of the target. Copies share what was timed, and wait for one
// another. Keeps a copy of `model`, which needs its weights where the runtime reads files. `write`: as export_model(),
// which computes constants.
cost::WholeTimer whole_timer(std::shared_ptr<cost::Runtime> runtime, const LoadedModel& model,
                             const WholeTimerOptions& options, WriteGraph write);

// What times are kept apart by: "onnxruntime 1.31.1, AMD EPYC, 1 thread".
std::string timed_under(const cost::Runtime& runtime);

}  // namespace rlgo::optimise
