// That a rewritten model computes the same as the one it was made from, and that the file written is that model.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/cost/runtime.h"
#include "core/optimise/model.h"
#include "core/optimise/result.h"

namespace rlgo::optimise {

struct CheckOptions {
  int seeds = 2;            // random inputs, >= 1
  double tolerance = 1e-4;  // largest relative error
  uint64_t seed = 0;
};

// Compares outputs of `model` and of what `after` was written to, read again, on made-up inputs: by LibTorch, and by
// the runtime (at two sizes where dimensions are open) where that is another one and answers with outputs. `before`:
// the file of the model; used where the runtime reads files.
std::vector<Check> verify(const LoadedModel& model, const std::filesystem::path& before,
                          const cost::RunnableModel& after, cost::Runtime& runtime, const CheckOptions& options);
// Throws Error where checks found a difference (`rules` are named), or where none could compare and not `force`.
void refuse_differences(const std::vector<Check>& checks, double tolerance, const std::string& rules, bool force);

// Operators of the model that round to few bits, "DynamicQuantizeLinear 22"; "" for none.
std::string coarse_steps(const graph::Graph& graph);

// Writes `graph` to `path` and reads it again. Throws Error where what is read is another model than `verified` holds;
// the file is then removed.
void write_and_read_again(const LoadedModel& model, const graph::Graph& graph, const std::filesystem::path& verified,
                          const std::filesystem::path& path);

}  // namespace rlgo::optimise
