// Why dreams promise what reality does not give: dreams in which parts of each step are the real environment's.
#pragma once

#include <memory>
#include <vector>

#include "actors/dream_env.h"
#include "core/mdp/mdp.h"

namespace rlgo::learner {

// Sum of the rewards of so many steps, mean over starts, percent of the initial cost.
struct SwapReturn {
  int steps = 0;
  double mean = 0;
  double deviation = 0;  // standard error of the mean difference to reality
};

// Dreams of the controller with these parts true.
struct Swap {
  actors::Truth truth;
  std::vector<SwapReturn> returns;  // at each of the horizons
  actors::Apart apart;
};

// From states behind so many random rewrites.
struct SwapCheck {
  int prefix = 0;
  int64_t starts = 0;
  double before = 0;               // sum of the rewards of the prefix, mean over starts
  std::vector<Swap> swaps;         // all eight; the first is the dream, the last is reality
  std::vector<SwapReturn> random;  // in reality, uniform over legal actions but NO-OP
};
// `real` are the environments that the dreamer learned from, one for each start; horizons ascend, and the last is the
// length of a dream.
SwapCheck swap_truths(const std::shared_ptr<actors::Dreamer>& dreamer, std::unique_ptr<mdp::BatchEnv> real,
                      actors::DreamOptions options, int prefix, const std::vector<int>& horizons, uint64_t key);

}  // namespace rlgo::learner
