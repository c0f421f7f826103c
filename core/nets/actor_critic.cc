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

  if (spec.location_features > 0) {
    log_beta_ = register_parameter("log_beta", torch::full({}, std::log(options.beta)));
    savings_ = register_module("savings", Dense(2, w, rng, DenseOptions{.bias = false}));
  }
  if (!flat()) make_rule_head(rng);
  noop_hidden_ = register_module("noop_hidden", Dense(w, w, rng, DenseOptions{.gain = gain}));
  noop_score_ = register_module("noop_score", Dense(w, 1, rng, DenseOptions{.gain = 0}));
  if (flat()) {
    flat_hidden_ = register_module("flat_hidden", Dense(w, w, rng, DenseOptions{.gain = gain}));
    flat_score_ =
        register_module("flat_score", Dense(w, int64_t{spec.rules} * spec.max_locations, rng, DenseOptions{.gain = 0}));
  } else {
    make_location_head(rng);
  }
  make_value_heads(w, rng);
  torch::NoGradGuard no_grad;
  noop_score_->bias.fill_(options.noop_bias);
}

void ActorCriticImpl::make_rule_head(Rng& rng) {
  const int64_t w = options_.width;
  const double gain = std::sqrt(2.0);
  rule_nodes_ = register_module("xfer_nodes", Dense(w, w, rng));
  rule_rest_ = register_module("xfer_rest", Dense(w, w, rng, DenseOptions{.bias = false}));
  rule_pooled_ = register_module("xfer_pooled", Dense(2 * w + 1, w, rng, DenseOptions{.gain = gain, .fan_in = 4 * w}));
  rule_global_ =
      register_module("xfer_global", Dense(w, w, rng, DenseOptions{.gain = gain, .bias = false, .fan_in = 4 * w}));
  rule_table_ = register_parameter("xfer_table", normal_init({spec().rules, w}, 0.5, rng));
  rule_score_ = register_module("xfer_score", Dense(w, 1, rng, DenseOptions{.gain = 0}));
}

void ActorCriticImpl::make_location_head(Rng& rng) {
  const int64_t w = options_.width;
  const double gain = std::sqrt(2.0);
  const bool pointer = options_.location_head == LocationHead::pointer;
  if (pointer) {
    location_nodes_ = register_module("location_nodes", Dense(w, w, rng, DenseOptions{.gain = gain, .fan_in = 3 * w}));
    location_rest_ = register_module("location_rest", Dense(w, w, rng, DenseOptions{.bias = false, .fan_in = 3 * w}));
    location_index_ = register_module(
        "location_index", Dense(1 + spec().location_features, w, rng, DenseOptions{.bias = false, .fan_in = w}));
  }
  location_global_ = register_module("location_global",
                                     Dense(w, w, rng, DenseOptions{.gain = gain, .bias = !pointer, .fan_in = 3 * w}));
  location_table_ = register_parameter("location_table", normal_init({spec().rules, w}, 0.5, rng));
  location_score_ =
      register_module("location_score", Dense(w, pointer ? 1 : spec().max_locations, rng, DenseOptions{.gain = 0}));
}

namespace {

// [L, W]: mean of the rows of each location's other matched nodes, zero where it has none.
Tensor mean_of_rest(const GraphBatch& batch, const Tensor& rows) {
  return link_sum(rows, batch.rest_node, batch.rest_loc, batch.locations) * batch.rest_fraction.unsqueeze(1);
}

}  // namespace

Encoding ActorCriticImpl::encode(const GraphBatch& batch) {
  auto latent = encoder_(batch);
  if (log_beta_.defined() && batch.locations > 0)
    latent.global = latent.global + savings_(largest_and_sum((-batch.loc_feat.select(1, 0)).clamp_min(0),
                                                             batch.loc_graph, batch.graphs));
  return latent;
}

