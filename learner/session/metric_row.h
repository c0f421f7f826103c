// What a run reports while it continues: the row of metrics.csv that an epoch makes (docs/metrics.md), and its
// options for TensorBoard.
#pragma once

#include "core/report/json.h"
#include "learner/loop.h"
#include "learner/metrics.h"
#include "learner/session/memory.h"
#include "learner/tensorboard.h"

namespace rlgo::learner {

// A line of metrics.csv. `best_us`: see overall_cost().
MetricRow metric_row(const EpochReport& epoch, const LoopState& state, double best_us, const MemoryPeak& memory);

// Options of a document ("options" of rlgo.train/1) that have a value: true or false, a number, a text that is not
// empty.
std::vector<HyperParameter> hyper_parameters(const report::Json& options);

}  // namespace rlgo::learner
