#include "core/nets/actor_critic.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "core/base/error.h"
#include "core/nets/graph_ops.h"

namespace rlgo::nets {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

// First entry at which the cumulated probability exceeds u, among log_p[0..count); entries of -inf are never chosen.
int64_t sample(const float* log_p, int64_t count, double u) {
  double total = 0;
  for (int64_t i = 0; i < count; ++i) total += std::exp(static_cast<double>(log_p[i]));
  double left = u * total;  // total is 1 up to rounding
  int64_t last = -1;
  for (int64_t i = 0; i < count; ++i) {
    if (log_p[i] == kMinusInfinity) continue;
    last = i;
    left -= std::exp(static_cast<double>(log_p[i]));
    if (left < 0) break;
  }
  RLGO_CHECK_LE(0, last);
  return last;
}

int64_t most_probable(const float* log_p, int64_t count) { return std::max_element(log_p, log_p + count) - log_p; }

// p log p, with 0 where p is 0.
Tensor p_log_p(const Tensor& log_p) { return log_p.exp() * log_p.masked_fill(log_p == kMinusInfinity, 0.0); }

// -sum p log p of a policy: over xfers [B], and over the locations of each xfer weighted by its probability [B].
std::pair<Tensor, Tensor> entropies(const GraphBatch& batch, const Policy& policy) {
  auto xfer = -p_log_p(policy.xfer).sum(1);
  if (batch.locations == 0) return {xfer, torch::zeros_like(xfer)};
  const auto flat = batch.loc_graph * (batch.xfers + 1) + batch.loc_xfer;
  const auto joint = policy.xfer.reshape(-1).index_select(0, flat).exp() * p_log_p(policy.location);  // [L]
  auto location = -scatter_sum(joint.unsqueeze(1), batch.loc_graph, batch.graphs).squeeze(1);
  return {xfer, location};
}

std::vector<float> to_floats(const Tensor& tensor) {
  const auto host = tensor.to(torch::kCPU).contiguous();
  return {host.const_data_ptr<float>(), host.const_data_ptr<float>() + host.numel()};
}

Tensor to_ints(const std::vector<int64_t>& values, torch::Device device) {
  return torch::tensor(values, torch::kInt64).to(device);
}

}  // namespace

ActorCriticImpl::ActorCriticImpl(const mdp::ObservationSpec& spec, const AgentOptions& options, uint64_t seed)
    : spec_(spec), options_(options) {
  if (options.location_head != "pointer" && options.location_head != "index") {
    fail("agent: location head '{}', expected 'pointer' or 'index'", options.location_head);
  }
  Rng rng({seed, 0xAC701C});
  const int64_t w = options.width;
  const double gain = std::sqrt(2.0);
  encoder_ = register_module("encoder", Encoder(spec, options.encoder(), rng));

  xfer_nodes_ = register_module("xfer_nodes", Dense(w, w, rng));
  xfer_pooled_ = register_module("xfer_pooled", Dense(2 * w + 1, w, rng, DenseOptions{.gain = gain, .fan_in = 4 * w}));
  xfer_global_ =
      register_module("xfer_global", Dense(w, w, rng, DenseOptions{.gain = gain, .bias = false, .fan_in = 4 * w}));
  xfer_table_ = register_parameter("xfer_table", normal_init({spec.xfers, w}, 0.5, rng));
  xfer_score_ = register_module("xfer_score", Dense(w, 1, rng, DenseOptions{.gain = 0.1}));
  noop_hidden_ = register_module("noop_hidden", Dense(w, w, rng, DenseOptions{.gain = gain}));
  noop_score_ = register_module("noop_score", Dense(w, 1, rng, DenseOptions{.gain = 0.1}));

  const bool pointer = options.location_head == "pointer";
  if (pointer) {
    location_nodes_ = register_module("location_nodes", Dense(w, w, rng, DenseOptions{.gain = gain, .fan_in = 3 * w}));
    location_index_ = register_module("location_index", Dense(1, w, rng, DenseOptions{.bias = false, .fan_in = w}));
  }
  location_global_ = register_module("location_global",
                                     Dense(w, w, rng, DenseOptions{.gain = gain, .bias = !pointer, .fan_in = 3 * w}));
  location_table_ = register_parameter("location_table", normal_init({spec.xfers, w}, 0.5, rng));
  location_score_ =
      register_module("location_score", Dense(w, pointer ? 1 : spec.max_locations, rng, DenseOptions{.gain = 0.1}));

  value_hidden_ = register_module("value_hidden", Dense(w, w, rng, DenseOptions{.gain = gain}));
  value_out_ = register_module("value_out", Dense(w, 1, rng, DenseOptions{.gain = 0.1}));
  location_value_hidden_ = register_module("location_value_hidden", Dense(w, w, rng, DenseOptions{.gain = gain}));
  location_value_out_ = register_module("location_value_out", Dense(w, 1, rng, DenseOptions{.gain = 0.1}));
  location_value_table_ = register_parameter("location_value_table", normal_init({spec.xfers + 1, w}, 0.5, rng));
  value_shift_ = register_buffer("value_shift", torch::zeros({}));
  value_scale_ = register_buffer("value_scale", torch::ones({}));

  torch::NoGradGuard no_grad;
  noop_score_->bias.fill_(options.noop_bias);
}