Tensor ActorCriticImpl::rule_scores(const GraphBatch& batch, const Encoding& latent) {
  const auto at_locations = rule_nodes_(latent.nodes).index_select(0, batch.loc_node) +
                            mean_of_rest(batch, rule_rest_(latent.nodes));  // [L, W]
  const auto sums = scatter_sum(at_locations, batch.loc_pair, batch.pairs);
  const auto pair_flat = batch.pair_graph * batch.rules + batch.pair_rule;
  const auto count = batch.counts.reshape(-1).index_select(0, pair_flat).to(sums.scalar_type()).unsqueeze(1);
  const auto summary =
      torch::cat({sums / count, segment_max(at_locations, batch.loc_pair, batch.pairs), count.log()}, 1);
  const auto own = torch::arange(batch.pairs, batch.pair_rule.options());
  const Rows parts[] = {
      {rule_pooled_(summary), own}, {rule_table_, batch.pair_rule}, {rule_global_(latent.global), batch.pair_graph}};
  return score_rows(parts, {}, {}, rule_score_->weight[0], rule_score_->bias[0]);
}

// [L]
Tensor ActorCriticImpl::location_scores(const GraphBatch& batch, const Encoding& latent) {
  const auto global = location_global_(latent.global);
  if (options_.location_head == LocationHead::pointer) {
    const auto of_pair = add_rows({}, {location_table_, batch.pair_rule}, {global, batch.pair_graph});
    const auto own = torch::arange(batch.locations, batch.loc_pair.options());
    const Rows parts[] = {{location_nodes_(latent.nodes), batch.loc_node},
                          {of_pair, batch.loc_pair},
                          {mean_of_rest(batch, location_rest_(latent.nodes)), own}};
    const auto log_index = torch::log1p(batch.loc_index.to(global.scalar_type())).unsqueeze(1);
    return score_rows(parts, torch::cat({log_index, batch.loc_feat}, 1), location_index_->weight.t(),
                      location_score_->weight[0], location_score_->bias[0]);
  }
  const auto hidden = add_rows({}, {location_table_, batch.pair_rule}, {global, batch.pair_graph});
  const auto scores = location_score_(torch::relu(hidden));  // [P, max_locations]
  return scores.reshape(-1).index_select(0, batch.loc_pair * batch.max_locations + batch.loc_index);
}

Tensor ActorCriticImpl::flat_scores(const GraphBatch& batch, const Encoding& latent) {
  const auto hidden = torch::relu(flat_hidden_(latent.global)).index_select(0, batch.loc_graph);
  const auto row = batch.loc_rule * batch.max_locations + batch.loc_index;
  return (hidden * flat_score_->weight.index_select(0, row)).sum(1) + flat_score_->bias.index_select(0, row);
}

LogPolicy ActorCriticImpl::policy(const GraphBatch& batch, const Encoding& latent) {
  LogPolicy result;
  const auto noop = noop_score_(torch::relu(noop_hidden_(latent.global)));  // [B, 1]
  const bool staged = options_.head == PolicyHead::staged;
  auto rules = torch::full({batch.graphs, batch.rules}, kMinusInfinity, noop.options());
  result.location = torch::zeros({0}, noop.options());
  if (!staged) {
    result.stop = noop.squeeze(1);
    result.score = result.location;
  }
  if (batch.pairs > 0) {
    auto of_rule = flat() ? Tensor() : rule_scores(batch, latent);  // [P]; first: gradients are summed in this order
    auto score = flat() ? flat_scores(batch, latent) : location_scores(batch, latent);
    if (!flat() && !staged) score = score + of_rule.index_select(0, batch.loc_pair);
    if (log_beta_.defined()) {
      const auto saving = log_beta_.exp() * -batch.loc_feat.select(1, 0);
      score = score + saving;
      if (staged) of_rule = of_rule + segment_max(saving.unsqueeze(1), batch.loc_pair, batch.pairs).squeeze(1);
    }
    result.location = segment_log_softmax(score, batch.loc_pair, batch.pairs);
    // The log-sum-exp of a rule's locations: the same at each of them.
    if (!staged) of_rule = (score - result.location).index_select(0, batch.pair_first);
    if (!staged) result.score = score;
    const auto pair_flat = batch.pair_graph * batch.rules + batch.pair_rule;
    rules = rules.reshape(-1).index_copy(0, pair_flat, of_rule).reshape({batch.graphs, batch.rules});
  }
  result.rule = torch::log_softmax(torch::cat({rules, noop}, 1), 1);
  return result;
}

}  // namespace rlgo::nets
