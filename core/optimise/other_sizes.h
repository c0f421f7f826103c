// How fast a result is at sizes of open dimensions other than those at which its costs were taken.
#pragma once

#include <string>

#include "core/optimise/benchmark.h"
#include "core/optimise/clock.h"
#include "core/optimise/result.h"

namespace rlgo::optimise {

// Times original and result at the sizes at which the checks ran both in the runtime (result.ran_at), the smallest
// first, as long as there is time; that one in any case where it takes no longer than two seconds. Sets
// result.at_sizes. The runtime's input shapes are those of result.before again when it returns.
void measure_at_sizes(cost::Runtime& runtime, const cost::InputShapes& usual, Benchmark& benchmark,
                      const OptimiseClock& clock, Result& result);

// "at N=1 0.76 (0.70 to 0.83) of the latency, at N=7 slower: 1.10 (1.04 to 1.17)"; "" where none was timed.
std::string at_sizes_text(const std::vector<SizeLatency>& at_sizes);

}  // namespace rlgo::optimise