// [B, X+1], -inf where illegal.
Tensor ActorCriticImpl::xfer_logits(const GraphBatch& batch, const Encoding& latent) {
  const auto noop = noop_score_(torch::relu(noop_hidden_(latent.global)));  // [B, 1]
  auto rules = torch::full({batch.graphs, batch.xfers}, kMinusInfinity, noop.options());
  if (batch.pairs > 0) {
    const auto at_locations = xfer_nodes_(latent.nodes).index_select(0, batch.loc_node);  // [L, W]
    const auto sums = scatter_sum(at_locations, batch.loc_pair, batch.pairs);
    const auto pair_flat = batch.pair_graph * batch.xfers + batch.pair_xfer;
    const auto count = batch.counts.reshape(-1).index_select(0, pair_flat).to(noop.scalar_type()).unsqueeze(1);
    const auto summary =
        torch::cat({sums / count, segment_max(at_locations, batch.loc_pair, batch.pairs), count.log()}, 1);
    const auto hidden = add_rows(xfer_pooled_(summary), {xfer_table_, batch.pair_xfer},
                                 {xfer_global_(latent.global), batch.pair_graph});
    const auto scores = xfer_score_(torch::relu(hidden)).squeeze(1);  // [P]
    rules = rules.reshape(-1).index_copy(0, pair_flat, scores).reshape({batch.graphs, batch.xfers});
  }
  return torch::cat({rules, noop}, 1);
}

// [L]
Tensor ActorCriticImpl::location_logits(const GraphBatch& batch, const Encoding& latent) {
  const auto global = location_global_(latent.global);
  if (options_.location_head == "pointer") {
    const auto index = location_index_(torch::log1p(batch.loc_index.to(global.scalar_type())).unsqueeze(1));
    const auto hidden = add_rows(index, {location_nodes_(latent.nodes), batch.loc_node},
                                 {location_table_, batch.loc_xfer}, {global, batch.loc_graph});
    return location_score_(torch::relu(hidden)).squeeze(1);
  }
  const auto hidden = add_rows({}, {location_table_, batch.pair_xfer}, {global, batch.pair_graph});
  const auto scores = location_score_(torch::relu(hidden));  // [P, max_locations]
  return scores.reshape(-1).index_select(0, batch.loc_pair * batch.max_locations + batch.loc_index);
}

Policy ActorCriticImpl::policy(const GraphBatch& batch, const Encoding& latent) {
  Policy result;
  result.xfer = torch::log_softmax(xfer_logits(batch, latent), 1);
  result.location = batch.locations == 0
                        ? torch::zeros({0}, result.xfer.options())
                        : segment_log_softmax(location_logits(batch, latent), batch.loc_pair, batch.pairs);
  return result;
}

// [B]; `extra` is added before the non-linearity where it is defined.
Tensor ActorCriticImpl::value_of(Dense& hidden, Dense& out, const Tensor& global, const Tensor& extra) {
  auto h = hidden(global);
  if (extra.defined()) h = h + extra;
  return out(torch::relu(h)).squeeze(1) * value_scale_ + value_shift_;
}

