// Measured times of operators and graphs, by LibTorch on the device that will run them. On the CPU with one thread it
// is the time that the thread ran, so that other processes on the machine do not count; else it is elapsed time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/deadline.h"
#include "core/cost/timing.h"
#include "core/exec/device.h"
#include "core/graph/graph.h"

namespace rlgo::exec {

// Fewer than `repeats` samples, but at least 3, are taken where they would last longer than max_total_us.
struct MeasureOptions : cost::TimingOptions {
  double max_total_us = 200'000;  // for all samples of one operator, about
  double max_seconds = 1e9;       // graphs: when so much has passed since the call, no further round is begun
  int least_repeats = 1;          // ... once there are so many
  uint64_t seed = 1;              // of the synthetic inputs and the order of graphs
  Deadline deadline = {};         // no run of a graph and no sample of an operator is begun after it: Stopped
};

// Times of one run.
struct Measurement {
  double median_us = 0;
  double spread_us = 0;  // interquartile range of the samples
  int samples = 0;
  int batch = 1;                       // runs per sample
  std::vector<double> rounds_us = {};  // measure_graphs(): the samples, round by round
};

// Runs the operator's kernel on synthetic inputs; inputs stay in cache where they fit, weights are not prepared
// beforehand. Zero for reshape (a view) and for leaves and opaque operators. `attrs` need not be complete. Throws Error
// where inputs and attributes do not fit together or the kernel fails.
Measurement measure_op(ops::Op op, const ops::Attrs& attrs, const ops::Types& inputs, const Device& device,
                       const MeasureOptions& options = {});

// End-to-end latency of one Interpreter run of each graph. Each of `repeats` rounds runs every graph once (batched as
// above, after one run that does not count) in random order, so that drift of the machine meets all of them alike;
// max_total_us is not used, max_seconds is.
std::vector<Measurement> measure_graphs(std::span<const graph::Graph* const> graphs, const Device& device,
                                        const MeasureOptions& options = {});

}  // namespace rlgo::exec
