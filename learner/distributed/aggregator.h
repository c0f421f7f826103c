// The messages of a node's actors, together. One of these actors, the node's aggregator, collects what the others send
// to rank 0 and passes it on in a few long messages, in the order in which each sent it; it stores their episodes in
// parts of its own; and what rank 0 sends to many of them, above all weights, comes to it once. So rank 0's work, and
// what goes over the network, does not grow with the actors of a node.
//
// Where an aggregator dies or leaves, rank 0 asks its node's actors to speak for themselves (Tag::route); what it had
// not passed on by then is lost.
#pragma once

#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/base/stopwatch.h"
#include "core/comm/mailbox.h"
#include "learner/algorithm.h"

namespace rlgo::learner {

// Whom each rank's messages go through: the lowest actor rank of its node, where the node has at least three actors;
// 0 (nobody) else, and for ranks below `learners`. An aggregator goes through itself. `nodes`: comm::Comm::nodes().
std::vector<int> choose_aggregators(std::span<const int> nodes, int learners);

struct AggregatorOptions {
  int learner = 0;                        // rank 0
  size_t bundle_bytes = size_t{1} << 20;  // more than this is sent at once
  double bundle_s = 0.02;                 // a message waits no longer than this for others, as far as tick() is called
};

// One node's. Used by the thread that uses the mailbox.
class Aggregator {
 public:
  // `on_trajectory` (or empty): each real episode that is passed on, for the store. What it throws goes to the one that
  // reads the mailbox.
  Aggregator(comm::Mailbox& mailbox, AggregatorOptions options, std::function<void(const Episode&)> on_trajectory = {});

  // For the loop that reads the mailbox: what the other actors send, and what rank 0 sends to many.
  comm::Handlers handlers();
  // Sends on what has waited long enough. To be called often.
  void tick();
  // Whether every actor that was heard has sent goodbye, or goes another way now.
  bool alone() const { return present_.empty(); }
  // At the end: passes on until it is alone, at most `max_s` seconds; then all has left for rank 0.
  void drain(double max_s);

 private:
  void pass_on(const comm::Incoming& message);
  void hand_out(const comm::Incoming& message);
  void send();

  comm::Mailbox& mailbox_;
  AggregatorOptions options_;
  std::function<void(const Episode&)> on_trajectory_;
  std::string bundle_;
  Stopwatch since_first_;  // of the messages in the bundle
  std::set<int> present_;  // heard, and not left yet
};

}  // namespace rlgo::learner
