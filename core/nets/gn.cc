#include "core/nets/gn.h"

#include <cmath>

#include "core/base/error.h"
#include "core/nets/graph_ops.h"
#include "core/nets/transfer.h"

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
  global_parts_ = register_module(
      "global_parts", Dense(w, local() ? w : 3 * w, rng, DenseOptions{.gain = gain, .bias = false, .fan_in = 4 * w}));
  edge_norm_ = register_module("edge_norm", layer_norm(w));
  node_norm_ = register_module("node_norm", layer_norm(w));
  global_norm_ = register_module("global_norm", layer_norm(w));
}

Tensor GnBlockImpl::update(const Tensor& x, const Tensor& hidden, Dense& out, torch::nn::LayerNorm& norm) {
  return norm(x + out(torch::relu(hidden)));
}

// rho^{e->v}: [N, width], or [N, 2 * width] with the sent edges next to the received ones.
Tensor GnBlockImpl::received(const GraphBatch& batch, const Tensor& edges) const {
  const bool mean = options_.aggregation == Aggregation::mean;
  auto in = pool(edges, batch.edge_dst, batch.nodes, mean);
  if (!options_.both_directions) return in;
  return torch::cat({in, pool(edges, batch.edge_src, batch.nodes, mean)}, 1);
}

Tensor GnBlockImpl::received(const RoundRows& round, const Tensor& edges) const {
  const auto gather = [&](const Tensor& edge, const Tensor& node) {
    auto sums = link_sum(edges, edge, node, round.nodes);
    if (options_.aggregation == Aggregation::sum) return sums;
    const auto one = torch::ones({node.size(0), 1}, edges.options().requires_grad(false));
    return sums / scatter_sum(one, node, round.nodes).clamp_min(1);
  };
  auto in = gather(round.in_edge, round.in_node);
  return options_.both_directions ? torch::cat({in, gather(round.out_edge, round.out_node)}, 1) : in;
}

Encoding GnBlockImpl::forward(const GraphBatch& batch, const Encoding& input) {
  const int64_t w = options_.width;
  const auto node_parts = node_parts_(input.nodes).split(w, 1);       // as sender, as receiver, own
  const auto global_parts = global_parts_(input.global).split(w, 1);  // for edges, nodes, global; local: for global

  // 1. e'_k = phi^e(e_k, v_{r_k}, v_{s_k}, u)
  const auto edge_hidden =
      add_rows(edge_in_(input.edges), {node_parts[0], batch.edge_src}, {node_parts[1], batch.edge_dst},
               local() ? Rows{} : Rows{global_parts[0], batch.edge_graph});
  auto edges = update(input.edges, edge_hidden, edge_out_, edge_norm_);
  // 2. v'_i = phi^v(rho(E'_i), v_i, u)
  auto node_hidden = node_in_(received(batch, edges)) + node_parts[2];
  if (!local()) node_hidden = add_rows(node_hidden, {global_parts[1], batch.node_graph});
  auto nodes = update(input.nodes, node_hidden, node_out_, node_norm_);
  // 3. u' = phi^u(rho(E'), rho(V'), u)
  const bool mean = options_.pooling == Aggregation::mean;
  const auto pooled = torch::cat(
      {pool(nodes, batch.node_graph, batch.graphs, mean), pool(edges, batch.edge_graph, batch.graphs, mean)}, 1);
  auto global = update(input.global, global_in_(pooled) + global_parts.back(), global_out_, global_norm_);
  return {nodes, edges, global};
}

