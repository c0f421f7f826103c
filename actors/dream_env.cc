#include "actors/dream_env.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"

namespace rlgo::actors {

using torch::Tensor;

DreamEnv::DreamEnv(std::shared_ptr<Dreamer> dreamer, DreamOptions options)
    : dreamer_(std::move(dreamer)), options_(options) {
  if (options.batch < 1 || options.max_steps < 1)
    fail("dream: batch {} and length {}, expected at least 1", options.batch, options.max_steps);
  if (!(options.temperature >= 0)) fail("dream: temperature {}, expected at least 0", options.temperature);
  const auto& world = dreamer_->world;
  if (options.penalty > 0 && world->options().ensemble < 2)
    fail("dream: a penalty for disagreement needs an ensemble of at least 2, not {}", world->options().ensemble);
  const auto blank = world->blank(options.batch);
  h_ = blank.h.clone();
  c_ = blank.c.clone();
  z_ = torch::zeros({options.batch, world->latent_width()}, blank.h.options());
  counts_ = torch::zeros({options.batch, spec().rules}, blank.h.options());
  legal_.resize(static_cast<size_t>(options.batch));
  steps_.assign(static_cast<size_t>(options.batch), 0);
  rngs_.assign(static_cast<size_t>(options.batch), Rng({0}));
}

mdp::Observation DreamEnv::reset(int index, uint64_t key) {
  const auto& starts = dreamer_->starts;
  if (starts.size() == 0) fail("dream: nothing to begin from, the dreamer has no start");
  c10::InferenceMode inference;
  const auto i = static_cast<size_t>(index);
  rngs_.at(i) = Rng({key, 0xD4EA});
  steps_[i] = 0;
  const auto start = static_cast<int64_t>(rngs_[i].below(static_cast<uint64_t>(starts.size())));
  z_[index].copy_(starts.z[start]);
  h_[index].copy_(starts.h[start]);
  c_[index].copy_(starts.c[start]);
  counts_[index].copy_(starts.counts[start]);
  const auto counts = starts.counts[start].to(torch::kCPU).contiguous();
  const float* values = counts.const_data_ptr<float>();
  legal_[i].assign(values, values + spec().rules);
  const auto latent = torch::cat({z_[index], h_[index]}).to(torch::kCPU).contiguous();
  mdp::Observation observation;
  observation.latent.assign(latent.const_data_ptr<float>(), latent.const_data_ptr<float>() + latent.numel());
  observation.counts = legal_[i];
  return observation;
}

// Each dream has its own stream: 2 Z + 1 draws a step at any temperature but 0.
DreamEnv::Draws DreamEnv::draw(const std::vector<int>& indices) {
  Draws draws;
  const auto rows = static_cast<int64_t>(indices.size()), z = dreamer_->world->latent_width();
  draws.terminal.assign(indices.size(), 0.5);
  if (options_.temperature == 0) return draws;
  draws.uniforms = torch::empty({rows, z});
  draws.normals = torch::empty({rows, z});
  float *uniform = draws.uniforms.data_ptr<float>(), *normal = draws.normals.data_ptr<float>();
  for (size_t i = 0; i < indices.size(); ++i) {
    Rng& rng = rngs_[static_cast<size_t>(indices[i])];
    for (int64_t k = 0; k < z; ++k) *uniform++ = static_cast<float>(rng.uniform());
    for (int64_t k = 0; k < z; ++k) *normal++ = static_cast<float>(rng.normal());
    draws.terminal[i] = rng.uniform();
  }
  return draws;
}

// [B] in reward units: mean over the ensemble, less the penalty for its disagreement about reward and latent.
Tensor DreamEnv::rewards(const nets::Prediction& p) const {
  const auto& world = dreamer_->world;
  auto reward = world->reward_units(p.reward.mean(-1));
  if (options_.penalty > 0) {
    const auto unsure = p.reward.std(-1) + p.members.std(-2).mean(-1);
    reward = reward - options_.penalty * unsure;
  }
  return reward;
}

mdp::StepResult DreamEnv::result(int index, mdp::Action action, const float* latent, const float* counts, double reward,
                                 double p_end, double luck) {
  const auto i = static_cast<size_t>(index);
  const auto& s = spec();
  mdp::StepResult r;
  r.observation.latent.assign(latent, latent + s.latent_features);
  legal_[i].assign(counts, counts + s.rules);
  r.observation.counts = legal_[i];
  r.reward = static_cast<float>(reward);
  const bool stuck = std::all_of(legal_[i].begin(), legal_[i].end(), [](int32_t c) { return c == 0; });
  r.terminal = action.rule == s.rules || stuck || luck < p_end;
  r.truncated = !r.terminal && ++steps_[i] >= options_.max_steps;
  if (action.rule < s.rules && static_cast<size_t>(action.rule) < s.rule_names.size())
    r.info.rule = s.rule_names[static_cast<size_t>(action.rule)];
  return r;
}

std::vector<mdp::StepResult> DreamEnv::step(const std::vector<int>& indices, const std::vector<mdp::Action>& actions) {
  RLGO_CHECK_EQ(indices.size(), actions.size());
  c10::InferenceMode inference;
  auto& world = dreamer_->world;
  const auto device = world->device();
  const auto rows = static_cast<int64_t>(indices.size());
  auto rule = torch::empty({rows}, torch::kInt64);
  auto place = torch::empty({rows, 2});
  for (size_t i = 0; i < indices.size(); ++i) {
    const auto& legal = legal_.at(static_cast<size_t>(indices[i]));
    const auto [x, l] = actions[i];
    const bool noop = x == spec().rules;
    if (!noop && (x < 0 || x > spec().rules || l < 0 || l >= legal[static_cast<size_t>(x)]))
      fail("dream {}: action (rule {}, location {}) is not legal", indices[i], x, l);
    rule.data_ptr<int64_t>()[i] = x;
    const auto features = nets::location_features(actions[i], legal, spec().max_locations);
    std::copy(features.begin(), features.end(), place.data_ptr<float>() + 2 * i);
  }
  const auto index = torch::tensor(std::vector<int64_t>(indices.begin(), indices.end()), torch::kInt64).to(device);
  const bool all = rows == options_.batch && std::is_sorted(indices.begin(), indices.end());
  const auto pick = [&](const Tensor& t) { return all ? t : t.index_select(0, index); };
  nets::Memory memory{pick(h_), pick(c_)};
  const auto p = world->step({pick(z_), pick(counts_), rule.to(device), place.to(device)}, memory);
  const auto draws = draw(indices);
  const auto on_device = [&](const Tensor& t) { return t.defined() ? t.to(device) : t; };
  const auto z = nets::sample(p.z, on_device(draws.uniforms), on_device(draws.normals), options_.temperature,
                              options_.scale_noise);
  const auto counts = world->counts_of(p);
  const std::pair<Tensor*, const Tensor*> moved[] = {
      {&z_, &z}, {&h_, &memory.h}, {&c_, &memory.c}, {&counts_, &counts}};
  for (const auto& [to, from] : moved) {
    if (all) {
      *to = *from;
    } else {
      to->index_copy_(0, index, *from);
    }
  }
  const auto latent = torch::cat({z, memory.h}, 1).to(torch::kCPU).contiguous();
  const auto legal = counts.to(torch::kCPU).contiguous();
  const auto reward = rewards(p).to(torch::kCPU).contiguous();
  const auto ends = torch::sigmoid(p.terminal).to(torch::kCPU).contiguous();
  std::vector<mdp::StepResult> results;
  results.reserve(indices.size());
  for (size_t i = 0; i < indices.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    results.push_back(result(indices[i], actions[i], latent.const_data_ptr<float>() + at * spec().latent_features,
                             legal.const_data_ptr<float>() + at * spec().rules, reward.const_data_ptr<float>()[at],
                             ends.const_data_ptr<float>()[at], draws.terminal[i]));
  }
  return results;
}

}  // namespace rlgo::actors
