#include "learner/dream/swaps.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "actors/latent_env.h"
#include "actors/network_policy.h"
#include "learner/dream/evaluation.h"

namespace rlgo::learner {
namespace {

using Rewards = std::vector<std::vector<double>>;  // [starts][steps]

double sum_of(const std::vector<double>& rewards, int steps) {
  const auto end = std::min(std::ssize(rewards), static_cast<std::ptrdiff_t>(steps));
  return std::accumulate(rewards.begin(), rewards.begin() + end, 0.0);
}

std::vector<SwapReturn> returns_of(const Rewards& rewards, const Rewards& reality, const std::vector<int>& horizons) {
  std::vector<SwapReturn> returns;
  const auto n = static_cast<double>(rewards.size());
  for (const int steps : horizons) {
    SwapReturn r{.steps = steps};
    double gap = 0, squares = 0;
    for (size_t i = 0; i < rewards.size(); ++i) {
      const double sum = sum_of(rewards[i], steps), apart = sum - sum_of(reality[i], steps);
      r.mean += sum / n;
      gap += apart / n;
      squares += apart * apart / n;
    }
    if (rewards.size() > 1) r.deviation = std::sqrt(std::max(squares - gap * gap, 0.0) / (n - 1));
    returns.push_back(r);
  }
  return returns;
}

}  // namespace

SwapCheck swap_truths(const std::shared_ptr<actors::Dreamer>& dreamer, std::unique_ptr<mdp::BatchEnv> real,
                      actors::DreamOptions options, int prefix, const std::vector<int>& horizons, uint64_t key) {
  options.batch = real->size();
  options.max_steps = horizons.back();
  SwapCheck check;
  check.prefix = prefix;
  check.starts = real->size();
  const auto twin = std::make_shared<actors::LatentEnv>(std::move(real), dreamer);
  // The same starts and the same luck for all.
  const auto play = [&](actors::Truth truth, actors::Policy& policy, actors::Apart& apart) {
    actors::DreamEnv env(dreamer, options, {twin, truth, prefix});
    std::vector<mdp::Observation> begins;
    check.before = 0;
    for (int i = 0; i < options.batch; ++i) {
      begins.push_back(env.reset(i, key + static_cast<uint64_t>(i)));
      check.before += env.prefix_reward(i) / options.batch;
    }
    auto rewards = rewards_of(env, policy, std::move(begins), key);
    apart = env.apart();
    return rewards;
  };
  actors::NetworkPolicy controller(dreamer->agent.ptr());
  std::vector<Rewards> played;
  for (const bool reward : {false, true}) {
    for (const bool masks : {false, true}) {
      for (const bool state : {false, true}) {
        auto& swap = check.swaps.emplace_back(Swap{{reward, masks, state}, {}, {}});
        played.push_back(play(swap.truth, controller, swap.apart));
      }
    }
  }
  const auto& reality = played.back();
  for (size_t k = 0; k < played.size(); ++k) check.swaps[k].returns = returns_of(played[k], reality, horizons);
  actors::RandomPolicy random(false);
  actors::Apart none;
  check.random = returns_of(play(check.swaps.back().truth, random, none), reality, horizons);
  return check;
}

}  // namespace rlgo::learner
