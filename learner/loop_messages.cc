// The learner's side of the messages, and of the actors' lives.
#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/error.h"
#include "learner/loop.h"

namespace rlgo::learner {

using comm::Tag;

namespace {

constexpr double kTendEvery_us = 5000;

}  // namespace

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
  // It looks at every actor, and service() is called between any two episodes.
  if (since_tended_.us() < kTendEvery_us) return;
  // Nobody was silent while this rank did not listen (a job may be suspended).
  const bool away = since_tended_.seconds() > options_.actor_timeout_s;
  since_tended_.restart();
  for (int rank = options_.learners; away && rank < mailbox_.size(); ++rank) registry_.excuse(rank);
  // An actor in this thread is silent whenever it has no turn.
  if (!options_.turn) {
    tend_aggregators();
    // What went through an aggregator is missed a little later than the aggregator's own sign of life.
    const auto longer_s = [this](int rank) { return routes_.via(rank) != 0 ? 3 * options_.heartbeat_s : 0; };
    for (int rank : registry_.lose_silent(options_.actor_timeout_s, longer_s)) {
      mailbox_.forget(rank);
      log_line(fmt::format("actor {} is lost: nothing was heard from it for {:.2g} s; {} actors remain", rank,
                           registry_.actor(rank).since_heard.seconds(), registry_.living().size()));
    }
  }
  if (since_beat_.seconds() < options_.heartbeat_s) return;
  since_beat_.restart();
  comm::Heartbeat beat;
  beat.version = state_.version;
  for (int rank : registry_.living()) mailbox_.send(rank, Tag::heartbeat, encode(beat));
}

void Loop::tend_aggregators() {
  if (stopping_) return;
  for (int rank = options_.learners; rank < mailbox_.size(); ++rank) {
    const auto& actor = registry_.actor(rank);
    if (routes_.via(rank) == rank && actor.since_heard.seconds() > options_.actor_timeout_s) route_around(rank);
  }
}

// The actors behind one that passes nothing on any more speak for themselves from now on.
void Loop::route_around(int aggregator) {
  if (routes_.via(aggregator) != aggregator) return;
  const auto behind = routes_.close(aggregator);
  log_line(fmt::format("actor {} passes on no more what {} others send: they send it themselves", aggregator,
                       behind.size()));
  for (int rank : behind) {
    mailbox_.remember(rank);
    registry_.excuse(rank);
    mailbox_.send(rank, Tag::route, encode(comm::Route()));
  }
  // Weights or a quota may have been lost with it.
  publish(behind);
}

void Loop::read(const comm::Incoming& message, bool passed_on) {
  const int rank = message.source;
  if (rank < options_.learners) {
    if (message.tag == Tag::stop) fail("learner rank {} ended: {}", rank, message.payload);
    return;
  }
  try {
    message.tag == Tag::bundle ? read_bundle(message) : read_from_actor(message, passed_on);
    malformed_.at(static_cast<size_t>(rank)) = 0;
  } catch (const Malformed& e) {
    drop_malformed(message, e.what());
  }
}

// One broken message, of an actor with a fault of its own, costs that message; an actor that sends nothing else has
// another build, or no sound environment.
void Loop::drop_malformed(const comm::Incoming& message, const std::string& why) {
  const bool episode = message.tag == Tag::trajectory;
  log_line(
      fmt::format("actor {} sent a {} that is none; it is dropped: {}", message.source, comm::name(message.tag), why));
  state_.lost += episode ? 1 : 0;
  report_.lost += episode ? 1 : 0;
  constexpr int kMostInARow = 20;
  if (++malformed_.at(static_cast<size_t>(message.source)) >= kMostInARow)
    fail("actor {} sent {} broken messages in a row, the last one: {}", message.source, kMostInARow, why);
}

namespace {

// What `decode` makes of a message's payload; its errors as Malformed.
template <typename Decode>
auto decoded_or_malformed(const comm::Incoming& message, Decode decode) {
  try {
    return decode(message.payload);
  } catch (const Error& e) {
    throw Malformed(e.what());
  }
}

// What the store, the best graph and the algorithm rely on.
void check_facts(const mdp::Trajectory& facts) {
  for (size_t i = 0; i < facts.steps.size(); ++i) {
    const auto& step = facts.steps[i];
    if (step.action.rule < 0 || step.action.location < 0 || !std::isfinite(step.reward) ||
        !std::isfinite(step.info.cost_us))
      throw Malformed(fmt::format("episode {}, step {}: rule {}, location {}, reward {}, cost {} us", facts.episode, i,
                                  step.action.rule, step.action.location, step.reward, step.info.cost_us));
  }
}

}  // namespace