Decisions ActorCriticImpl::act(const GraphBatch& batch, std::span<const double> uniforms, bool greedy) {
  if (!greedy && uniforms.size() != 2 * static_cast<size_t>(batch.graphs)) {
    fail("act: {} random numbers for {} graphs, expected 2 each", uniforms.size(), batch.graphs);
  }
  c10::InferenceMode inference;
  const auto latent = encode(batch);
  const auto distribution = policy(batch, latent);
  const auto log_xfer = to_floats(distribution.xfer);
  const auto log_location = to_floats(distribution.location);
  Decisions result;
  std::vector<int64_t> chosen;
  for (int64_t b = 0; b < batch.graphs; ++b) {
    const float* row = log_xfer.data() + b * (batch.xfers + 1);
    if (!std::isfinite(row[batch.xfers])) fail("act: the policy of graph {} is not finite; the weights are damaged", b);
    const auto u = static_cast<size_t>(2 * b);
    const int64_t x = greedy ? most_probable(row, batch.xfers + 1) : sample(row, batch.xfers + 1, uniforms[u]);
    int64_t location = 0;
    float log_prob_location = 0;
    if (x < batch.xfers) {
      const auto pair = static_cast<size_t>(b * batch.xfers + x);
      const float* part = log_location.data() + batch.loc_offset[pair];
      const int64_t count = batch.loc_offset[pair + 1] - batch.loc_offset[pair];
      location = greedy ? most_probable(part, count) : sample(part, count, uniforms[u + 1]);
      log_prob_location = part[location];
      if (!std::isfinite(log_prob_location))
        fail("act: the location policy of graph {} is not finite; the weights are damaged", b);
    }
    chosen.push_back(x);
    result.actions.push_back({static_cast<int32_t>(x), static_cast<int32_t>(location)});
    result.log_prob_xfer.push_back(row[x]);
    result.log_prob_location.push_back(log_prob_location);
  }
  const auto of_xfer = location_value_table_.index_select(0, to_ints(chosen, device()));
  result.value_xfer = to_floats(value_of(value_hidden_, value_out_, latent.global, {}));
  result.value_location = to_floats(value_of(location_value_hidden_, location_value_out_, latent.global, of_xfer));
  const auto [xfer, location] = entropies(batch, distribution);
  result.entropy = to_floats(xfer + location);
  return result;
}

Evaluation ActorCriticImpl::evaluate(const GraphBatch& batch, std::span<const mdp::Action> actions) {
  if (actions.size() != static_cast<size_t>(batch.graphs))
    fail("evaluate: {} actions for {} graphs", actions.size(), batch.graphs);
  std::vector<int64_t> chosen, place;
  std::vector<float> has_location;
  for (size_t b = 0; b < actions.size(); ++b) {
    const auto [x, location] = actions[b];
    const bool noop = x == batch.xfers;
    const auto pair = b * static_cast<size_t>(batch.xfers) + static_cast<size_t>(x);
    const bool legal = noop ? location == 0
                            : x >= 0 && x < batch.xfers && location >= 0 &&
                                  location < batch.loc_offset[pair + 1] - batch.loc_offset[pair];
    if (!legal) fail("evaluate: action (xfer {}, location {}) of graph {} is not legal", x, location, b);
    chosen.push_back(x);
    place.push_back(noop ? 0 : batch.loc_offset[pair] + location);
    has_location.push_back(noop ? 0.0f : 1.0f);
  }
  const auto latent = encode(batch);
  const auto distribution = policy(batch, latent);
  const auto xfer = to_ints(chosen, device());
  Evaluation result;
  result.log_prob_xfer = distribution.xfer.gather(1, xfer.unsqueeze(1)).squeeze(1);
  result.log_prob_location = batch.locations == 0 ? torch::zeros_like(result.log_prob_xfer)
                                                  : distribution.location.index_select(0, to_ints(place, device())) *
                                                        torch::tensor(has_location).to(device());
  std::tie(result.entropy_xfer, result.entropy_location) = entropies(batch, distribution);
  result.value_xfer = value_of(value_hidden_, value_out_, latent.global, {});
  result.value_location =
      value_of(location_value_hidden_, location_value_out_, latent.global, location_value_table_.index_select(0, xfer));
  return result;
}

void ActorCriticImpl::rescale_values(double shift, double scale) {
  if (!(std::isfinite(shift) && std::isfinite(scale) && scale > 0))
    fail("rescale_values: shift {}, scale {}", shift, scale);
  torch::NoGradGuard no_grad;
  const double old_shift = value_shift(), old_scale = value_scale();
  for (auto* out : {&value_out_, &location_value_out_}) {
    (*out)->weight.mul_(old_scale / scale);
    (*out)->bias.mul_(old_scale).add_(old_shift - shift).div_(scale);
  }
  value_shift_.fill_(shift);
  value_scale_.fill_(scale);
}

}  // namespace rlgo::nets
