#include "core/cost/analytic.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/cost/profile.h"
#include "core/ops/moves.h"
#include "core/ops/windows.h"

namespace rlgo::cost {
namespace {

using ops::Attr;
using ops::Op;

constexpr double kLeastEfficiency = 1e-4;
constexpr double kDepthwiseLine = 0.4;  // of a depthwise image's, along one axis: runtimes block images only

// Rises from 0 to 1; one half at `half`: the part of the time that is not start-up of vectors, loops, or threads.
double saturation(double size, double half) { return half == 0 ? 1.0 : size / (size + half); }

double elements(const graph::Node& node) {
  double sum = 0;
  for (const ops::TensorType& type : node.info->outputs) sum += static_cast<double>(type.elements());
  return sum;
}

// Fraction of the bandwidth that the operator's access pattern reaches.
double stream_fraction(Op op, const AnalyticOptions& options) {
  switch (op) {
    case Op::transpose:
      return options.stream_transpose;
    case Op::gather:
      return options.stream_gather;
    case Op::slice:
      return options.stream_slice;
    case Op::pad:
      return options.stream_pad;
    case Op::concat:
      return options.stream_concat;
    case Op::split:
      return options.stream_split;
    default:
      return 1.0;
  }
}

}  // namespace

AnalyticCost::AnalyticCost(const AnalyticOptions& options, const std::string& profile)
    : options_(options), name_(profile == "cpu" ? "analytic" : "analytic:" + profile) {
  try {
    check(options);
  } catch (const Error& e) {
    throw e.in("analytic cost");
  }
}

double AnalyticCost::conv_efficiency(const graph::Graph& graph, graph::NodeId id) const {
  const graph::Node& node = graph.node(id);
  const auto& w = graph.type(node.inputs[1]).shape;  // [O, C/group, kernel]
  const auto& out = node.info->outputs[0].shape;
  const auto group = static_cast<double>(node.attrs().i(Attr::group));
  const auto out_per_group = static_cast<double>(w[0]) / group;
  const auto in_per_group = static_cast<double>(w[1]);
  const auto window = static_cast<double>(ops::window_elements(w));
  const auto pixels = static_cast<double>(out[0] * ops::window_elements(out));
  if (group > 1 && in_per_group == 1) {
    return options_.conv_depthwise * saturation(pixels, options_.half_pixels) * (w.size() == 3 ? kDepthwiseLine : 1);
  }
  double base = options_.conv_other;
  if (window == 1) base = options_.conv_1x1;
  if (w.size() == 4 && w[2] == 3 && w[3] == 3) base = options_.conv_3x3;
  base *= saturation(pixels, options_.half_pixels);
  if (group > 1) {
    return base * saturation(in_per_group, options_.half_group_channels) *
           saturation(out_per_group, options_.half_group_channels);
  }
  return base * saturation(in_per_group * window, options_.half_sum) *
         saturation(out_per_group, options_.half_out_channels);
}

double AnalyticCost::matmul_efficiency(const graph::Graph& graph, graph::NodeId id) const {
  const graph::Node& node = graph.node(id);
  const auto& a = graph.type(node.inputs[0]);
  const auto& out = node.info->outputs[0];
  const auto sum = static_cast<double>(a.shape.back());
  const auto columns = static_cast<double>(out.shape.back());
  double rows = static_cast<double>(out.shape[out.shape.size() - 2]);
  // A weight matrix that all batches share is one tall product.
  if (graph.type(node.inputs[1]).rank() == 2) rows = static_cast<double>(out.elements()) / std::max(columns, 1.0);
  return options_.matmul * saturation(rows, options_.half_rows) * saturation(sum, options_.half_sum) *
         saturation(columns, options_.half_columns);
}

double AnalyticCost::arithmetic_efficiency(const graph::Graph& graph, graph::NodeId id) const {
  const Op op = graph.node(id).op();
  double efficiency = ops::is_reduction(op)       ? options_.reduce
                      : ops::is_normalisation(op) ? options_.layer_norm
                                                  : options_.elementwise;
  switch (op) {
    case Op::conv2d:
      efficiency = conv_efficiency(graph, id);
      break;
    case Op::matmul:
      efficiency = matmul_efficiency(graph, id);
      break;
    case Op::conv_transpose:
      efficiency = options_.conv_transpose;
      break;
    case Op::softmax:
    case Op::log_softmax:
      efficiency = options_.softmax;
      break;
    case Op::max_pool:
    case Op::avg_pool:
    case Op::global_avg_pool:
      efficiency = options_.pool;
      break;
    default:
      break;
  }
  return std::max(efficiency, kLeastEfficiency);
}

double AnalyticCost::arithmetic_us(const graph::Graph& graph, graph::NodeId id) const {
  const graph::Node& node = graph.node(id);
  const double flops = node.info->work.flops;
  if (flops == 0) return 0;
  const double full_us = flops / (options_.peak_gflops * 1e3 * arithmetic_efficiency(graph, id));
  return options_.half_outputs == 0 ? full_us : full_us / saturation(elements(node), options_.half_outputs);
}

double AnalyticCost::moving_us(const graph::Graph& graph, graph::NodeId id) const {
  const graph::Node& node = graph.node(id);
  const double bytes = node.info->work.bytes;
  const double cached = std::min(bytes, options_.cache_bytes);
  // 1 GB/s is 1000 bytes a microsecond.
  const double full_us =
      cached / (options_.cache_gbytes_per_s * 1e3) + (bytes - cached) / (options_.memory_gbytes_per_s * 1e3);
  const double fraction = bytes == 0 ? 1.0 : std::max(options_.least_bandwidth, saturation(bytes, options_.half_bytes));
  return full_us / stream_fraction(node.op(), options_) / fraction;
}

double AnalyticCost::op_us(const graph::Graph& graph, graph::NodeId id) {
  if (is_free(graph.node(id))) return 0;
  return options_.launch_us + std::max(arithmetic_us(graph, id), moving_us(graph, id));
}

}  // namespace rlgo::cost
