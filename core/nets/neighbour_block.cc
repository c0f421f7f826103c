#include "core/nets/neighbour_block.h"

#include <cmath>
#include <optional>
#include <tuple>
#include <vector>

#include "core/nets/gn.h"
#include "core/nets/graph_ops.h"

namespace rlgo::nets {
namespace {

constexpr double kLeak = 0.2;  // slope of attention's LeakyReLU below 0

torch::nn::LayerNorm layer_norm(int64_t width) { return torch::nn::LayerNorm(torch::nn::LayerNormOptions({width})); }

}  // namespace

Neighbours::Neighbours(const GraphBatch& batch, bool both_directions) {
  const auto self = torch::arange(batch.nodes, batch.edge_src.options());
  std::vector<Tensor> sources = {self, batch.edge_src}, readers = {self, batch.edge_dst};
  if (both_directions) {
    sources.push_back(batch.edge_dst);
    readers.push_back(batch.edge_src);
  }
  Tensor order;
  // Stable: what is summed in which order depends on the graph only.
  std::tie(to, order) = torch::cat(readers).sort(std::optional<bool>(true), 0, false);
  from = torch::cat(sources).index_select(0, order);
  const auto degree = scatter_sum(torch::ones({to.size(0), 1}, batch.node_feat.options()), to, batch.nodes);
  weight = (degree.index_select(0, from) * degree.index_select(0, to)).rsqrt();
}

NeighbourBlockImpl::NeighbourBlockImpl(const EncoderOptions& options, Rng& rng) : options_(options) {
  const int64_t w = options.width;
  const double gain = std::sqrt(2.0);
  map_ = register_module("map", Dense(w, w, rng, DenseOptions{.gain = gain}));
  global_in_ = register_module("global_in", Dense(2 * w, w, rng, DenseOptions{.gain = gain}));
  global_out_ = register_module("global_out", Dense(w, w, rng));
  if (options.block == Block::gat) {
    const int64_t part = w / kAttentionHeads;
    const double deviation = 1 / std::sqrt(static_cast<double>(part));
    as_source_ = register_parameter("as_source", normal_init({kAttentionHeads, part}, deviation, rng));
    as_reader_ = register_parameter("as_reader", normal_init({kAttentionHeads, part}, deviation, rng));
  }
  node_norm_ = register_module("node_norm", layer_norm(w));
  global_norm_ = register_module("global_norm", layer_norm(w));
}

Tensor NeighbourBlockImpl::attention(const Neighbours& neighbours, const Tensor& mapped) const {
  const int64_t nodes = mapped.size(0), links = neighbours.to.size(0);
  const auto parts = mapped.reshape({nodes, kAttentionHeads, -1});
  const auto source = (parts * as_source_).sum(2), reader = (parts * as_reader_).sum(2);  // [N, heads]
  const auto score =
      torch::leaky_relu(source.index_select(0, neighbours.from) + reader.index_select(0, neighbours.to), kLeak);
  // All heads in one softmax over segments: head after head.
  const auto head = torch::arange(kAttentionHeads, neighbours.to.options()).unsqueeze(1);
  const auto segment = (neighbours.to.unsqueeze(0) + head * nodes).reshape(-1);
  const auto log_weight = segment_log_softmax(score.t().reshape(-1), segment, kAttentionHeads * nodes);
  return log_weight.exp().reshape({kAttentionHeads, links}).t();
}

Encoding NeighbourBlockImpl::forward(const GraphBatch& batch, const Neighbours& neighbours, const Encoding& input) {
  Encoding result{input.nodes, input.edges, {}};
  if (batch.nodes > 0) {
    const auto mapped = map_(input.nodes);
    const auto weight = as_source_.defined() ? attention(neighbours, mapped) : neighbours.weight;  // [M, heads or 1]
    const auto rows = mapped.index_select(0, neighbours.from).reshape({neighbours.from.size(0), weight.size(1), -1});
    const auto messages = (rows * weight.unsqueeze(2)).reshape({-1, options_.width});
    result.nodes = node_norm_(input.nodes + torch::relu(scatter_sum(messages, neighbours.to, batch.nodes)));
  }
  const auto pooled = pool(result.nodes, batch.node_graph, batch.graphs, options_.pooling == Aggregation::mean);
  const auto hidden = torch::relu(global_in_(torch::cat({pooled, input.global}, 1)));
  result.global = global_norm_(input.global + global_out_(hidden));
  return result;
}

}  // namespace rlgo::nets
