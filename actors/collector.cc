// One object for real and dreamed episodes: what may be learned from is decided at one place. An episode that throws is
// given up alone, with (seed, rank, episode) to run it again; the other environments step on.
#include "actors/collector.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/stopwatch.h"

namespace rlgo::actors {

uint64_t episode_key(uint64_t seed, int32_t rank, int64_t episode) {
  return hash_combine(hash_combine(mix64(seed), static_cast<uint64_t>(rank)), static_cast<uint64_t>(episode));
}

Collector::Collector(mdp::BatchEnv& envs, Policy& policy, Sink& sink, CollectorOptions options)
    : Collector(envs, policy, sink, &sink, nullptr, options) {}

Collector::Collector(mdp::BatchEnv& envs, Policy& policy, CodedSink& sink, CollectorOptions options)
    : Collector(envs, policy, sink, nullptr, &sink, options) {}

Collector::Collector(mdp::BatchEnv& envs, Policy& policy, AnySink& losses, Sink* sink, CodedSink* coded,
                     CollectorOptions options)
    : envs_(envs),
      together_(options.step_together ? dynamic_cast<BeginsTogether*>(&envs) : nullptr),
      policy_(policy),
      losses_(losses),
      sink_(sink),
      coded_(coded),
      options_(options),
      spec_hash_(envs.spec().hash()),
      next_episode_(options.first_episode),
      slots_(static_cast<size_t>(envs.size())),
      encoders_(static_cast<size_t>(coded == nullptr ? 0 : envs.size())) {}

int Collector::round(const std::function<bool()>& may_start) {
  if (together_ != nullptr) start_together(may_start);
  std::vector<int> indices;
  for (int i = 0; i < envs_.size(); ++i) {
    auto& slot = slots_[static_cast<size_t>(i)];
    // Again where the environment does not come up: lose() bounds it.
    while (together_ == nullptr && !slot && may_start()) start(i);
    if (slot) indices.push_back(i);
  }
  if (indices.empty()) return 0;
  step(indices, decide(indices));
  return static_cast<int>(indices.size());
}

void Collector::open(int index) {
  auto& slot = slots_[static_cast<size_t>(index)];
  slot.emplace();
  mdp::Trajectory& trajectory = slot->trajectory;
  trajectory.seed = options_.seed;
  trajectory.rank = options_.rank;
  trajectory.episode = next_episode_++;
  trajectory.weights_version = policy_.version();
  trajectory.spec_hash = spec_hash_;
  trajectory.dream = options_.dream;
  const auto episode = static_cast<uint64_t>(trajectory.episode);
  slot->rng = Rng({options_.seed, static_cast<uint64_t>(options_.rank), episode, 0xAC7});
}

// The environment has given the first observation of an episode.
void Collector::begin(int index, mdp::Observation observation) {
  mdp::Trajectory& trajectory = slots_[static_cast<size_t>(index)]->trajectory;
  trajectory.initial_cost_us = trajectory.best_cost_us = envs_.initial_cost_us(index);
  trajectory.beginning = envs_.beginning(index);
  if (!trajectory.beginning.cost_us.empty()) trajectory.best_cost_us = trajectory.beginning.cost_us.back();
  check_seen(observation, trajectory.initial_cost_us);
  see(index, nullptr, std::move(observation), nullptr);
}

void Collector::start(int index) {
  open(index);
  const auto episode = slots_[static_cast<size_t>(index)]->trajectory.episode;
  const Stopwatch watch;
  try {
    begin(index, envs_.reset(index, episode_key(options_.seed, options_.rank, episode)));
  } catch (const std::exception& error) {
    lose(index, error.what());
  }
  stats_.env_s += watch.seconds();
}

void Collector::start_together(const std::function<bool()>& may_start) {
  for (;;) {
    std::vector<int> fresh;
    std::vector<uint64_t> keys;
    for (int i = 0; i < envs_.size(); ++i) {
      const auto& slot = slots_[static_cast<size_t>(i)];
      if (slot || !may_start()) continue;
      open(i);
      fresh.push_back(i);
      keys.push_back(episode_key(options_.seed, options_.rank, slot->trajectory.episode));
    }
    if (fresh.empty()) return;
    const Stopwatch watch;
    size_t begun = 0;
    try {
      auto observations = together_->reset_together(fresh, keys);
      if (observations.size() != fresh.size()) fail("{} observations of {} resets", observations.size(), fresh.size());
      for (; begun < fresh.size(); ++begun) begin(fresh[begun], std::move(observations[begun]));
    } catch (const std::exception& error) {
      for (; begun < fresh.size(); ++begun) lose(fresh[begun], error.what());
    }
    stats_.env_s += watch.seconds();
  }
}

std::vector<Decision> Collector::decide(const std::vector<int>& indices) {
  std::vector<const mdp::Observation*> observations;
  std::vector<Rng*> rngs;
  for (int index : indices) {
    auto& slot = slots_[static_cast<size_t>(index)];
    observations.push_back(&slot->observation);
    rngs.push_back(&slot->rng);
  }
  const Stopwatch watch;
  auto decisions = policy_.act(observations, rngs);
  stats_.policy_s += watch.seconds();
  for (int index : indices) {
    auto& trajectory = slots_[static_cast<size_t>(index)]->trajectory;
    auto& version = trajectory.weights_version;  // who decides elsewhere may have newer ones than this rank
    version = trajectory.steps.empty() ? policy_.version() : std::min(version, policy_.version());
  }
  RLGO_CHECK_EQ(decisions.size(), indices.size());
  return decisions;
}

void Collector::step(const std::vector<int>& indices, const std::vector<Decision>& decisions) {
  // Steps indices[begin, end) by one call.
  const auto step_some = [&](size_t begin, size_t end) {
    const std::vector<int> some(indices.begin() + static_cast<std::ptrdiff_t>(begin),
                                indices.begin() + static_cast<std::ptrdiff_t>(end));
    std::vector<mdp::Action> actions;
    for (size_t i = begin; i < end; ++i) actions.push_back(decisions[i].action);
    std::vector<mdp::StepResult> results;
    const Stopwatch watch;
    try {
      results = envs_.step(some, actions);
      if (results.size() != some.size()) fail("{} results for {} actions", results.size(), some.size());
    } catch (const std::exception& error) {
      stats_.env_s += watch.seconds();
      for (int index : some) lose(index, error.what());
      return;
    }
    stats_.env_s += watch.seconds();
    std::vector<std::pair<int, End>> ended;
    for (size_t i = begin; i < end; ++i) {
      const End how = finish_step(indices[i], decisions[i], std::move(results[i - begin]));
      if (how != End::none) ended.emplace_back(indices[i], how);
    }
    finish(ended);
  };
  if (options_.step_together) {
    step_some(0, indices.size());
  } else {
    for (size_t i = 0; i < indices.size(); ++i) step_some(i, i + 1);
  }
}

Collector::End Collector::finish_step(int index, const Decision& decision, mdp::StepResult result) {
  ++stats_.steps;
  if (!std::isfinite(result.reward)) {
    lose(index, fmt::format("the reward of action ({}, {}) is {}", decision.action.rule, decision.action.location,
                            result.reward));
    return End::none;
  }
  try {
    check_seen(result.observation, result.info.cost_us);
  } catch (const Error& error) {
    lose(index, fmt::format("after action ({}, {}): {}", decision.action.rule, decision.action.location, error.what()));
    return End::none;
  }
  auto& slot = slots_[static_cast<size_t>(index)];
  mdp::Trajectory& trajectory = slot->trajectory;
  trajectory.best_cost_us = std::min(trajectory.best_cost_us, result.info.cost_us);
  mdp::Step& step = trajectory.steps.emplace_back();
  step.action = decision.action;
  step.reward = result.reward;
  step.log_prob_rule = decision.log_prob_rule;
  step.log_prob_location = decision.log_prob_location;
  step.value_rule = decision.value_rule;
  step.value_location = decision.value_location;
  step.info = std::move(result.info);
  see(index, &step.observation, std::move(result.observation), &result.changes);
  return result.terminal ? End::terminal : result.truncated ? End::truncated : End::none;
}

// Where values cost less together, those of all episodes that were cut off are asked for at once.
void Collector::finish(const std::vector<std::pair<int, End>>& ended) {
  std::vector<const mdp::Observation*> cut;
  for (const auto& [index, how] : ended) {
    if (how == End::truncated) cut.push_back(&slots_[static_cast<size_t>(index)]->observation);
  }
  std::vector<float> values;
  const Stopwatch watch;
  if (policy_.values_together() && !cut.empty()) {
    values = policy_.value(cut);
    RLGO_CHECK_EQ(values.size(), cut.size());
  } else {
    for (const auto* one : cut) values.push_back(policy_.value({&one, 1}).at(0));
  }
  if (!cut.empty()) stats_.policy_s += watch.seconds();
  size_t next = 0;
  for (const auto& [index, how] : ended)
    finish(index, how == End::terminal, how == End::truncated ? values[next++] : 0);
}

// Takes the next observation of an episode, and gives the one before to its step: what of it has to be kept.
void Collector::see(int index, mdp::Observation* before, mdp::Observation now, const mdp::Changes* reported) {
  auto& slot = slots_[static_cast<size_t>(index)];
  if (coded_ != nullptr) {
    slot->coded.add(encoders_[static_cast<size_t>(index)], before == nullptr ? nullptr : &slot->observation, now,
                    reported);
    if (before != nullptr) before->latent = std::move(slot->observation.latent);
  } else if (before != nullptr) {
    *before = std::move(slot->observation);
  }
  slot->observation = std::move(now);
}

void Collector::finish(int index, bool terminal, float last_value) {
  auto& slot = slots_[static_cast<size_t>(index)];
  Running ended = std::move(*slot);
  slot.reset();
  mdp::Trajectory trajectory = std::move(ended.trajectory);
  trajectory.terminal = terminal;
  trajectory.last_value_rule = last_value;
  ++stats_.episodes;
  lost_in_a_row_ = 0;
  if (coded_ == nullptr) {
    trajectory.last = std::move(ended.observation);
    sink_->on_trajectory(std::move(trajectory));
  } else {
    trajectory.last.latent = std::move(ended.observation.latent);
    coded_->on_trajectory({std::move(trajectory), std::move(ended.coded)});
  }
}

void Collector::check_seen(const mdp::Observation& observation, double cost_us) const {
  if (!std::isfinite(cost_us)) fail("the cost is {}", cost_us);
  if (!options_.dream) mdp::check(observation, envs_.spec());
}

void Collector::lose(int index, const std::string& what) {
  auto& slot = slots_[static_cast<size_t>(index)];
  const LostEpisode lost{options_.seed, options_.rank, slot->trajectory.episode, what};
  slot.reset();
  ++stats_.lost;
  ++lost_in_a_row_;
  losses_.on_lost(lost);
  if (lost_in_a_row_ > options_.max_lost_in_a_row)
    fail("rank {}: {} episodes in a row were lost; the last, number {}: {}", options_.rank, lost_in_a_row_,
         lost.episode, what);
}

int Collector::running() const {
  return static_cast<int>(
      std::count_if(slots_.begin(), slots_.end(), [](const auto& slot) { return slot.has_value(); }));
}

int64_t Collector::running_steps(int64_t first_episode, int64_t at_least) const {
  int64_t steps = 0;
  for (const auto& slot : slots_) {
    if (slot && slot->trajectory.episode >= first_episode)
      steps += std::max(at_least, static_cast<int64_t>(slot->trajectory.steps.size()));
  }
  return steps;
}

void Collector::abandon() {
  for (auto& slot : slots_) slot.reset();
}

}  // namespace rlgo::actors
