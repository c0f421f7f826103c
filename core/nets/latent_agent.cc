#include "core/nets/latent_agent.h"

#include <cmath>

#include "core/base/error.h"
#include "core/nets/graph_ops.h"

namespace rlgo::nets {

LatentAgentImpl::LatentAgentImpl(const mdp::ObservationSpec& spec, const LatentAgentOptions& options, uint64_t seed)
    : AgentImpl(spec) {
  check(options);
  if (spec.latent_features < 1) fail("latent agent: the observations have no latent vector");
  Rng rng({seed, 0x1A7E47});
  const bool linear = options.controller == Controller::cma_es;
  const bool places = spec.location_latents > 0;
  if (linear && places) fail("latent agent: a linear controller does not see locations");
  const int64_t w = linear ? spec.latent_features : options.width;
  const double gain = std::sqrt(2.0);
  if (!linear) {
    input_ = register_module("input", Dense(spec.latent_features, w, rng, DenseOptions{.gain = gain}));
    norm_ = register_module("norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({w})));
    hidden_ = register_module("hidden", Dense(w, w, rng, DenseOptions{.gain = gain}));
  }
  rule_score_ = register_module("xfer_score", Dense(w, spec.rules + 1, rng, DenseOptions{.gain = places ? 0 : 0.1}));
  if (!places) count_weight_ = register_parameter("count_weight", torch::zeros({spec.rules}));
  if (!linear) {
    location_global_ =
        register_module("location_global", Dense(w, w, rng, DenseOptions{.gain = gain, .fan_in = 2 * w}));
    location_table_ = register_parameter("location_table", normal_init({spec.rules, w}, 0.5, rng));
  }
  location_score_ = register_module(
      "location_score", Dense(w, places ? 1 : spec.max_locations, rng, DenseOptions{.gain = places ? 0 : 0.1}));
  if (places) {
    place_ = register_module("place", Dense(spec.location_latents, w, rng, DenseOptions{.bias = false}));
    savings_ = register_module("savings", Dense(2, w, rng, DenseOptions{.bias = false}));
    log_beta_ = register_parameter("log_beta", torch::full({}, std::log(options.beta)));
  }
  make_value_heads(w, rng);
  torch::NoGradGuard no_grad;
  rule_score_->bias[spec.rules].fill_(options.noop_bias);
}

Encoding LatentAgentImpl::encode(const GraphBatch& batch) {
  Encoding result;
  result.global = linear() ? batch.latent : torch::relu(hidden_(torch::relu(norm_(input_(batch.latent)))));
  if (sees_places() && batch.locations > 0) {
    const auto change = batch.loc_latent.select(1, batch.loc_latent.size(1) - 2);
    result.global = result.global + savings_(largest_and_sum((-change).clamp_min(0), batch.loc_graph, batch.graphs));
  }
  return result;
}

LogPolicy LatentAgentImpl::policy_of_places(const GraphBatch& batch, const Encoding& latent) {
  LogPolicy result;
  const auto of_rule = rule_score_(latent.global);  // [B, X+1]
  auto rules = torch::full({batch.graphs, batch.rules}, kMinusInfinity, of_rule.options());
  result.stop = of_rule.select(1, batch.rules);
  result.score = result.location = torch::zeros({0}, of_rule.options());
  if (batch.locations > 0) {
    const auto hidden = add_rows(place_(batch.loc_latent), {location_table_, batch.loc_rule},
                                 {location_global_(latent.global), batch.loc_graph});
    const auto pair_flat = batch.pair_graph * batch.rules + batch.pair_rule;
    const auto rule_flat = batch.loc_graph * (batch.rules + 1) + batch.loc_rule;
    const auto learned =
        location_score_(torch::relu(hidden)).squeeze(1) + of_rule.reshape(-1).index_select(0, rule_flat);
    const auto change = batch.loc_latent.select(1, batch.loc_latent.size(1) - 2);
    result.score = learned - log_beta_.exp() * change;
    result.location = segment_log_softmax(result.score, batch.loc_pair, batch.pairs);
    // The log-sum-exp of a rule's locations: the same at each of them.
    const auto sums = (result.score - result.location).index_select(0, batch.pair_first);
    rules = rules.reshape(-1).index_copy(0, pair_flat, sums).reshape({batch.graphs, batch.rules});
  }
  result.rule = torch::log_softmax(torch::cat({rules, result.stop.unsqueeze(1)}, 1), 1);
  return result;
}

LogPolicy LatentAgentImpl::policy(const GraphBatch& batch, const Encoding& latent) {
  if (sees_places()) return policy_of_places(batch, latent);
  LogPolicy result;
  result.rule = torch::log_softmax(rule_logits(batch, latent), 1);
  result.location = batch.locations == 0
                        ? torch::zeros({0}, result.rule.options())
                        : segment_log_softmax(location_logits(batch, latent), batch.loc_pair, batch.pairs);
  return result;
}

Tensor LatentAgentImpl::rule_logits(const GraphBatch& batch, const Encoding& latent) {
  const auto scores = rule_score_(latent.global);  // [B, X+1]
  const auto rules = scores.slice(1, 0, batch.rules) + count_weight_ * batch.counts.to(scores.scalar_type()).log1p();
  return torch::cat({rules.masked_fill(batch.counts == 0, kMinusInfinity), scores.slice(1, batch.rules)}, 1);
}

std::vector<Tensor> LatentAgentImpl::evolving() const {
  if (!linear()) return {};
  return {rule_score_->weight, rule_score_->bias, location_score_->weight, location_score_->bias, count_weight_};
}

Tensor LatentAgentImpl::location_scores(const Encoding& latent, const Tensor& graph, const Tensor& rule) {
  if (linear()) return location_score_(latent.global.index_select(0, graph));
  const auto hidden = add_rows({}, {location_table_, rule}, {location_global_(latent.global), graph});
  return location_score_(torch::relu(hidden));
}

Tensor LatentAgentImpl::location_logits(const GraphBatch& batch, const Encoding& latent) {
  const auto scores = location_scores(latent, batch.pair_graph, batch.pair_rule);
  return scores.reshape(-1).index_select(0, batch.loc_pair * batch.max_locations + batch.loc_index);
}

Decisions LatentAgentImpl::act(const GraphBatch& batch, std::span<const double> uniforms, bool greedy) {
  if (sees_places()) return AgentImpl::act(batch, uniforms, greedy);
  if (!greedy && uniforms.size() != 2 * static_cast<size_t>(batch.graphs)) {
    fail("act: {} random numbers for {} graphs, expected 2 each", uniforms.size(), batch.graphs);
  }
  c10::InferenceMode inference;
  const auto latent = encode(batch);
  const auto log_rule = torch::log_softmax(rule_logits(batch, latent), 1).to(torch::kCPU).contiguous();
  Decisions result;
  std::vector<int64_t> chosen, graphs, rules;
  for (int64_t b = 0; b < batch.graphs; ++b) {
    const float* row = log_rule.const_data_ptr<float>() + b * (batch.rules + 1);
    if (!std::isfinite(row[batch.rules])) fail("act: the policy of graph {} is not finite; the weights are damaged", b);
    const double u = greedy ? 0 : uniforms[static_cast<size_t>(2 * b)];
    const int64_t x = greedy ? most_probable(row, batch.rules + 1) : sample_log(row, batch.rules + 1, u);
    chosen.push_back(x);
    result.actions.push_back({static_cast<int32_t>(x), 0});
    result.log_prob_rule.push_back(row[x]);
    result.log_prob_location.push_back(0);
    if (x == batch.rules) continue;
    graphs.push_back(b);
    rules.push_back(x);
  }
  if (!graphs.empty()) {
    const auto graph = to_ints(graphs, device()), rule = to_ints(rules, device());
    const auto legal = batch.counts.reshape(-1).index_select(0, graph * batch.rules + rule).unsqueeze(1);  // [M, 1]
    const auto outside = torch::arange(batch.max_locations, legal.options()).unsqueeze(0) >= legal;
    const auto scores = location_scores(latent, graph, rule).masked_fill(outside, kMinusInfinity);
    const auto log_location = torch::log_softmax(scores, 1).to(torch::kCPU).contiguous();
    for (size_t i = 0; i < graphs.size(); ++i) {
      const auto b = static_cast<size_t>(graphs[i]);
      const float* row = log_location.const_data_ptr<float>() + static_cast<int64_t>(i) * batch.max_locations;
      const auto pair = static_cast<size_t>(graphs[i] * batch.rules + rules[i]);
      const int64_t count = batch.loc_offset[pair + 1] - batch.loc_offset[pair];
      const int64_t location = greedy ? most_probable(row, count) : sample_log(row, count, uniforms[2 * b + 1]);
      if (!std::isfinite(row[location]))
        fail("act: the location policy of graph {} is not finite; the weights are damaged", b);
      result.actions[b].location = static_cast<int32_t>(location);
      result.log_prob_location[b] = row[location];
    }
  }
  auto values = to_floats({value_of_rule(latent.global), value_of_location(latent.global, to_ints(chosen, device()))});
  result.value_rule = std::move(values[0]);
  result.value_location = std::move(values[1]);
  return result;
}

}  // namespace rlgo::nets
