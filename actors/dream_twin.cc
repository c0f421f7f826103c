// Dreams with real environments next to them: what is asked of these, and what of it becomes a part of the dream.
#include <algorithm>

#include "actors/dream_env.h"
#include "core/nets/transfer.h"

namespace rlgo::actors {
namespace {

// A legal action but NO-OP, each with the same chance; nothing where there is none.
std::optional<mdp::Action> drawn(const std::vector<int32_t>& counts, Rng& rng) {
  int64_t all = 0;
  for (const int32_t count : counts) all += count;
  if (all == 0) return {};
  auto at = static_cast<int64_t>(rng.below(static_cast<uint64_t>(all)));
  int32_t rule = 0;
  while (at >= counts[static_cast<size_t>(rule)]) at -= counts[static_cast<size_t>(rule++)];
  return mdp::Action{rule, static_cast<int32_t>(at)};
}

// The location of a rule that looks most like an item; its rule must have one.
int32_t nearest(const nets::Menu& menu, const nets::MenuItem& item, int32_t count) {
  int32_t best = 0;
  float least = 0;
  for (int32_t l = 0; l < count; ++l) {
    const auto& other = menu.at({item.rule, l}).features;
    float distance = 0;
    for (size_t k = 0; k < other.size(); ++k) distance += (other[k] - item.features[k]) * (other[k] - item.features[k]);
    if (l > 0 && distance >= least) continue;
    least = distance;
    best = l;
  }
  return best;
}

}  // namespace

mdp::Observation DreamEnv::begin_with_twin(int index, uint64_t key) {
  c10::InferenceMode inference;
  const auto i = static_cast<size_t>(index);
  auto& life = lives_[i];
  auto& real = *twin_.real;
  life = {};
  rngs_.at(i) = Rng({key, 0xD4EB});
  steps_[i] = 0;
  real.reset(index, key);
  Rng rng({key, 0x94EF});
  for (int k = 0; k < twin_.prefix && !life.over; ++k) {
    const auto action = drawn(real.state(index).counts, rng);
    if (!action) break;
    const auto r = real.step({index}, {*action})[0];
    life.before += r.reward;
    life.over = r.terminal || r.truncated;
  }
  const auto& s = real.state(index);
  z_[index].copy_(s.z[0]);
  h_[index].copy_(s.memory.h[0]);
  c_[index].copy_(s.memory.c[0]);
  legal_[i] = s.counts;
  if (life.over) std::ranges::fill(legal_[i], 0);  // nothing is left but to stop
  if (!menus_.empty()) menus_[i] = life.over ? nets::Menu() : s.menu;
  counts_[index].copy_(nets::to_device(torch::tensor(legal_[i], torch::kFloat32), counts_.device()));
  return seen_at(index);
}

// Locations are numbers to the published form. Else the real one is meant that looks most like the dreamed one.
std::optional<mdp::Action> DreamEnv::real_action(int index, mdp::Action action) const {
  if (action.rule == spec().rules || twin_.truth.masks) return action;
  const auto& s = twin_.real->state(index);
  const int32_t count = s.counts[static_cast<size_t>(action.rule)];
  if (menus_.empty()) return action.location < count ? std::optional(action) : std::nullopt;
  if (count == 0) return {};
  const auto& meant = menus_[static_cast<size_t>(index)].at(action);
  return mdp::Action{action.rule, nearest(s.menu, meant, count)};
}

void DreamEnv::step_twin(const std::vector<int>& indices, const std::vector<mdp::Action>& actions) {
  for (size_t k = 0; k < indices.size(); ++k) {
    auto& life = lives_[static_cast<size_t>(indices[k])];
    life.reward = 0;
    if (life.over) continue;
    ++apart_.steps;
    const auto action = real_action(indices[k], actions[k]);
    if (!action) {
      ++apart_.illegal;
      continue;
    }
    const auto r = twin_.real->step({indices[k]}, {*action})[0];
    life.reward = r.reward;
    life.over = r.terminal || r.truncated;
  }
}

void DreamEnv::compare(int index, const torch::Tensor& z) {
  const auto& s = twin_.real->state(index);
  const auto& legal = legal_[static_cast<size_t>(index)];
  ++apart_.states;
  for (size_t x = 0; x < legal.size(); ++x) {
    apart_.rules += legal[x] > 0 || s.counts[x] > 0;
    apart_.wrong += legal[x] != s.counts[x];
  }
  apart_.distance += (z - s.z[0]).square().mean().sqrt().item<double>();
}

// After dreams have changed by what was predicted; z [rows, Z].
void DreamEnv::state_truth(const std::vector<int>& indices, torch::Tensor& z) {
  for (size_t k = 0; k < indices.size(); ++k) {
    const auto i = static_cast<size_t>(indices[k]);
    if (lives_[i].over) {
      if (twin_.truth.masks) std::ranges::fill(legal_[i], 0);
      continue;
    }
    const auto& s = twin_.real->state(indices[k]);
    compare(indices[k], z[static_cast<int64_t>(k)]);
    if (twin_.truth.state) z[static_cast<int64_t>(k)].copy_(s.z[0]);
    if (!twin_.truth.masks) continue;
    legal_[i] = s.counts;
    if (!menus_.empty()) menus_[i] = s.menu;
  }
}

}  // namespace rlgo::actors