void Loop::read_bundle(const comm::Incoming& message) {
  for (auto& item : decoded_or_malformed(message, comm::decode_bundle)) {
    if (item.source < options_.learners || item.source >= mailbox_.size() ||
        !routes_.may_speak_for(message.source, item.source) || item.tag == Tag::bundle)
      throw Malformed(fmt::format("it has a message of rank {}", item.source));
    read({item.source, item.tag, message.sequence, std::move(item.payload)}, true);
  }
}

void Loop::read_from_actor(const comm::Incoming& message, bool passed_on) {
  const int rank = message.source;
  if (message.tag == Tag::hello) {
    const auto hello = decoded_or_malformed(message, comm::decode<comm::Hello>);
    if (options_.spec_hash != 0 && hello.spec_hash != options_.spec_hash)
      fail(
          "actor {} sees other observations than the learner expects: do all ranks have the same graph, rules and "
          "options?",
          rank);
    registry_.sent_hello(rank, hello);
  }
  using State = ActorRegistry::State;
  if (const State before = registry_.heard(rank); before == State::expected || before == State::lost) {
    mailbox_.remember(rank);
    if (stopping_) {
      mailbox_.send(rank, Tag::stop, name(reason_));
    } else {
      comm::Welcome welcome;
      welcome.next_episode = state_.next_episode.at(static_cast<size_t>(rank));
      welcome.rollouts = options_.rollouts;
      hand_out({rank}, Tag::welcome, encode(welcome), false);
      const std::array<int, 1> one{rank};
      publish(one);
    }
    // Its first message may be a hello: it was stopped before it sent one, or goes another way now.
    if (before == State::lost) log_line(fmt::format("actor {} is back", rank));
  }
  if (message.tag == Tag::trajectory) {
    read_trajectory(message, passed_on);
  } else if (message.tag == Tag::error_report) {
    read_error(message);
  } else if (message.tag == Tag::heartbeat || message.tag == Tag::goodbye) {
    registry_.beat(rank, decoded_or_malformed(message, comm::decode<comm::Heartbeat>));
    if (message.tag == Tag::heartbeat) return;
    registry_.sent_goodbye(rank);
    if (!stopping_) {
      log_line(fmt::format("actor {} left", rank));
      route_around(rank);
    }
  } else if (const auto handler = handlers_.find(message.tag); handler != handlers_.end()) {
    handler->second(message);
  }
}

void Loop::read_trajectory(const comm::Incoming& message, bool passed_on) {
  const auto episode = std::make_shared<const mdp::CodedTrajectory>(decoded_or_malformed(message, mdp::decode_coded));
  const auto& facts = episode->facts;
  if (options_.spec_hash != 0 && facts.spec_hash != options_.spec_hash)
    throw Malformed(fmt::format("episode {} has other observations than the learner expects", facts.episode));
  check_facts(facts);
  const auto steps = static_cast<int64_t>(facts.steps.size());
  report_.trajectory_bytes += sizeof(comm::FrameHeader) + message.payload.size();
  report_.trajectory_steps += steps;
  auto& next_episode = state_.next_episode.at(static_cast<size_t>(message.source));
  next_episode = std::max(next_episode, facts.episode + 1);
  if (!facts.dream) {
    if (hooks_.on_trajectory) hooks_.on_trajectory(episode, passed_on);
    state_.episodes += 1;
    state_.steps += steps;
    received_steps_ += steps;
  }
  if (stopping_) return;
  if (lag_of(facts) > options_.max_lag) {
    state_.dropped += 1;
    report_.dropped += 1;
    return;
  }
  (facts.dream ? buffered_dream_steps_ : buffered_steps_) += steps;
  buffer_.push_back(episode);
}

void Loop::read_error(const comm::Incoming& message) {
  const auto report = decoded_or_malformed(message, comm::decode<comm::ErrorReport>);
  auto& next_episode = state_.next_episode.at(static_cast<size_t>(message.source));
  next_episode = std::max(next_episode, report.episode + 1);
  state_.lost += 1;
  report_.lost += 1;
  log_line(fmt::format("actor {} lost episode {}: {}", message.source, report.episode, report.what));
  if (hooks_.on_lost) hooks_.on_lost(report);
}

void Loop::log_line(const std::string& line) const {
  if (hooks_.log_line) hooks_.log_line(line);
}

}  // namespace rlgo::learner
