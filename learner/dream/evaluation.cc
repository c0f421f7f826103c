#include "learner/dream/evaluation.h"

#include <algorithm>
#include <cmath>

#include "actors/dream_env.h"
#include "actors/network_policy.h"
#include "core/base/error.h"

namespace rlgo::learner {

using torch::Tensor;

double total_reward(const mdp::Trajectory& trajectory) {
  double sum = 0;
  for (const auto& step : trajectory.steps) sum += step.reward;
  return sum;
}

RealStates states_along(std::span<const mdp::Trajectory* const> all, WorldTrainer& trainer, int64_t most) {
  std::vector<const mdp::Trajectory*> episodes;
  std::vector<size_t> number;
  int64_t steps = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i]->steps.empty()) continue;
    episodes.push_back(all[i]);
    number.push_back(i);
    steps += static_cast<int64_t>(all[i]->steps.size());
  }
  if (episodes.empty()) fail("dreams have no real state to begin from: no episode has a step");
  torch::NoGradGuard no_grad;
  auto& world = trainer.model();
  const auto views = trainer.look(episodes);
  const auto s = on_device(trainer.sequences(episodes, views), world->device(), torch::kFloat32);
  auto memory = world->blank(s.episodes);
  RealStates result;
  std::vector<Tensor> zs, hs, cs, counts;
  const int64_t stride = std::max<int64_t>(1, steps / std::max<int64_t>(most, 1));
  int64_t seen = 0;
  for (int64_t t = 0; t < s.steps; ++t) {
    auto z = torch::zeros({s.episodes, world->latent_width()}, memory.h.options());
    for (int64_t b = 0; b < s.episodes; ++b) {
      const auto& e = *episodes[static_cast<size_t>(b)];
      const auto at = static_cast<size_t>(t);
      if (at >= e.steps.size()) continue;
      const auto& view = views.at(&e);
      z[b] = world->standardise(view.raw[t]);
      if (seen++ % stride != 0) continue;
      zs.push_back(z[b]);
      hs.push_back(memory.h[b]);
      cs.push_back(memory.c[b]);
      counts.push_back(s.counts[t][b]);
      result.where.emplace_back(number[static_cast<size_t>(b)], at);
      if (!world->options().locations) continue;
      const auto features = view.features[at].contiguous();
      result.starts.menus.emplace_back(
          e.steps[at].observation, std::span(features.const_data_ptr<float>(), static_cast<size_t>(features.numel())),
          world->place_width());
    }
    auto input = input_of(s, t, t + 1, z.unsqueeze(0));
    for (auto* part : {&input.z, &input.counts, &input.rule, &input.location, &input.place, &input.overlap}) {
      if (part->defined()) *part = part->squeeze(0);
    }
    world->step(input, memory);
  }
  result.starts.z = torch::stack(zs);
  result.starts.h = torch::stack(hs);
  result.starts.c = torch::stack(cs);
  result.starts.counts = torch::stack(counts);
  return result;
}

std::vector<std::vector<double>> rewards_of(mdp::BatchEnv& env, actors::Policy& policy,
                                            std::vector<mdp::Observation> begins, uint64_t key) {
  std::vector<std::vector<double>> rewards(begins.size());
  std::vector<Rng> rngs;
  std::vector<int> running;
  for (int i = 0; i < std::ssize(begins); ++i) {
    rngs.emplace_back(Rng({key, static_cast<uint64_t>(i), 0xC0DE}));
    running.push_back(i);
  }
  while (!running.empty()) {
    std::vector<const mdp::Observation*> seen;
    std::vector<Rng*> draws;
    for (const int i : running) {
      seen.push_back(&begins[static_cast<size_t>(i)]);
      draws.push_back(&rngs[static_cast<size_t>(i)]);
    }
    std::vector<mdp::Action> actions;
    for (const auto& decision : policy.act(seen, draws)) actions.push_back(decision.action);
    auto results = env.step(running, actions);
    std::vector<int> left;
    for (size_t k = 0; k < running.size(); ++k) {
      const auto i = static_cast<size_t>(running[k]);
      rewards[i].push_back(results[k].reward);
      begins[i] = std::move(results[k].observation);
      if (!results[k].terminal && !results[k].truncated) left.push_back(running[k]);
    }
    running = std::move(left);
  }
  return rewards;
}

