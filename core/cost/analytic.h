// A cost model that needs no hardware: the default of tests, and of runs that must be equal on all machines.
#pragma once

#include <string>

#include "core/cost/cost.h"

namespace rlgo::cost {

// What the machine can do. The defaults describe one core of a recent x86 server with 512-bit vectors (2.5 GHz, two
// fused multiply-add units): they put resnet50 and bert where one-thread ONNX Runtime measures them. They are those of
// configs/costs/cpu.cost; profile.h reads other ones.
struct AnalyticOptions {
  double peak_gflops = 160.0;         // arithmetic, f32, > 0
  double memory_gbytes_per_s = 12.0;  // streams that do not fit the cache, > 0
  double cache_gbytes_per_s = 60.0;   // the first cache_bytes of an operator's traffic, > 0
  double cache_bytes = 1 << 20;       // second-level cache, >= 0
  double launch_us = 2.0;             // for each operator that runs, >= 0

  // A machine that runs many threads needs large operators to fill it. Each share rises from 0 to 1 with the size, and
  // is one half at the size named here; 0: it is always 1.
  double half_outputs = 0;     // output elements, >= 0: of arithmetic
  double half_bytes = 0;       // inputs and outputs, >= 0: of the bandwidth
  double least_bandwidth = 0;  // the bandwidth's share is never below, in [0, 1]

  // Shares of the peak that an operator's arithmetic reaches where sizes do not hold it back, > 0. Kernels for dense
  // convolution are tuned for windows of 1x1 and 3x3; depthwise ones do little arithmetic per load; element by element
  // there is one operation per load and store, and no fused multiply-add.
  double conv_1x1 = 0.80, conv_3x3 = 0.75, conv_other = 0.65, conv_depthwise = 0.12, conv_transpose = 0.65;
  double matmul = 0.65, elementwise = 0.06;
  double pool = 0.10, reduce = 0.10, softmax = 0.10, layer_norm = 0.10;

  // Shares of the bandwidth that the access pattern of an operator reaches, > 0; 1 for those not named.
  double stream_transpose = 0.4;  // strided on one side
  double stream_gather = 0.7, stream_slice = 0.7, stream_pad = 0.7;
  double stream_concat = 1.0, stream_split = 1.0;

  // Sizes at which vectors and registers are half filled, >= 0.
  double half_sum = 32;             // terms of one output element: convolutions, matmuls
  double half_out_channels = 8;     // dense convolutions
  double half_group_channels = 24;  // grouped ones, per group: fits measurements of a ResNeXt block with 1 to 32 groups
  double half_pixels = 16;          // convolutions
  double half_rows = 4, half_columns = 8;  // matmuls

  bool operator==(const AnalyticOptions&) const = default;
};

// Roofline with an efficiency term: launch + max(flops / (peak x efficiency), bytes / bandwidth).
//
// A model that is monotone in FLOPs misses the optimum (the best group number of a ResNeXt convolution is neither the
// smallest nor the largest: docs/costs.md), so arithmetic runs at a fraction of the peak that falls when vectors and
// registers cannot be filled: few channels per group, short sums, small matrices, windows other than 1x1.
class AnalyticCost : public CostModel {
 public:
  // `profile`: the options' word for it, in name(). Throws Error where an option is out of range.
  explicit AnalyticCost(const AnalyticOptions& options = {}, const std::string& profile = "cpu");
  // "analytic" for profile cpu, else "analytic:PROFILE".
  std::string name() const override { return name_; }
  double op_us(const graph::Graph& graph, graph::NodeId id) override;
  // Fraction of the peak in (0, 1] that an operator's arithmetic reaches.
  double arithmetic_efficiency(const graph::Graph& graph, graph::NodeId id) const;

 private:
  double conv_efficiency(const graph::Graph& graph, graph::NodeId id) const;
  double matmul_efficiency(const graph::Graph& graph, graph::NodeId id) const;
  double arithmetic_us(const graph::Graph& graph, graph::NodeId id) const;
  double moving_us(const graph::Graph& graph, graph::NodeId id) const;

  AnalyticOptions options_;
  std::string name_;
};

}  // namespace rlgo::cost