Encoding GnBlockImpl::forward_distinct(const DistinctRows& rows, size_t number, const Encoding& input) {
  RLGO_CHECK(local());
  const RoundRows& round = rows.rounds[number];
  const auto node_parts = node_parts_(input.nodes).split(options_.width, 1);  // as sender, as receiver, own
  const auto edge_hidden = add_rows({}, {edge_in_(input.edges), round.edge_before}, {node_parts[0], round.edge_src},
                                    {node_parts[1], round.edge_dst});
  auto edges = update(add_rows({}, {input.edges, round.edge_before}), edge_hidden, edge_out_, edge_norm_);
  const auto node_hidden = add_rows(node_in_(received(round, edges)), {node_parts[2], round.node_before});
  auto nodes = update(add_rows({}, {input.nodes, round.node_before}), node_hidden, node_out_, node_norm_);

  const auto in_last = [](const Tensor& x, const Tensor& last) { return last.defined() ? add_rows({}, {x, last}) : x; };
  auto node_sums = counted_sum(in_last(nodes, round.last_node), rows.node_counts);
  auto edge_sums = counted_sum(in_last(edges, round.last_edge), rows.edge_counts);
  if (options_.pooling == Aggregation::mean) {
    node_sums = node_sums / rows.nodes_per_graph.clamp_min(1);
    edge_sums = edge_sums / rows.edges_per_graph.clamp_min(1);
  }
  auto global = update(input.global, global_in_(torch::cat({node_sums, edge_sums}, 1)) + global_parts_(input.global),
                       global_out_, global_norm_);
  return {nodes, edges, global};
}

EncoderImpl::EncoderImpl(const mdp::ObservationSpec& spec, const EncoderOptions& options, Rng& rng)
    : options_(options) {
  check(options);
  const int64_t w = options.width;
  op_table_ = register_parameter("op_table", normal_init({spec.ops, w}, 0.5, rng));
  // Random biases: with none, the layer norms that follow would hide the magnitude of a lone feature.
  const DenseOptions options_in{.bias_deviation = 0.5};
  int64_t node_features = spec.node_features;
  if (options.block == Block::local) {
    columns_ = torch::tensor(agent::local_columns(spec), torch::kInt64);
    node_features = columns_.size(0);
  }
  node_feat_ = register_module("node_feat", Dense(node_features, w, rng, options_in));
  edge_feat_ = register_module("edge_feat", Dense(spec.edge_features, w, rng, options_in));
  global_feat_ = register_module("global_feat", Dense(spec.global_features, w, rng, options_in));
  for (int round = 0; round < (options.shared ? 1 : options.rounds); ++round) {
    const auto name = fmt::format("block{}", round);
    if (options.block == Block::gcn || options.block == Block::gat) {
      neighbour_blocks_.push_back(register_module(name, NeighbourBlock(options, rng)));
    } else {
      blocks_.push_back(register_module(name, GnBlock(options, rng)));
    }
  }
}

Encoding EncoderImpl::forward(const GraphBatch& batch) {
  Encoding x;
  const auto number = [&](int round) { return options_.shared ? 0 : static_cast<size_t>(round); };
  const auto block = [&](int round) -> GnBlock& { return blocks_[number(round)]; };
  x.global = global_feat_(batch.globals);
  if (batch.distinct) {
    const auto& rows = *batch.distinct;
    x.nodes = add_rows(node_feat_(rows.node_feat), {op_table_, rows.node_op});
    x.edges = edge_feat_(rows.edge_feat);
    for (int r = 0; r < options_.rounds; ++r) x = block(r)->forward_distinct(rows, static_cast<size_t>(r), x);
    return x;
  }
  if (columns_.defined()) columns_ = to_device(columns_, batch.node_feat.device());  // once
  const auto read = columns_.defined() ? batch.node_feat.index_select(1, columns_) : batch.node_feat;
  x.nodes = add_rows(node_feat_(read), {op_table_, batch.node_op});
  x.edges = edge_feat_(batch.edge_feat);
  if (!neighbour_blocks_.empty()) {
    // Edges give what they carry to the nodes that read them, once.
    x.nodes = x.nodes + pool(x.edges, batch.edge_dst, batch.nodes, options_.aggregation == Aggregation::mean);
    const Neighbours neighbours(batch, options_.both_directions);
    for (int r = 0; r < options_.rounds; ++r) x = neighbour_blocks_[number(r)]->forward(batch, neighbours, x);
    return x;
  }
  for (int r = 0; r < options_.rounds; ++r) x = block(r)->forward(batch, x);
  return x;
}

}  // namespace rlgo::nets
