#include "core/nets/actor_critic.h"

#include <cmath>

#include "core/base/error.h"
#include "core/nets/graph_ops.h"
#include "core/nets/score_rows.h"

namespace rlgo::nets {

ActorCriticImpl::ActorCriticImpl(const mdp::ObservationSpec& spec, const AgentOptions& options, uint64_t seed)
    : AgentImpl(spec), options_(options) {
  check(options);
  Rng rng({seed, 0xAC701C});
  const int64_t w = options.width;
  const double gain = std::sqrt(2.0);
  encoder_ = register_module("encoder", Encoder(spec, options.encoder(), rng));

  rule_nodes_ = register_module("xfer_nodes", Dense(w, w, rng));
  rule_pooled_ = register_module("xfer_pooled", Dense(2 * w + 1, w, rng, DenseOptions{.gain = gain, .fan_in = 4 * w}));
  rule_global_ =
      register_module("xfer_global", Dense(w, w, rng, DenseOptions{.gain = gain, .bias = false, .fan_in = 4 * w}));
  rule_table_ = register_parameter("xfer_table", normal_init({spec.rules, w}, 0.5, rng));
  rule_score_ = register_module("xfer_score", Dense(w, 1, rng, DenseOptions{.gain = 0.1}));
  noop_hidden_ = register_module("noop_hidden", Dense(w, w, rng, DenseOptions{.gain = gain}));
  noop_score_ = register_module("noop_score", Dense(w, 1, rng, DenseOptions{.gain = 0.1}));

  const bool pointer = options.location_head == LocationHead::pointer;
  if (pointer) {
    location_nodes_ = register_module("location_nodes", Dense(w, w, rng, DenseOptions{.gain = gain, .fan_in = 3 * w}));
    location_index_ = register_module("location_index", Dense(1, w, rng, DenseOptions{.bias = false, .fan_in = w}));
  }
  location_global_ = register_module("location_global",
                                     Dense(w, w, rng, DenseOptions{.gain = gain, .bias = !pointer, .fan_in = 3 * w}));
  location_table_ = register_parameter("location_table", normal_init({spec.rules, w}, 0.5, rng));
  location_score_ =
      register_module("location_score", Dense(w, pointer ? 1 : spec.max_locations, rng, DenseOptions{.gain = 0.1}));

  make_value_heads(w, rng);
  torch::NoGradGuard no_grad;
  noop_score_->bias.fill_(options.noop_bias);
}

// [B, X+1], -inf where illegal.
Tensor ActorCriticImpl::rule_logits(const GraphBatch& batch, const Encoding& latent) {
  const auto noop = noop_score_(torch::relu(noop_hidden_(latent.global)));  // [B, 1]
  auto rules = torch::full({batch.graphs, batch.rules}, kMinusInfinity, noop.options());
  if (batch.pairs > 0) {
    const auto at_locations = rule_nodes_(latent.nodes).index_select(0, batch.loc_node);  // [L, W]
    const auto sums = scatter_sum(at_locations, batch.loc_pair, batch.pairs);
    const auto pair_flat = batch.pair_graph * batch.rules + batch.pair_rule;
    const auto count = batch.counts.reshape(-1).index_select(0, pair_flat).to(noop.scalar_type()).unsqueeze(1);
    const auto summary =
        torch::cat({sums / count, segment_max(at_locations, batch.loc_pair, batch.pairs), count.log()}, 1);
    const auto own = torch::arange(batch.pairs, batch.pair_rule.options());
    const Rows parts[] = {
        {rule_pooled_(summary), own}, {rule_table_, batch.pair_rule}, {rule_global_(latent.global), batch.pair_graph}};
    const auto scores = score_rows(parts, {}, {}, rule_score_->weight[0], rule_score_->bias[0]);  // [P]
    rules = rules.reshape(-1).index_copy(0, pair_flat, scores).reshape({batch.graphs, batch.rules});
  }
  return torch::cat({rules, noop}, 1);
}

// [L]
Tensor ActorCriticImpl::location_logits(const GraphBatch& batch, const Encoding& latent) {
  const auto global = location_global_(latent.global);
  if (options_.location_head == LocationHead::pointer) {
    const Rows parts[] = {
        {location_nodes_(latent.nodes), batch.loc_node}, {location_table_, batch.loc_rule}, {global, batch.loc_graph}};
    const auto log_index = torch::log1p(batch.loc_index.to(global.scalar_type())).unsqueeze(1);
    return score_rows(parts, log_index, location_index_->weight.t(), location_score_->weight[0],
                      location_score_->bias[0]);
  }
  const auto hidden = add_rows({}, {location_table_, batch.pair_rule}, {global, batch.pair_graph});
  const auto scores = location_score_(torch::relu(hidden));  // [P, max_locations]
  return scores.reshape(-1).index_select(0, batch.loc_pair * batch.max_locations + batch.loc_index);
}

}  // namespace rlgo::nets
