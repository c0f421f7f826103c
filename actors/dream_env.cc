#include "actors/dream_env.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/nets/transfer.h"

namespace rlgo::actors {

using torch::Tensor;

DreamEnv::DreamEnv(std::shared_ptr<Dreamer> dreamer, DreamOptions options, Twin twin)
    : dreamer_(std::move(dreamer)), options_(options), twin_(std::move(twin)) {
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
  if (world->options().locations) menus_.resize(static_cast<size_t>(options.batch));
  steps_.assign(static_cast<size_t>(options.batch), 0);
  rngs_.assign(static_cast<size_t>(options.batch), Rng({0}));
  if (!twin_.real) return;
  if (twin_.real->size() < options.batch)
    fail("dream: {} real environments next to {} dreams", twin_.real->size(), options.batch);
  lives_.resize(static_cast<size_t>(options.batch));
}

mdp::Observation DreamEnv::reset(int index, uint64_t key) { return std::move(reset_together({index}, {key})[0]); }

int64_t DreamEnv::drawn_start(uint64_t key) const {
  if (dreamer_->starts.size() == 0) fail("dream: nothing to begin from, the dreamer has no start");
  Rng rng({key, 0xD4EA});
  return static_cast<int64_t>(rng.below(static_cast<uint64_t>(dreamer_->starts.size())));
}

std::vector<mdp::Observation> DreamEnv::reset_together(const std::vector<int>& indices,
                                                       const std::vector<uint64_t>& keys) {
  if (!twin_.real) {
    std::vector<int64_t> starts;
    for (const uint64_t key : keys) starts.push_back(drawn_start(key));
    return begin_at(indices, keys, starts);
  }
  std::vector<mdp::Observation> observations;
  for (size_t k = 0; k < indices.size(); ++k) observations.push_back(begin_with_twin(indices[k], keys.at(k)));
  return observations;
}

mdp::Observation DreamEnv::begin(int index, uint64_t key, int64_t start) {
  return std::move(begin_at({index}, {key}, {start})[0]);
}

// All of them in a few operations on the device, and one copy to the host.
std::vector<mdp::Observation> DreamEnv::begin_at(const std::vector<int>& indices, const std::vector<uint64_t>& keys,
                                                 const std::vector<int64_t>& starts) {
  const auto& all = dreamer_->starts;
  std::vector<int64_t> numbers(indices.begin(), indices.end());
  for (size_t k = 0; k < indices.size(); ++k) {
    if (starts[k] < 0 || starts[k] >= all.size()) fail("dream: start {} of {}", starts[k], all.size());
    rngs_.at(static_cast<size_t>(indices[k])) = Rng({keys.at(k), 0xD4EB});
    steps_[static_cast<size_t>(indices[k])] = 0;
  }
  c10::InferenceMode inference;
  numbers.insert(numbers.end(), starts.begin(), starts.end());
  const auto to_and_from = nets::to_ints(numbers, z_.device()).view({2, -1});
  const auto pick = [&](const Tensor& t) { return t.index_select(0, to_and_from[1]); };
  const auto z = pick(all.z), h = pick(all.h), counts = pick(all.counts);
  const std::pair<Tensor*, Tensor> moved[] = {{&z_, z}, {&h_, h}, {&c_, pick(all.c)}, {&counts_, counts}};
  for (const auto& [to, from] : moved) to->index_copy_(0, to_and_from[0], from);
  const auto reported = nets::to_floats({dreamer_->world->view(z, h), counts});
  const auto width = static_cast<size_t>(spec().latent_features);
  take_counts(indices, reported[1]);
  std::vector<mdp::Observation> observations(indices.size());
  for (size_t k = 0; k < indices.size(); ++k) {
    const auto i = static_cast<size_t>(indices[k]);
    if (!menus_.empty()) menus_[i] = all.menus.at(static_cast<size_t>(starts[k]));
    see(observations[k], i, reported[0].data() + k * width);
  }
  return observations;
}

mdp::Observation DreamEnv::seen_at(int index) {
  const auto view = nets::to_floats(dreamer_->world->view(z_[index], h_[index]));
  mdp::Observation observation;
  see(observation, static_cast<size_t>(index), view.data());
  return observation;
}

// What the controller sees of a dreamed state.
void DreamEnv::see(mdp::Observation& observation, size_t i, const float* view) const {
  observation.latent.assign(view, view + spec().latent_features);
  observation.counts = legal_[i];
  if (!menus_.empty()) menus_[i].append_features(observation.latent);
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

// [B] in percent: mean over the ensemble, less the penalty for its disagreement about reward and latent, both in units
// of the reward.
Tensor DreamEnv::rewards(const nets::Prediction& p, const Tensor& rule) const {
  const auto& world = dreamer_->world;
  const auto members = world->reward_units(p.reward);
  auto reward = members.mean(-1);
  if (options_.clip_reward) reward = world->clip_reward(reward, rule);
  if (options_.penalty > 0) {
    const auto unsure = members.std(-1) + world->reward_deviation() * p.members.std(-2).mean(-1);
    reward = reward - options_.penalty * unsure;
  }
  return reward;
}

mdp::StepResult DreamEnv::result(int index, mdp::Action action, const float* view, double reward, double p_end,
                                 double luck) {
  const auto i = static_cast<size_t>(index);
  const auto& s = spec();
  mdp::StepResult r;
  see(r.observation, i, view);
  r.reward = static_cast<float>(reward);
  const bool stuck = std::all_of(legal_[i].begin(), legal_[i].end(), [](int32_t c) { return c == 0; });
  const bool over = twin_.real && twin_.truth.masks ? lives_[i].over : luck < p_end;
  r.terminal = action.rule == s.rules || stuck || over;
  r.truncated = !r.terminal && ++steps_[i] >= options_.max_steps;
  if (action.rule < s.rules && static_cast<size_t>(action.rule) < s.rule_names.size())
    r.info.rule = s.rule_names[static_cast<size_t>(action.rule)];
  return r;
}

// Takes away and adds the locations that are predicted, of each dream; NO-OP changes none.
void DreamEnv::change_menus(const std::vector<int>& indices, const std::vector<mdp::Action>& actions,
                            const nets::WorldInput& input, const nets::Prediction& p) {
  const int64_t rules = spec().rules;
  const auto both = torch::stack({p.change.argmax(-1) - nets::kMostChange, p.gone.argmax(-1)}).to(torch::kCPU);
  const auto changed = both[0], gone = both[1];
  std::vector<int64_t> taken;
  for (const auto& action : actions) taken.push_back(action.rule);
  auto come = (changed + gone).clamp_min(0).masked_fill_(torch::tensor(taken).unsqueeze(-1) == rules, 0);
  const auto kinds = come.nonzero();  // [*, 2] row, rule
  const auto row = kinds.select(1, 0), rule = kinds.select(1, 1);
  const auto times = come.index({row, rule});
  const auto rows = row.repeat_interleave(times), rules_of = rule.repeat_interleave(times);
  const auto device = p.trunk.device();
  const auto at = nets::to_device(rows, device);
  const auto born = nets::to_floats(dreamer_->world->come(
      p.trunk.index_select(0, at), nets::to_device(rules_of, device), input.place.index_select(0, at)));
  const auto width = static_cast<size_t>(dreamer_->world->place_width());
  const auto totals = come.sum(-1);
  size_t next = 0;
  for (size_t i = 0; i < indices.size(); ++i) {
    const size_t end = next + static_cast<size_t>(totals.const_data_ptr<int64_t>()[i]) * width;
    if (actions[i].rule < rules) {
      const auto slot = static_cast<size_t>(indices[i]), r = static_cast<size_t>(rules);
      const nets::MenuChange change{
          {gone.const_data_ptr<int64_t>() + i * r, r},
          {come.const_data_ptr<int64_t>() + i * r, r},
          {born.begin() + static_cast<std::ptrdiff_t>(next), born.begin() + static_cast<std::ptrdiff_t>(end)}};
      menus_[slot].apply(actions[i], change, spec().max_locations);
      legal_[slot] = menus_[slot].counts(spec().rules);
    }
    next = end;
  }
}

// Without z and counts.
nets::WorldInput DreamEnv::input_of(const std::vector<int>& indices, const std::vector<mdp::Action>& actions) const {
  std::vector<const std::vector<int32_t>*> legal;
  std::vector<const nets::Menu*> menus;
  for (const int index : indices) {
    legal.push_back(&legal_.at(static_cast<size_t>(index)));
    menus.push_back(menus_.empty() ? nullptr : &menus_[static_cast<size_t>(index)]);
  }
  return world_input(*dreamer_->world, actions, legal, menus);
}

std::vector<mdp::StepResult> DreamEnv::step(const std::vector<int>& indices, const std::vector<mdp::Action>& actions) {
  RLGO_CHECK_EQ(indices.size(), actions.size());
  c10::InferenceMode inference;
  auto& world = dreamer_->world;
  const auto device = world->device();
  const auto rows = static_cast<int64_t>(indices.size());
  auto input = input_of(indices, actions);
  const auto index =
      nets::to_device(torch::tensor(std::vector<int64_t>(indices.begin(), indices.end()), torch::kInt64), device);
  const bool all = rows == options_.batch && std::is_sorted(indices.begin(), indices.end());
  const auto pick = [&](const Tensor& t) { return all ? t : t.index_select(0, index); };
  nets::Memory memory{pick(h_), pick(c_)};
  input.z = pick(z_);
  input.counts = pick(counts_);
  const auto p = world->step(input, memory);
  const auto draws = draw(indices);
  const auto on_device = [&](const Tensor& t) { return t.defined() ? nets::to_device(t, device) : t; };
  auto z = nets::sample(p.z, on_device(draws.uniforms), on_device(draws.normals), options_.temperature,
                        options_.scale_noise);
  if (options_.clip_latent) z = world->clip_latent(z);
  if (twin_.real) step_twin(indices, actions);  // by what the dream offers, so before that changes
  // All that the host has to know comes in one copy, but for what depends on the real environments.
  std::vector<Tensor> read = {rewards(p, input.rule), torch::sigmoid(p.terminal)};
  if (menus_.empty()) read.push_back(world->counts_of(p, input.counts));
  if (!twin_.real) read.push_back(world->view(z, memory.h));
  auto reported = nets::to_floats(read);
  if (menus_.empty()) {
    take_counts(indices, reported[2]);
  } else {
    change_menus(indices, actions, input, p);
  }
  if (twin_.real) {
    state_truth(indices, z);
    reported.push_back(nets::to_floats(world->view(z, memory.h)));
  }
  const auto counts = nets::to_device(counts_of(indices), device);
  const std::pair<Tensor*, const Tensor*> moved[] = {
      {&z_, &z}, {&h_, &memory.h}, {&c_, &memory.c}, {&counts_, &counts}};
  for (const auto& [to, from] : moved) {
    if (all) {
      *to = *from;
    } else {
      to->index_copy_(0, index, *from);
    }
  }
  const auto &reward = reported[0], &ends = reported[1], &view = reported.back();
  std::vector<mdp::StepResult> results;
  results.reserve(indices.size());
  for (size_t i = 0; i < indices.size(); ++i) {
    const bool known = twin_.real && twin_.truth.reward;
    results.push_back(result(indices[i], actions[i], view.data() + i * static_cast<size_t>(spec().latent_features),
                             known ? lives_[static_cast<size_t>(indices[i])].reward : reward[i], ends[i],
                             draws.terminal[i]));
  }
  return results;
}

void DreamEnv::take_counts(const std::vector<int>& indices, const std::vector<float>& counts) {
  const auto rules = static_cast<size_t>(spec().rules);
  for (size_t i = 0; i < indices.size(); ++i) {
    const auto* own = counts.data() + i * rules;
    legal_[static_cast<size_t>(indices[i])].assign(own, own + rules);
  }
}

// Legal locations of some dreams, [rows, X].
Tensor DreamEnv::counts_of(const std::vector<int>& indices) const {
  auto counts = torch::empty({static_cast<int64_t>(indices.size()), spec().rules});
  float* to = counts.data_ptr<float>();
  for (const int index : indices) {
    const auto& legal = legal_[static_cast<size_t>(index)];
    to = std::copy(legal.begin(), legal.end(), to);
  }
  return counts;
}

}  // namespace rlgo::actors
