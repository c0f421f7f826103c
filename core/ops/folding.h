// How much is worked out of weights alone.
#pragma once

namespace rlgo::ops {

// Operations (Work::flops) in one graph, in double precision: some seconds of one processor. What is beyond stays in
// the model as it is, and no rule makes an operator on weights alone that takes more.
constexpr double kMostFoldedFlops = 1e11;

}  // namespace rlgo::ops
