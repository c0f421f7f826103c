// A cost model that needs no hardware: the default of tests, and of runs that must be equal on all machines.
#pragma once

#include "core/cost/cost.h"

namespace rlgo::cost {

// What the machine can do. The defaults describe one core of a recent x86 server with 512-bit vectors (2.5 GHz, two
// fused multiply-add units): they put resnet50 and bert where one-thread ONNX Runtime measures them (RESEARCH.md 6).
struct AnalyticOptions {
  double peak_gflops = 160.0;         // arithmetic, f32, > 0
  double memory_gbytes_per_s = 12.0;  // streams that do not fit the cache, > 0
  double cache_gbytes_per_s = 60.0;   // the first cache_bytes of an operator's traffic, > 0
  double cache_bytes = 1 << 20;       // second-level cache, >= 0
  double launch_us = 2.0;             // for each operator that runs, >= 0
};

// Roofline with an efficiency term: launch + max(flops / (peak x efficiency), bytes / bandwidth).
//
// A model that is monotone in FLOPs misses the optimum (RESEARCH.md 1.5: the best group number of a ResNeXt convolution
// is neither the smallest nor the largest), so arithmetic runs at a share of the peak that falls when vectors and
// registers cannot be filled: few channels per group, short sums, small matrices, windows other than 1x1.
class AnalyticCost : public CostModel {
 public:
  // Throws Error where an option is out of range.
  explicit AnalyticCost(const AnalyticOptions& options = {});
  std::string name() const override { return "analytic"; }
  double op_us(const graph::Graph& graph, graph::NodeId id) override;

 private:
  double bytes_us(double bytes) const;
  AnalyticOptions options_;
};

// Share of the peak in (0, 1] that an operator's arithmetic reaches.
double arithmetic_efficiency(const graph::Graph& graph, graph::NodeId id);

}  // namespace rlgo::cost
