#include "core/cost/analytic.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"

namespace rlgo::cost {
namespace {

using ops::Attr;
using ops::Op;

// Rises from 0 to 1; one half at `half`: the part of the time that is not start-up of vectors and loops.
double saturation(double size, double half) { return size / (size + half); }

// Kernels for dense convolution are tuned for these windows.
constexpr double kDense1x1 = 0.80;
constexpr double kDense3x3 = 0.75;
constexpr double kDenseOther = 0.65;
// Depthwise kernels vectorise over channels but do little arithmetic per load.
constexpr double kDepthwise = 0.12;
constexpr double kMatmul = 0.65;
constexpr double kElementwise = 0.06;  // one operation per load and store, no fused multiply-add
constexpr double kReduction = 0.10;

// Half-saturation sizes.
constexpr double kHalfSum = 32;  // terms of one output element
constexpr double kHalfOutChannels = 8;
constexpr double kHalfGroupChannels = 24;  // fits the measurements of RESEARCH.md 1.5 for groups 1..32
constexpr double kHalfPixels = 16;
constexpr double kHalfRows = 4;
constexpr double kHalfColumns = 8;

double conv_efficiency(const ops::Types& in, const ops::TensorType& out, const ops::Attrs& attrs) {
  const auto& w = in[1].shape;  // [O, C/group, kh, kw]
  const auto group = static_cast<double>(attrs.i(Attr::group));
  const auto out_per_group = static_cast<double>(w[0]) / group;
  const auto in_per_group = static_cast<double>(w[1]);
  const auto window = static_cast<double>(w[2] * w[3]);
  const auto pixels = static_cast<double>(out.shape[0] * out.shape[2] * out.shape[3]);
  if (group > 1 && in_per_group == 1) return kDepthwise * saturation(pixels, kHalfPixels);
  double base = kDenseOther;
  if (window == 1) base = kDense1x1;
  if (w[2] == 3 && w[3] == 3) base = kDense3x3;
  base *= saturation(pixels, kHalfPixels);
  if (group > 1) {
    return base * saturation(in_per_group, kHalfGroupChannels) * saturation(out_per_group, kHalfGroupChannels);
  }
  return base * saturation(in_per_group * window, kHalfSum) * saturation(out_per_group, kHalfOutChannels);
}

double matmul_efficiency(const ops::Types& in, const ops::TensorType& out) {
  const auto sum = static_cast<double>(in[0].shape.back());
  const auto columns = static_cast<double>(out.shape.back());
  double rows = static_cast<double>(out.shape[out.shape.size() - 2]);
  // A weight matrix that all batches share is one tall product.
  if (in[1].rank() == 2) rows = static_cast<double>(out.elements()) / std::max(columns, 1.0);
  return kMatmul * saturation(rows, kHalfRows) * saturation(sum, kHalfSum) * saturation(columns, kHalfColumns);
}

// Share of the bandwidth that the operator's access pattern reaches.
double bandwidth_efficiency(Op op) {
  switch (op) {
    case Op::transpose:
      return 0.4;  // strided on one side
    case Op::gather:
    case Op::slice:
    case Op::pad:
      return 0.7;
    default:
      return 1.0;
  }
}

}  // namespace

double arithmetic_efficiency(const graph::Graph& graph, graph::NodeId id) {
  const graph::Node& node = graph.node(id);
  double efficiency = kElementwise;
  switch (node.op()) {
    case Op::conv2d:
      efficiency = conv_efficiency(graph.input_types(id), node.info->outputs[0], node.attrs());
      break;
    case Op::matmul:
      efficiency = matmul_efficiency(graph.input_types(id), node.info->outputs[0]);
      break;
    case Op::conv_transpose:
      efficiency = kDenseOther;
      break;
    case Op::softmax:
    case Op::layer_norm:
    case Op::reduce_mean:
    case Op::reduce_sum:
    case Op::reduce_max:
    case Op::max_pool:
    case Op::avg_pool:
    case Op::global_avg_pool:
      efficiency = kReduction;
      break;
    default:
      break;
  }
  return std::max(efficiency, 1e-4);
}

AnalyticCost::AnalyticCost(const AnalyticOptions& options) : options_(options) {
  const auto check = [](const char* name, double value, bool zero_allowed) {
    if (!std::isfinite(value) || value < 0 || (value == 0 && !zero_allowed)) {
      fail("analytic cost: {} must be {}, not {}", name, zero_allowed ? "at least 0" : "above 0", value);
    }
  };
  check("peak_gflops", options.peak_gflops, false);
  check("memory_gbytes_per_s", options.memory_gbytes_per_s, false);
  check("cache_gbytes_per_s", options.cache_gbytes_per_s, false);
  check("cache_bytes", options.cache_bytes, true);
  check("launch_us", options.launch_us, true);
}

double AnalyticCost::bytes_us(double bytes) const {
  const double cached = std::min(bytes, options_.cache_bytes);
  // 1 GB/s is 1000 bytes a microsecond.
  return cached / (options_.cache_gbytes_per_s * 1e3) + (bytes - cached) / (options_.memory_gbytes_per_s * 1e3);
}

double AnalyticCost::op_us(const graph::Graph& graph, graph::NodeId id) {
  if (is_free(graph.node(id))) return 0;
  const ops::Work& work = graph.node(id).info->work;
  const double flops_us = work.flops / (options_.peak_gflops * 1e3 * arithmetic_efficiency(graph, id));
  const double moved_us = bytes_us(work.bytes) / bandwidth_efficiency(graph.node(id).op());
  return options_.launch_us + std::max(flops_us, moved_us);
}

}  // namespace rlgo::cost
