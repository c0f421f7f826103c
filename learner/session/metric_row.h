// The row of metrics.csv that an epoch makes (docs/metrics.md).
#pragma once

#include "learner/loop.h"
#include "learner/metrics.h"
#include "learner/session/best.h"
#include "learner/session/memory.h"

namespace rlgo::learner {

MetricRow metric_row(const EpochReport& epoch, const LoopState& state, const BestGraph& best, const MemoryPeak& memory);

}  // namespace rlgo::learner
