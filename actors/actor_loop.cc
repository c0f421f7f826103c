#include "actors/actor_loop.h"

#include <algorithm>

#include "core/base/error.h"

namespace rlgo::actors {

using comm::Tag;

namespace {

constexpr double kLookEvery_us = 5000;

CollectorOptions collector_options(const comm::Mailbox& mailbox, const ActorOptions& options) {
  CollectorOptions collector;
  collector.seed = options.seed;
  collector.rank = mailbox.rank();
  collector.dream = options.dream;
  collector.step_together = options.step_together;
  return collector;
}

DrawnPolicy& drawn(Policy& policy) {
  auto* drawn = dynamic_cast<DrawnPolicy*>(&policy);
  if (drawn == nullptr) fail("inference: this policy cannot decide by draws that another rank has made");
  return *drawn;
}

}  // namespace

ActorLoop::ActorLoop(comm::Mailbox& mailbox, mdp::BatchEnv& envs, Policy& policy, ActorOptions options,
                     comm::Handlers handlers)
    : mailbox_(mailbox),
      options_(std::move(options)),
      server_(make_server(envs, policy)),
      remote_(make_remote(policy)),
      policy_(remote_ ? *remote_ : policy),
      handlers_(std::move(handlers)),
      collector_(envs, policy_, *this, collector_options(mailbox, options_)) {
  if (server_) handlers_[Tag::ask] = [this](const comm::Incoming& message) { server_->take(message); };
  if (remote_) handlers_[Tag::decided] = [this](const comm::Incoming& message) { remote_->take(message); };
  hello_.spec_hash = envs.spec().hash();
  hello_.rules_hash = options_.rules_hash;
  hello_.dream = options_.dream;
  hello_.host = options_.host;
  send_hello();
}

std::unique_ptr<InferenceServer> ActorLoop::make_server(const mdp::BatchEnv& envs, Policy& policy) {
  if (options_.inference_rank == 0 || options_.inference_rank != mailbox_.rank()) return nullptr;
  return std::make_unique<InferenceServer>(mailbox_, drawn(policy), envs.spec(), options_.inference);
}

std::unique_ptr<RemotePolicy> ActorLoop::make_remote(Policy& policy) {
  if (options_.inference_rank == 0 || options_.inference_rank == mailbox_.rank()) return nullptr;
  RemoteHooks hooks;
  // Others may wait for what this rank passes on, the inference rank for its weights.
  hooks.tend = [this] {
    read_messages();
    beat();
  };
  hooks.log_line = [this](const std::string& text) { mailbox_.send(options_.learner, Tag::stats, text); };
  return std::make_unique<RemotePolicy>(mailbox_, options_.inference_rank, drawn(policy), options_.inference,
                                        std::move(hooks));
}

void ActorLoop::send_hello() { mailbox_.send(options_.via, Tag::hello, encode(hello_)); }

ActorEnd ActorLoop::run(const std::function<bool()>& should_stop) {
  while (end_ == ActorEnd::running) {
    if (turn()) {
      if (should_stop() && end_ == ActorEnd::running) end_ = ActorEnd::interrupted;
      continue;
    }
    if (should_stop()) {
      end_ = ActorEnd::interrupted;
      break;
    }
    const Stopwatch watch;
    mailbox_.wait(20);
    counts_.wait_s += watch.seconds();
  }
  finish();
  return end_;
}

bool ActorLoop::turn() {
  // To look for messages costs a system call and may give the core away: while episodes run, not after every step.
  bool active = false;
  if (collector_.running() == 0 || since_read_.us() >= kLookEvery_us) {
    active = read_messages();
    since_read_.restart();
  }
  if (end_ != ActorEnd::running) {
    finish();
    return active;
  }
  beat();
  if (server_) {
    if (newest_) load_newest();
    return (granted_version_ >= 0 && server_->turn()) || active;
  }
  if (collector_.round([this] { return may_start(); }) > 0) active = true;
  // The learner may be waiting for this: it can raise the quota.
  if (granted_version_ >= 0 && collector_.running() == 0 && quota_left() <= 0 && !reported_exhausted_) {
    send_heartbeat(Tag::heartbeat);
    reported_exhausted_ = true;
  }
  return active;
}

void ActorLoop::finish() {
  if (sent_goodbye_) return;
  sent_goodbye_ = true;
  collector_.abandon();
  if (server_) server_->leave();
  if (remote_) remote_->leave();
  send_heartbeat(Tag::goodbye);
  mailbox_.flush(options_.flush_s);
}

bool ActorLoop::read_messages() {
  bool any = false;
  while (auto message = mailbox_.take()) {
    any = true;
    if (message->source == options_.learner) since_heard_.restart();
    read(*message);
  }
  options_.tend();
  return any;
}

void ActorLoop::read(const comm::Incoming& message) {
  if (message.tag == Tag::weights) {
    auto weights = comm::decode<comm::Weights>(message.payload);
    quota_steps_ = weights.quota_steps;
    reported_exhausted_ = false;
    if (weights.version == granted_version_) return;  // sent again to one that was thought lost
    sent_steps_ = 0;
    first_counted_ = collector_.next_episode();
    granted_version_ = weights.version;
    newest_ = std::move(weights);
  } else if (message.tag == Tag::welcome) {
    if (granted_version_ >= 0) return;  // it was thought lost
    const auto welcome = comm::decode<comm::Welcome>(message.payload);
    collector_.set_next_episode(welcome.next_episode);
    options_.welcomed(welcome);
  } else if (message.tag == Tag::quota) {
    const auto quota = comm::decode<comm::Quota>(message.payload);
    if (quota.version != granted_version_) return;  // the newer weights carry their own
    quota_steps_ = quota.quota_steps;
    reported_exhausted_ = false;
  } else if (message.tag == Tag::route && message.source == options_.learner) {
    change_route(comm::decode<comm::Route>(message.payload));
  } else if (message.tag == Tag::stop) {
    end_ = message.payload == comm::kRankZeroFailed ? ActorEnd::deserted : ActorEnd::stopped;
  } else if (const auto handler = handlers_.find(message.tag); handler != handlers_.end()) {
    handler->second(message);
  }
}

// Hello again: rank 0 then sends what may have been lost on the way here.
void ActorLoop::change_route(const comm::Route& route) {
  const int before = std::exchange(options_.via, route.via);
  if (before == route.via) return;
  if (before != options_.learner) {
    // Should it live, it need not wait for this actor's goodbye. What has left is still delivered.
    mailbox_.send(before, Tag::route, encode(route));
    mailbox_.forget(before);
  }
  send_hello();
  send_heartbeat(Tag::heartbeat);
}

bool ActorLoop::may_start() {
  if (granted_version_ < 0 || quota_left() <= 0) return false;
  if (newest_) load_newest();
  return !options_.ready || options_.ready();
}

void ActorLoop::load_newest() {
  policy_.load(newest_->weights, newest_->version);
  if (options_.take_starts) options_.take_starts(newest_->starts);
  newest_.reset();
}

int64_t ActorLoop::quota_left() const {
  return quota_steps_ - sent_steps_ - collector_.running_steps(first_counted_, options_.episode_steps);
}

void ActorLoop::beat() {
  // The learner was not silent while this rank did not listen (a job may be suspended).
  if (since_beat_.seconds() > options_.heartbeat_s + options_.learner_timeout_s) since_heard_.restart();
  if (since_heard_.seconds() > options_.learner_timeout_s)
    fail("actor {}: nothing was heard from the learner (rank {}) for {:.0f} s", mailbox_.rank(), options_.learner,
         options_.learner_timeout_s);
  if (since_beat_.seconds() >= options_.heartbeat_s) send_heartbeat(Tag::heartbeat);
}

void ActorLoop::send_heartbeat(Tag tag) {
  since_beat_.restart();
  comm::Heartbeat beat = counts_;
  beat.version = granted_version_;
  beat.quota_steps = quota_steps_;
  // What still runs will be sent: the quota is used up for the learner only when nothing does.
  beat.quota_left = collector_.running() > 0 ? std::max<int64_t>(quota_left(), 1) : quota_left();
  beat.env_s = collector_.stats().env_s;
  beat.policy_s = collector_.stats().policy_s;
  if (server_) beat.inference = server_->counts();
  if (remote_) beat.inference = remote_->counts();
  mailbox_.send(options_.via, tag, encode(beat));
}

void ActorLoop::on_trajectory(mdp::CodedTrajectory trajectory) {
  const auto steps = static_cast<int64_t>(trajectory.facts.steps.size());
  if (trajectory.facts.episode >= first_counted_) sent_steps_ += steps;
  counts_.episodes += 1;
  counts_.steps += steps;
  mailbox_.send(options_.via, Tag::trajectory, mdp::encode(trajectory));
}

void ActorLoop::on_lost(const LostEpisode& episode) {
  counts_.errors += 1;
  mailbox_.send(options_.via, Tag::error_report,
                encode(comm::ErrorReport{episode.rank, episode.episode, episode.seed, episode.what}));
}

}  // namespace rlgo::actors
