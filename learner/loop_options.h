// Options of the learner's loop.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "actors/inference_options.h"
#include "core/base/options.h"

namespace rlgo::learner {

struct LoopOptions {
  int64_t epochs = 30;            // in all, those before a resume included
  double seconds = 0;             // in all, likewise; 0: no limit
  int64_t steps_per_epoch = 512;  // an update waits for at least this many
  int64_t max_lag = 1;            // weights versions; older trajectories are stored but not learned from
  int learners = 1;               // ranks 0 .. learners-1; the others are actors
  int min_actors = 1;             // with fewer living actors the loop ends
  double actor_timeout_s = 120;   // silence after which an actor is thought dead; five times that before its hello
  // Each epoch learns from what every actor played with its weights (max_lag does not count), in the order of ranks and
  // episodes: the weights then depend on seed and number of actors alone, not on who was faster. Costs waiting.
  bool reproducible = false;

  // On each node with three actors or more one passes on what the others send, stores their episodes, and hands out the
  // weights (distributed/aggregator.h).
  bool aggregate = false;

  // Not for people.
  std::vector<int> via;        // [ranks] see choose_aggregators; empty: all actors send to rank 0 themselves
  std::vector<int> inference;  // [ranks] see actors::choose_inference_ranks; empty: actors decide for themselves
  std::string rollouts;        // folder of the store, sent to aggregators; "": no store
  double quiet_s = 5;          // silence after which the others are not kept waiting for an actor
  double heartbeat_s = 1;      // to the actors
  double drain_s = 20;         // at the end, for the actors' last messages
  uint64_t spec_hash = 0;      // of the observations that the algorithm was built for; other actors are an Error
  // Called in place of waiting, where the only actor lives in this thread (one process): ActorLoop::turn. Then an epoch
  // ends when the actor has used up its permission and nothing runs any more, so that all depends on the seed alone.
  std::function<bool()> turn;
  std::function<bool()> should_stop = [] { return false; };  // asked often; a clean end follows
};
// Fills in via and inference: which ranks serve others. nodes: comm::Comm::nodes().
void choose_ranks(LoopOptions& options, actors::Inference inference, std::span<const int> nodes);

// The main options epochs, seconds and learners, without a heading of their own.
void declare_length(OptionSink& sink, LoopOptions& options);
// Options train.*.
void declare(OptionSink& sink, LoopOptions& options);

}  // namespace rlgo::learner
