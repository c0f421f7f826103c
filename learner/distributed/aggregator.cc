#include "learner/distributed/aggregator.h"

#include "core/base/error.h"
#include "core/comm/nodes.h"
#include "core/comm/protocol.h"

namespace rlgo::learner {

using comm::Tag;

namespace {

constexpr int kFewestActors = 3;  // of a node: one that passes on, and two to gain from it
constexpr Tag kPassedOn[] = {Tag::hello, Tag::trajectory, Tag::heartbeat, Tag::error_report, Tag::goodbye};

}  // namespace

std::vector<int> choose_aggregators(std::span<const int> nodes, int learners) {
  return comm::one_of_each_node(nodes, learners, kFewestActors, comm::Pick::lowest);
}

Aggregator::Aggregator(comm::Mailbox& mailbox, AggregatorOptions options,
                       std::function<void(const Episode&)> on_trajectory)
    : mailbox_(mailbox), options_(options), on_trajectory_(std::move(on_trajectory)) {}

comm::Handlers Aggregator::handlers() {
  comm::Handlers handlers;
  for (const Tag tag : kPassedOn) handlers[tag] = [this](const comm::Incoming& message) { pass_on(message); };
  handlers[Tag::fan_out] = [this](const comm::Incoming& message) { hand_out(message); };
  handlers[Tag::route] = [this](const comm::Incoming& message) { present_.erase(message.source); };
  return handlers;
}

void Aggregator::pass_on(const comm::Incoming& message) {
  if (message.source == options_.learner) return;  // rank 0's own signs of life are for this rank
  if (message.tag == Tag::goodbye) {
    present_.erase(message.source);
  } else {
    present_.insert(message.source);
  }
  if (message.tag == Tag::trajectory && on_trajectory_) {
    Episode episode;
    try {
      episode = std::make_shared<const mdp::CodedTrajectory>(mdp::decode_coded(message.payload));
    } catch (const Error&) {
      // Rank 0 finds the same, counts it, and reports so.
    }
    if (episode && !episode->facts.dream) on_trajectory_(episode);
  }
  if (bundle_.empty()) since_first_.restart();
  comm::add_to_bundle(bundle_, message.source, message.tag, message.payload);
  if (bundle_.size() >= options_.bundle_bytes) send();
}

void Aggregator::hand_out(const comm::Incoming& message) {
  auto order = comm::decode<comm::FanOut>(message.payload);
  if (order.newest_only) {
    mailbox_.publish(order.ranks, order.tag, std::make_shared<const std::string>(std::move(order.payload)));
  } else {
    for (int rank : order.ranks) mailbox_.send(rank, order.tag, order.payload);
  }
}

void Aggregator::tick() {
  if (!bundle_.empty() && since_first_.seconds() >= options_.bundle_s) send();
}

void Aggregator::send() {
  if (!bundle_.empty()) mailbox_.send(options_.learner, Tag::bundle, std::exchange(bundle_, {}));
}

void Aggregator::drain(double max_s) {
  const Stopwatch watch;
  const auto known = handlers();
  for (;;) {
    while (const auto message = mailbox_.take()) {
      if (const auto handler = known.find(message->tag); handler != known.end()) handler->second(*message);
    }
    tick();
    if (alone() || watch.seconds() > max_s) break;
    mailbox_.wait(20);
  }
  send();
  mailbox_.flush(max_s);
}

}  // namespace rlgo::learner
