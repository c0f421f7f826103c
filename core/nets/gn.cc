#include "core/nets/gn.h"

#include <cmath>

#include "core/base/error.h"
#include "core/nets/graph_ops.h"

namespace rlgo::nets {
namespace {

const double kReluGain = std::sqrt(2.0);

torch::nn::LayerNorm layer_norm(int64_t width) { return torch::nn::LayerNorm(torch::nn::LayerNormOptions({width})); }

}  // namespace

Tensor pool(const Tensor& x, const Tensor& index, int64_t rows, bool mean) {
  auto sums = scatter_sum(x, index, rows);
  if (!mean) return sums;
  const auto counts = scatter_sum(torch::ones({x.size(0), 1}, x.options()), index, rows);
  return sums / counts.clamp_min(1);
}

GnBlockImpl::GnBlockImpl(const EncoderOptions& options, Rng& rng) : options_(options) {
  const int64_t w = options.width;
  const int64_t received_width = options.both_directions ? 2 * w : w;
  const double gain = kReluGain;
  edge_in_ = register_module("edge_in", Dense(w, w, rng, DenseOptions{.gain = gain, .fan_in = 4 * w}));
  edge_out_ = register_module("edge_out", Dense(w, w, rng));
  node_in_ = register_module(
      "node_in", Dense(received_width, w, rng, DenseOptions{.gain = gain, .fan_in = received_width + 2 * w}));
  node_out_ = register_module("node_out", Dense(w, w, rng));
  global_in_ = register_module("global_in", Dense(2 * w, w, rng, DenseOptions{.gain = gain, .fan_in = 3 * w}));
  global_out_ = register_module("global_out", Dense(w, w, rng));
  node_parts_ =
      register_module("node_parts", Dense(w, 3 * w, rng, DenseOptions{.gain = gain, .bias = false, .fan_in = 4 * w}));
  global_parts_ =
      register_module("global_parts", Dense(w, 3 * w, rng, DenseOptions{.gain = gain, .bias = false, .fan_in = 4 * w}));
  edge_norm_ = register_module("edge_norm", layer_norm(w));
  node_norm_ = register_module("node_norm", layer_norm(w));
  global_norm_ = register_module("global_norm", layer_norm(w));
}

Tensor GnBlockImpl::update(const Tensor& x, const Tensor& hidden, Dense& out, torch::nn::LayerNorm& norm) {
  return norm(x + out(torch::relu(hidden)));
}

// rho^{e->v}: [N, width], or [N, 2 * width] with the sent edges beside the received ones.
Tensor GnBlockImpl::received(const GraphBatch& batch, const Tensor& edges) const {
  const bool mean = options_.aggregation == Aggregation::mean;
  auto in = pool(edges, batch.edge_dst, batch.nodes, mean);
  if (!options_.both_directions) return in;
  return torch::cat({in, pool(edges, batch.edge_src, batch.nodes, mean)}, 1);
}

Encoding GnBlockImpl::forward(const GraphBatch& batch, const Encoding& input) {
  const auto node_parts = node_parts_(input.nodes).split(options_.width, 1);       // as sender, as receiver, own
  const auto global_parts = global_parts_(input.global).split(options_.width, 1);  // for edges, nodes, global

  // 1. e'_k = phi^e(e_k, v_{r_k}, v_{s_k}, u)
  const auto edge_hidden = add_rows(edge_in_(input.edges), {node_parts[0], batch.edge_src},
                                    {node_parts[1], batch.edge_dst}, {global_parts[0], batch.edge_graph});
  auto edges = update(input.edges, edge_hidden, edge_out_, edge_norm_);
  // 2. v'_i = phi^v(rho(E'_i), v_i, u)
  const auto node_hidden =
      add_rows(node_in_(received(batch, edges)) + node_parts[2], {global_parts[1], batch.node_graph});
  auto nodes = update(input.nodes, node_hidden, node_out_, node_norm_);
  // 3. u' = phi^u(rho(E'), rho(V'), u)
  const bool mean = options_.pooling == Aggregation::mean;
  const auto pooled = torch::cat(
      {pool(nodes, batch.node_graph, batch.graphs, mean), pool(edges, batch.edge_graph, batch.graphs, mean)}, 1);
  auto global = update(input.global, global_in_(pooled) + global_parts[2], global_out_, global_norm_);
  return {nodes, edges, global};
}

EncoderImpl::EncoderImpl(const mdp::ObservationSpec& spec, const EncoderOptions& options, Rng& rng)
    : options_(options) {
  check(options);
  const int64_t w = options.width;
  op_table_ = register_parameter("op_table", normal_init({spec.ops, w}, 0.5, rng));
  // Random biases: with none, the layer norms that follow would hide the magnitude of a lone feature.
  const DenseOptions options_in{.bias_deviation = 0.5};
  node_feat_ = register_module("node_feat", Dense(spec.node_features, w, rng, options_in));
  edge_feat_ = register_module("edge_feat", Dense(spec.edge_features, w, rng, options_in));
  global_feat_ = register_module("global_feat", Dense(spec.global_features, w, rng, options_in));
  for (int round = 0; round < (options.shared ? 1 : options.rounds); ++round) {
    blocks_.push_back(register_module(fmt::format("block{}", round), GnBlock(options, rng)));
  }
}

Encoding EncoderImpl::forward(const GraphBatch& batch) {
  Encoding x;
  x.nodes = add_rows(node_feat_(batch.node_feat), {op_table_, batch.node_op});
  x.edges = edge_feat_(batch.edge_feat);
  x.global = global_feat_(batch.globals);
  for (int round = 0; round < options_.rounds; ++round)
    x = blocks_[options_.shared ? 0 : static_cast<size_t>(round)]->forward(batch, x);
  return x;
}

}  // namespace rlgo::nets
