// How much is computed of weights alone.
#pragma once

#include <cstdint>

namespace rlgo::ops {

// Operations (Work::flops) in one graph, in double precision: some seconds of one processor. What is beyond stays in
// the model as it is, and no rule makes an operator on weights alone that takes more.
constexpr double kMostFoldedFlops = 1e11;

// Folded constants may make a file larger than the constants that they replace by 64 KiB in all. Four steps share them:
// constants that are copied into bodies, shape arithmetic at import, results that are rounded
// (exec::work_out_constants) and all other operators on weights alone at export (exec::fold).
constexpr int64_t kMostGrowth = int64_t{64} << 10;
constexpr int64_t kMostGrowthOfStep = kMostGrowth / 4;

// Larger results of operators on weights alone are not computed, in bytes.
constexpr int64_t kMostFoldedBytes = int64_t{1} << 30;

}  // namespace rlgo::ops
