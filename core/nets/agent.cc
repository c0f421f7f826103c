#include "core/nets/agent.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "core/base/error.h"
#include "core/nets/graph_ops.h"
#include "core/nets/transfer.h"

namespace rlgo::nets {
namespace {

// p log p, with 0 where p is 0.
Tensor p_log_p(const Tensor& log_p) { return log_p.exp() * log_p.masked_fill(log_p == kMinusInfinity, 0.0); }

// -sum p log p of a policy: over rules [B], and over the locations of each rule weighted by its probability [B].
std::pair<Tensor, Tensor> entropies(const GraphBatch& batch, const LogPolicy& policy) {
  auto rule = -p_log_p(policy.rule).sum(1);
  if (batch.locations == 0) return {rule, torch::zeros_like(rule)};
  const auto flat = batch.loc_graph * (batch.rules + 1) + batch.loc_rule;
  const auto joint = policy.rule.reshape(-1).index_select(0, flat).exp() * p_log_p(policy.location);  // [L]
  auto location = -scatter_sum(joint.unsqueeze(1), batch.loc_graph, batch.graphs).squeeze(1);
  return {rule, location};
}

}  // namespace

mdp::Action most_probable(const GraphBatch& batch, int64_t b, std::span<const float> score, float stop) {
  mdp::Action best{static_cast<int32_t>(batch.rules), 0};
  float highest = stop;
  for (int64_t x = 0; x < batch.rules; ++x) {
    const auto pair = static_cast<size_t>(b * batch.rules + x);
    for (int64_t l = batch.loc_offset[pair]; l < batch.loc_offset[pair + 1]; ++l) {
      if (!(score[static_cast<size_t>(l)] > highest)) continue;
      highest = score[static_cast<size_t>(l)];
      best = {static_cast<int32_t>(x), static_cast<int32_t>(l - batch.loc_offset[pair])};
    }
  }
  return best;
}

std::vector<float> to_floats(const Tensor& tensor) {
  const auto host = tensor.to(torch::kCPU).contiguous();
  return {host.const_data_ptr<float>(), host.const_data_ptr<float>() + host.numel()};
}

std::vector<std::vector<float>> to_floats(const std::vector<Tensor>& tensors) {
  std::vector<std::vector<float>> result;
  if (tensors.at(0).is_cpu()) {
    for (const auto& tensor : tensors) result.push_back(to_floats(tensor));
    return result;
  }
  std::vector<Tensor> flat;
  for (const auto& tensor : tensors) flat.push_back(tensor.reshape(-1));
  const auto all = to_floats(torch::cat(flat));
  auto next = all.begin();
  for (const auto& tensor : tensors) {
    const auto begin = std::exchange(next, next + tensor.numel());
    result.emplace_back(begin, next);
  }
  return result;
}

Tensor to_ints(const std::vector<int64_t>& values, torch::Device device) {
  return to_device(torch::tensor(values, torch::kInt64), device);
}

void AgentImpl::make_value_heads(int64_t w, Rng& rng) {
  const double gain = std::sqrt(2.0);
  value_hidden_ = register_module("value_hidden", Dense(w, w, rng, DenseOptions{.gain = gain}));
  value_out_ = register_module("value_out", Dense(w, 1, rng, DenseOptions{.gain = 0.1}));
  location_value_hidden_ = register_module("location_value_hidden", Dense(w, w, rng, DenseOptions{.gain = gain}));
  location_value_out_ = register_module("location_value_out", Dense(w, 1, rng, DenseOptions{.gain = 0.1}));
  location_value_table_ = register_parameter("location_value_table", normal_init({spec_.rules + 1, w}, 0.5, rng));
  value_shift_ = register_buffer("value_shift", torch::zeros({}));
  value_scale_ = register_buffer("value_scale", torch::ones({}));
}

Tensor AgentImpl::value_of_rule(const Tensor& global) { return value_of(value_hidden_, value_out_, global, {}); }

Tensor AgentImpl::value_of_location(const Tensor& global, const Tensor& rule) {
  return value_of(location_value_hidden_, location_value_out_, global, location_value_table_.index_select(0, rule));
}

// [B]; `extra` is added before the non-linearity where it is defined.
Tensor AgentImpl::value_of(Dense& hidden, Dense& out, const Tensor& global, const Tensor& extra) {
  auto h = hidden(global);
  if (extra.defined()) h = h + extra;
  return out(torch::relu(h)).squeeze(1) * value_scale_ + value_shift_;
}

Decisions AgentImpl::act(const GraphBatch& batch, std::span<const double> uniforms, bool greedy) {
  if (!greedy && uniforms.size() != 2 * static_cast<size_t>(batch.graphs)) {
    fail("act: {} random numbers for {} graphs, expected 2 each", uniforms.size(), batch.graphs);
  }
  c10::InferenceMode inference;
  const auto latent = encode(batch);
  const auto distribution = policy(batch, latent);
  const bool scored = greedy && distribution.score.defined();
  std::vector<Tensor> read = {distribution.rule, distribution.location};
  if (scored) read.insert(read.end(), {distribution.score, distribution.stop});
  auto numbers = to_floats(read);
  numbers.resize(4);
  const auto &log_rule = numbers[0], &log_location = numbers[1], &score = numbers[2], &stop = numbers[3];
  Decisions result;
  std::vector<int64_t> chosen;
  for (int64_t b = 0; b < batch.graphs; ++b) {
    const float* row = log_rule.data() + b * (batch.rules + 1);
    if (!std::isfinite(row[batch.rules])) fail("act: the policy of graph {} is not finite; the weights are damaged", b);
    const auto u = static_cast<size_t>(2 * b);
    const auto best = scored ? most_probable(batch, b, score, stop[static_cast<size_t>(b)]) : mdp::Action();
    const int64_t x = scored   ? best.rule
                      : greedy ? most_probable(row, batch.rules + 1)
                               : sample_log(row, batch.rules + 1, uniforms[u]);
    int64_t location = 0;
    float log_prob_location = 0;
    if (x < batch.rules) {
      const auto pair = static_cast<size_t>(b * batch.rules + x);
      const float* part = log_location.data() + batch.loc_offset[pair];
      const int64_t count = batch.loc_offset[pair + 1] - batch.loc_offset[pair];
      location = scored   ? best.location
                 : greedy ? most_probable(part, count)
                          : sample_log(part, count, uniforms[u + 1]);
      log_prob_location = part[location];
      if (!std::isfinite(log_prob_location))
        fail("act: the location policy of graph {} is not finite; the weights are damaged", b);
    }
    chosen.push_back(x);
    result.actions.push_back({static_cast<int32_t>(x), static_cast<int32_t>(location)});
    result.log_prob_rule.push_back(row[x]);
    result.log_prob_location.push_back(log_prob_location);
  }
  const auto [rule, location] = entropies(batch, distribution);
  auto rest = to_floats(
      {value_of_rule(latent.global), value_of_location(latent.global, to_ints(chosen, device())), rule + location});
  result.value_rule = std::move(rest[0]);
  result.value_location = std::move(rest[1]);
  result.entropy = std::move(rest[2]);
  return result;
}

Evaluation AgentImpl::evaluate(const GraphBatch& batch, std::span<const mdp::Action> actions) {
  if (actions.size() != static_cast<size_t>(batch.graphs))
    fail("evaluate: {} actions for {} graphs", actions.size(), batch.graphs);
  std::vector<int64_t> rule, place;
  for (size_t b = 0; b < actions.size(); ++b) {
    const auto [x, location] = actions[b];
    const bool noop = x == batch.rules;
    const auto first = b * static_cast<size_t>(batch.rules), pair = first + static_cast<size_t>(x);
    const bool legal = noop ? location == 0
                            : x >= 0 && x < batch.rules && location >= 0 &&
                                  location < batch.loc_offset[pair + 1] - batch.loc_offset[pair];
    if (!legal) fail("evaluate: action (rule {}, location {}) of graph {} is not legal", x, location, b);
    rule.push_back(x);
    place.push_back(noop ? -1 : batch.loc_offset[pair] - batch.loc_offset[first] + location);
  }
  return evaluate(batch, ActionRows{to_ints(rule, device()), to_ints(place, device())});
}

Evaluation AgentImpl::evaluate(const GraphBatch& batch, const ActionRows& actions) {
  const auto latent = encode(batch);
  const auto distribution = policy(batch, latent);
  Evaluation result;
  result.log_prob_rule = distribution.rule.gather(1, actions.rule.unsqueeze(1)).squeeze(1);
  if (batch.locations == 0) {
    result.log_prob_location = torch::zeros_like(result.log_prob_rule);
  } else {
    const auto has_location = actions.location >= 0;
    const auto place = (batch.loc_first + actions.location) * has_location;
    result.log_prob_location = distribution.location.index_select(0, place) * has_location;
  }
  std::tie(result.entropy_rule, result.entropy_location) = entropies(batch, distribution);
  result.value_rule = value_of_rule(latent.global);
  result.value_location = value_of_location(latent.global, actions.rule);
  return result;
}

double AgentImpl::rescale_values(double shift, double scale) {
  if (!(std::isfinite(shift) && std::isfinite(scale) && scale > 0))
    fail("rescale_values: shift {}, scale {}", shift, scale);
  torch::NoGradGuard no_grad;
  const auto type = value_scale_.scalar_type();
  const auto old_shift = value_shift_.to(torch::kFloat64), old_scale = value_scale_.to(torch::kFloat64);
  const auto ratio = (old_scale / scale).to(type), moved = (old_shift - shift).to(type);
  for (auto* out : {&value_out_, &location_value_out_}) {
    (*out)->weight.mul_(ratio);
    (*out)->bias.mul_(value_scale_).add_(moved).div_(scale);
  }
  value_shift_.fill_(shift);
  value_scale_.fill_(scale);
  return type == torch::kFloat64 ? scale : static_cast<double>(static_cast<float>(scale));
}

}  // namespace rlgo::nets