namespace {

// Rewards of one dream from each start, until it ends or `steps` are over: [starts][<= steps].
std::vector<std::vector<double>> dream_rewards(actors::Dreamer& dreamer, actors::DreamOptions options, int steps,
                                               uint64_t key) {
  options.batch = static_cast<int>(dreamer.starts.size());
  options.max_steps = steps;
  // The environment shares the dreamer, which the caller owns.
  actors::DreamEnv env(std::shared_ptr<actors::Dreamer>(std::shared_ptr<void>(), &dreamer), options);
  actors::NetworkPolicy policy(dreamer.agent.ptr());
  std::vector<mdp::Observation> begins;
  for (int i = 0; i < options.batch; ++i) begins.push_back(env.begin(i, key + static_cast<uint64_t>(i), i));
  return rewards_of(env, policy, std::move(begins), key);
}

}  // namespace

double DreamReturn::error() const { return std::max(std::abs(gap()) - 2 * deviation, 0.0); }

std::vector<DreamReturn> compare_returns(actors::Dreamer& dreamer, const RealStates& states,
                                         std::span<const mdp::Trajectory* const> episodes,
                                         const actors::DreamOptions& options, std::span<const int> horizons,
                                         uint64_t key) {
  const auto own = std::exchange(dreamer.starts, states.starts);
  std::vector<std::vector<double>> dreamed;
  try {
    dreamed = dream_rewards(dreamer, options, *std::ranges::max_element(horizons), key);
  } catch (...) {
    dreamer.starts = own;
    throw;
  }
  dreamer.starts = own;
  std::vector<DreamReturn> result;
  for (const int steps : horizons) {
    DreamReturn r{.steps = steps};
    double squares = 0;
    for (size_t i = 0; i < states.where.size(); ++i) {
      const auto [episode, first] = states.where[i];
      const auto& e = *episodes[episode];
      const size_t end = first + static_cast<size_t>(steps);
      if (end > e.steps.size() && !e.terminal) continue;  // cut off: what would have come is not known
      double real = 0, dream = 0;
      for (size_t t = first; t < std::min(end, e.steps.size()); ++t) real += e.steps[t].reward;
      for (size_t t = 0; t < std::min(static_cast<size_t>(steps), dreamed[i].size()); ++t) dream += dreamed[i][t];
      r.real += real;
      r.dream += dream;
      squares += (dream - real) * (dream - real);
      ++r.states;
    }
    const auto n = static_cast<double>(std::max<int64_t>(r.states, 1));
    r.real /= n;
    r.dream /= n;
    const double variance = std::max(squares / n - r.gap() * r.gap(), 0.0);
    r.deviation = r.states > 1 ? std::sqrt(variance / (n - 1)) : 0.0;
    result.push_back(r);
  }
  return result;
}

WorldCheck check_world(actors::Dreamer& dreamer, WorldTrainer& trainer,
                       std::span<const mdp::Trajectory* const> episodes, actors::DreamOptions options, uint64_t key) {
  constexpr int64_t kStates = 256;
  const auto states = states_along(episodes, trainer, kStates);
  WorldCheck check;
  check.episodes = static_cast<int64_t>(episodes.size());
  for (const auto* e : episodes) check.steps += static_cast<int64_t>(e->steps.size());
  check.states = states.starts.size();
  std::vector<int> horizons(std::begin(WorldScore::kHorizons), std::end(WorldScore::kHorizons));
  std::vector<WorldTrainer::Clips> kinds = {{}};
  if (dreamer.world->options().ranges) kinds.insert(kinds.end(), {{true, false}, {false, true}, {true, true}});
  for (const auto clips : kinds) {
    options.clip_reward = clips.reward;
    options.clip_latent = clips.latent;
    check.variants.push_back(
        {clips, trainer.score(episodes, clips), compare_returns(dreamer, states, episodes, options, horizons, key)});
  }
  return check;
}

bool keeps_promise(const DreamReturn& measured, double guard) {
  if (guard <= 0) return true;
  return measured.error() <= guard * std::max(std::min(measured.dream, measured.real), 0.0);
}

}  // namespace rlgo::learner
