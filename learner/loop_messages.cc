// The learner's side of the messages, and of the actors' lives.
#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "learner/loop.h"

namespace rlgo::learner {

using comm::Tag;

bool Loop::service() {
  bool came = false;
  while (auto message = mailbox_.take_unless(comm::kAmongLearners)) {
    came = true;
    read(*message);
  }
  tend_actors();
  if (hooks_.service) hooks_.service();
  return came;
}

void Loop::tend_actors() {
  // An actor in this thread is silent whenever it has no turn.
  if (!options_.turn) {
    for (int rank : roster_.lose_silent(options_.actor_timeout_s)) {
      mailbox_.forget(rank);
      say(fmt::format("actor {} is lost: nothing was heard from it for {:.3g} s; {} actors remain", rank,
                      options_.actor_timeout_s, roster_.living().size()));
    }
  }
  if (since_beat_.seconds() < options_.heartbeat_s) return;
  since_beat_.restart();
  comm::Heartbeat beat;
  beat.version = state_.version;
  for (int rank : roster_.living()) mailbox_.send(rank, Tag::heartbeat, encode(beat));
}

void Loop::read(const comm::Incoming& message) {
  const int rank = message.source;
  if (rank < options_.learners) {
    if (message.tag == Tag::stop) fail("learner rank {} ended: {}", rank, message.payload);
    return;
  }
  if (message.tag == Tag::hello) {
    const auto hello = comm::decode_hello(message.payload);
    if (options_.spec_hash != 0 && hello.spec_hash != options_.spec_hash)
      fail(
          "actor {} sees other observations than the learner expects: do all ranks have the same graph, rules and "
          "options?",
          rank);
    roster_.said_hello(rank, hello);
  }
  if (roster_.heard(rank)) {
    mailbox_.remember(rank);
    if (stopping_) {
      mailbox_.send(rank, Tag::stop, name(reason_));
    } else {
      const std::array<int, 1> one{rank};
      publish(one);
    }
    if (message.tag != Tag::hello) say(fmt::format("actor {} is back", rank));
  }
  if (message.tag == Tag::trajectory) {
    read_trajectory(message);
  } else if (message.tag == Tag::error_report) {
    read_error(message);
  } else if (message.tag == Tag::heartbeat || message.tag == Tag::goodbye) {
    roster_.beat(rank, comm::decode_heartbeat(message.payload));
    if (message.tag == Tag::heartbeat) return;
    roster_.said_goodbye(rank);
    if (!stopping_) say(fmt::format("actor {} left", rank));
  } else if (const auto handler = handlers_.find(message.tag); handler != handlers_.end()) {
    handler->second(message);
  }
}

void Loop::read_trajectory(const comm::Incoming& message) {
  auto coded = mdp::decode_coded(message.payload);
  const auto& facts = coded.facts;
  if (options_.spec_hash != 0 && facts.spec_hash != options_.spec_hash)
    fail("a trajectory of actor {} has other observations than the learner expects", message.source);
  const auto steps = static_cast<int64_t>(facts.steps.size());
  report_.trajectory_bytes += sizeof(comm::FrameHeader) + message.payload.size();
  report_.trajectory_steps += steps;
  auto& next_episode = state_.next_episode.at(static_cast<size_t>(message.source));
  next_episode = std::max(next_episode, facts.episode + 1);
  if (!facts.dream) {
    state_.episodes += 1;
    state_.steps += steps;
    received_steps_ += steps;
    if (hooks_.on_trajectory) hooks_.on_trajectory(coded);
  }
  if (stopping_) return;
  if (lag_of(facts) > options_.max_lag) {
    state_.dropped += 1;
    report_.dropped += 1;
    return;
  }
  (facts.dream ? buffered_dream_steps_ : buffered_steps_) += steps;
  buffer_.push_back(algorithm_.sees() ? mdp::whole(std::move(coded)) : std::move(coded.facts));
}

void Loop::read_error(const comm::Incoming& message) {
  const auto report = comm::decode_error_report(message.payload);
  auto& next_episode = state_.next_episode.at(static_cast<size_t>(message.source));
  next_episode = std::max(next_episode, report.episode + 1);
  state_.lost += 1;
  report_.lost += 1;
  say(fmt::format("actor {} lost episode {}: {}", message.source, report.episode, report.what));
  if (hooks_.on_lost) hooks_.on_lost(report);
}

void Loop::say(const std::string& line) const {
  if (hooks_.say) hooks_.say(line);
}

}  // namespace rlgo::learner
