#include "learner/loop.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "core/base/error.h"

namespace rlgo::learner {

using comm::Tag;

std::string name(StopReason reason) {
  switch (reason) {
    case StopReason::epochs:
      return "all epochs done";
    case StopReason::seconds:
      return "time is up";
    case StopReason::interrupted:
      return "interrupted";
    case StopReason::too_few_actors:
      return "too few actors";
  }
  fail("stop reason {}", static_cast<int>(reason));
}

namespace {

int64_t part_of(int64_t steps, int actors) { return (steps + actors - 1) / std::max(actors, 1); }

// The report's facts about the trajectories that are learned from.
void describe(const std::vector<Episode>& episodes, const std::vector<int64_t>& lags, EpochReport* report) {
  for (const auto& episode : episodes) {
    const auto& trajectory = episode->facts;
    (trajectory.dream ? report->dream_episodes : report->episodes) += 1;
    if (trajectory.dream) report->dream_steps += static_cast<int64_t>(trajectory.steps.size());
  }
  if (report->episodes == 0) return;
  const auto count = static_cast<double>(report->episodes);
  report->reward_max = -std::numeric_limits<double>::infinity();
  report->cost_best_us = std::numeric_limits<double>::infinity();
  for (const auto& episode : episodes) {
    const auto& trajectory = episode->facts;
    if (trajectory.dream) continue;
    double reward = 0;
    for (const auto& step : trajectory.steps) reward += step.reward;
    report->steps += static_cast<int64_t>(trajectory.steps.size());
    report->reward_mean += reward / count;
    report->reward_max = std::max(report->reward_max, reward);
    report->cost_mean_us += trajectory.best_cost_us / count;
    report->cost_best_us = std::min(report->cost_best_us, trajectory.best_cost_us);
  }
  report->length_mean = static_cast<double>(report->steps) / count;
  const auto [low, high] = std::minmax_element(lags.begin(), lags.end());
  report->lag_min = *low;
  report->lag_max = *high;
  for (int64_t lag : lags) report->lag_mean += static_cast<double>(lag) / static_cast<double>(lags.size());
}

}  // namespace

Loop::Loop(comm::Mailbox& mailbox, Algorithm& algorithm, LoopOptions options, LoopHooks hooks, comm::Handlers handlers,
           LoopState start)
    : mailbox_(mailbox),
      algorithm_(algorithm),
      options_(std::move(options)),
      hooks_(std::move(hooks)),
      handlers_(std::move(handlers)),
      state_(std::move(start)),
      registry_(mailbox.size(), options_.learners, options_.inference),
      routes_(options_.via),
      started_at_s_(state_.seconds) {
  if (mailbox_.rank() != 0) fail("the learner is rank 0, not rank {}", mailbox_.rank());
  if (options_.learners < 1 || options_.learners >= mailbox_.size())
    fail("{} learners among {} ranks: at least one must act", options_.learners, mailbox_.size());
  // Ranks that took part before and do not now keep their counters: they may come back.
  const auto ranks = static_cast<size_t>(mailbox_.size());
  if (state_.next_episode.size() < ranks) state_.next_episode.resize(ranks);
  malformed_.resize(ranks);
}

LoopResult Loop::run() {
  begin_version();
  while (state_.epoch < options_.epochs && collect()) train();
  stop();
  state_.seconds = seconds();
  return {reason_, state_, registry_.living().empty(), registry_.any_lost()};
}

bool Loop::collect() {
  const Stopwatch watch;
  for (;;) {
    const bool came = service();
    if (must_end()) return false;
    if (options_.turn) {
      if (options_.turn()) continue;
      service();
    }
    if (enough()) break;
    if (all_exhausted()) {
      grant_more();
    } else if (!came && !options_.turn && !prepare_one()) {
      mailbox_.wait(20);
    }
  }
  report_.collect_s = watch.seconds();
  return true;
}

bool Loop::prepare_one() {
  if (prepared_ == buffer_.size()) return false;
  algorithm_.prepare(buffer_[prepared_++]);
  return true;
}

bool Loop::must_end() {
  if (options_.should_stop()) {
    reason_ = StopReason::interrupted;
  } else if (options_.seconds > 0 && seconds() >= options_.seconds) {
    reason_ = StopReason::seconds;
  } else if (registry_.hoped_for() < options_.min_actors) {
    reason_ = left_without_us() ? StopReason::interrupted : StopReason::too_few_actors;
  } else {
    return false;
  }
  return true;
}

// A signal goes to all ranks; actors may have left on it before it was seen here.
bool Loop::left_without_us() {
  if (!registry_.any_gone()) return false;
  const Stopwatch watch;
  while (watch.seconds() < 2) {
    if (options_.should_stop()) return true;
    mailbox_.wait(50);
  }
  return false;
}

void Loop::train() {
  if (options_.reproducible) {
    std::sort(buffer_.begin(), buffer_.end(), [](const auto& a, const auto& b) {
      return std::tie(a->facts.rank, a->facts.episode) < std::tie(b->facts.rank, b->facts.episode);
    });
  }
  std::vector<int64_t> lags;
  for (const auto& episode : buffer_) lags.push_back(lag_of(episode->facts));
  describe(buffer_, lags, &report_);
  report_.version = state_.version;
  const Stopwatch watch;
  buffered_steps_ = buffered_dream_steps_ = 0;
  prepared_ = 0;
  // What arrives meanwhile is kept in a fresh buffer.
  report_.update = algorithm_.update(std::exchange(buffer_, {}), {state_.version, progress(), [this] { service(); }});
  report_.update_s = watch.seconds();
  for (const auto& note : report_.update.notes) log_line(note);
  state_.version += 1;
  state_.epoch += 1;
  begin_version();

  report_.epoch = state_.epoch;
  report_.actors = static_cast<int>(registry_.living().size());
  report_.inference = registry_.inference_counts();
  report_.epoch_s = epoch_watch_.seconds();
  epoch_watch_.restart();
  report_.waiting_fraction = report_.epoch_s > 0 ? std::min(report_.collect_s / report_.epoch_s, 1.0) : 0;
  report_.steps_per_s = report_.epoch_s > 0 ? static_cast<double>(received_steps_) / report_.epoch_s : 0;
  const auto& counters = mailbox_.counters();
  report_.bytes_in = counters.in.bytes - std::exchange(bytes_in_before_, counters.in.bytes);
  report_.bytes_out = counters.out.bytes - std::exchange(bytes_out_before_, counters.out.bytes);
  state_.seconds = seconds();
  const EpochReport report = std::exchange(report_, {});
  received_steps_ = 0;
  drop_stale();
  if (hooks_.on_epoch) hooks_.on_epoch(report, state_);
}

bool Loop::all_exhausted() const {
  if (!options_.reproducible) return registry_.all_exhausted(state_.version, quota_steps_, options_.quiet_s);
  return !registry_.any_expected() &&
         registry_.all_exhausted(state_.version, quota_steps_, std::numeric_limits<double>::infinity());
}

bool Loop::enough() const {
  if (buffered_steps_ < plan_.real_steps) return false;
  if (options_.reproducible && !options_.turn && !all_exhausted()) return false;
  return !plan_.wait_for_dreams || buffered_dream_steps_ >= plan_.dream_steps ||
         registry_.dreamers(registry_.living()).empty();
}

double Loop::progress() const {
  const double by_epochs =
      static_cast<double>(state_.epoch) / static_cast<double>(std::max<int64_t>(options_.epochs, 1));
  return options_.seconds > 0 ? std::min(std::max(by_epochs, seconds() / options_.seconds), 1.0) : by_epochs;
}

// Permits the actors to play with the current weights. Not after the last update: nobody learns from what they would
// play, and how much of it arrives before they hear of the end depends on speed, which a reproducible run must not.
void Loop::begin_version() {
  if (state_.epoch >= options_.epochs) return;
  plan_ = algorithm_.plan(state_.epoch, progress(), options_.steps_per_epoch);
  weights_ = algorithm_.weights();
  if (hooks_.starts) starts_ = hooks_.starts();
  const int64_t ahead = options_.turn || options_.reproducible ? 0 : options_.max_lag;
  part_steps_ = quota_steps_ = part_of(plan_.real_steps * (1 + ahead), registry_.hoped_for());
  publish(registry_.living());
}

void Loop::publish(std::span<const int> ranks) {
  const std::vector<int> all(ranks.begin(), ranks.end());
  const auto send = [this](const std::vector<int>& to, int64_t quota_steps) {
    if (to.empty()) return;
    comm::Weights message;
    message.version = state_.version;
    message.quota_steps = quota_steps;
    message.weights = weights_;
    message.starts = starts_;
    hand_out(to, Tag::weights, encode(message), true);
  };
  send(registry_.real_ones(all), quota_steps_);
  send(registry_.inference_ranks(all), 0);
  const auto dreamers = registry_.dreamers(all);
  send(dreamers, part_of(plan_.dream_steps, static_cast<int>(registry_.dreamers(registry_.living()).size())));
}

// All living actors wait, but there is not enough data: an actor died, or episodes were lost or too old.
void Loop::grant_more() {
  quota_steps_ += part_steps_;
  comm::Quota message;
  message.version = state_.version;
  message.quota_steps = quota_steps_;
  hand_out(registry_.real_ones(registry_.living()), Tag::quota, encode(message), false);
}

void Loop::hand_out(const std::vector<int>& ranks, Tag tag, std::string payload, bool newest_only) {
  std::map<int, std::vector<int32_t>> by_way_of;
  for (int rank : ranks) by_way_of[routes_.via(rank)].push_back(rank);
  const auto direct = std::exchange(by_way_of[0], {});
  by_way_of.erase(0);
  for (auto& [aggregator, behind] : by_way_of) {
    // Each is sent: a newer one must not replace one that is for other ranks.
    mailbox_.send(aggregator, Tag::fan_out, encode(comm::FanOut{std::move(behind), tag, newest_only, payload}));
  }
  if (newest_only) {
    mailbox_.publish(direct, tag, std::make_shared<const std::string>(std::move(payload)));
  } else {
    for (int rank : direct) mailbox_.send(rank, tag, payload);
  }
}

int64_t Loop::lag_of(const mdp::Trajectory& trajectory) const {
  return trajectory.weights_version < 0 ? 0 : state_.version - trajectory.weights_version;
}

void Loop::drop_stale() {
  const auto dropped =
      std::erase_if(buffer_, [this](const auto& episode) { return lag_of(episode->facts) > options_.max_lag; });
  state_.dropped += static_cast<int64_t>(dropped);
  report_.dropped += static_cast<int64_t>(dropped);
  buffered_steps_ = buffered_dream_steps_ = 0;
  prepared_ = 0;
  for (const auto& episode : buffer_) {
    const auto& facts = episode->facts;
    (facts.dream ? buffered_dream_steps_ : buffered_steps_) += static_cast<int64_t>(facts.steps.size());
  }
}

void Loop::stop() {
  stopping_ = true;
  for (int rank = options_.learners; rank < mailbox_.size(); ++rank) {
    if (registry_.actor(rank).state != ActorRegistry::State::gone) mailbox_.send(rank, Tag::stop, name(reason_));
  }
  const Stopwatch watch;
  while (!registry_.living().empty() && watch.seconds() < options_.drain_s) {
    const bool came = service();
    if (options_.turn) {
      options_.turn();
    } else if (!came) {
      mailbox_.wait(20);
    }
  }
  for (int rank : registry_.living())
    log_line(fmt::format("actor {} did not send goodbye within {} s", rank, options_.drain_s));
  mailbox_.flush(2);
}

}  // namespace rlgo::learner
