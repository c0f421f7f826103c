// The learner rank's loop: wait for data, train, publish weights, report; and look after the actors.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/stopwatch.h"
#include "core/codec/coded.h"
#include "core/comm/mailbox.h"
#include "core/comm/protocol.h"
#include "learner/algorithm.h"
#include "learner/distributed/actor_registry.h"
#include "learner/distributed/routes.h"
#include "learner/loop_options.h"

namespace rlgo::learner {

// What a checkpoint has to carry, next to the algorithm.
struct LoopState {
  int64_t epoch = 0;                  // epochs done
  int64_t version = 0;                // of the weights
  int64_t episodes = 0, steps = 0;    // received
  int64_t lost = 0;                   // episodes that ended by an exception
  int64_t dropped = 0;                // episodes that were too old to learn from
  double seconds = 0;                 // spent
  std::vector<int64_t> next_episode;  // [ranks] each actor's next episode
};

struct EpochReport {
  int64_t epoch = 0;                            // 1, 2, ...
  int64_t version = 0;                          // that was trained, making version + 1
  int64_t episodes = 0, steps = 0;              // learned from, of real environments
  int64_t dream_episodes = 0, dream_steps = 0;  // likewise, dreamed by actors
  int64_t dropped = 0, lost = 0;                // in this epoch, as in LoopState
  int64_t lag_min = 0, lag_max = 0;             // versions
  double lag_mean = 0;
  double reward_mean = 0, reward_max = 0;  // per episode, not discounted
  double length_mean = 0;
  double cost_mean_us = 0, cost_best_us = 0;  // lowest cost within each episode
  double collect_s = 0, update_s = 0, epoch_s = 0;
  double waiting_fraction = 0;           // of the epoch's time, spent without data to learn from
  double steps_per_s = 0;                // received, over the epoch
  int actors = 0;                        // alive
  uint64_t bytes_in = 0, bytes_out = 0;  // in this epoch
  comm::InferenceCounts inference = {};  // so far, of this start's ranks
  uint64_t trajectory_bytes = 0;         // of them, trajectories with their frames
  int64_t trajectory_steps = 0;          // in these, dreamed ones included
  UpdateReport update;
};

enum class StopReason : uint8_t { epochs, seconds, interrupted, too_few_actors };  // what ended a run
std::string name(StopReason reason);

// All optional. None may block for long: actors wait meanwhile.
struct LoopHooks {
  // Every real one, also those too old to learn from; `passed_on`: by an aggregator, which has stored it.
  std::function<void(const Episode&, bool passed_on)> on_trajectory;
  std::function<void(const comm::ErrorReport&)> on_lost;  // an episode that ended by an exception
  std::function<void(const EpochReport&, const LoopState&)> on_epoch;
  std::function<std::string()> starts;               // goes with the weights: comm::Weights::starts
  std::function<void()> service;                     // often, also between minibatches
  std::function<void(const std::string&)> log_line;  // a line for the log: actors that come, go, are lost
};

struct LoopResult {
  StopReason reason = StopReason::epochs;
  LoopState state;
  bool all_sent_goodbye = false;  // every actor that was alive
  bool any_lost = false;          // an actor that was lost has not come back
};

// A message that is not what its tag states.
class Malformed : public Error {
 public:
  using Error::Error;
};

// Ranks `learners` .. size-1 of the mailbox are the actors; the learners but rank 0 are the algorithm's affair
// (distributed/followers.h). Everything is sent point to point, nothing blocks, so a dead actor costs its share only.
// How far actors may run ahead: each published version permits each actor its part of (1 + max_lag) times
// steps_per_epoch; all that has arrived is learned from at once, so that lag stays small.
class Loop {
 public:
  // All references must outlive it. Messages that the loop does not know (cost_request, ...) go to `handlers`.
  Loop(comm::Mailbox& mailbox, Algorithm& algorithm, LoopOptions options, LoopHooks hooks, comm::Handlers handlers = {},
       LoopState start = {});

  // To the end, the actors' goodbyes included. A broken message is dropped, reported, and counted as a lost episode
  // where it was one. Throws Error where an actor's environment does not fit, or it sends broken messages only.
  LoopResult run();

 private:
  // Reads messages, tends the actors, calls the service hook. Whether any message came.
  bool service();
  void read(const comm::Incoming& message, bool passed_on = false);
  void read_bundle(const comm::Incoming& message);
  void read_from_actor(const comm::Incoming& message, bool passed_on);
  void drop_malformed(const comm::Incoming& message, const std::string& why);
  void read_trajectory(const comm::Incoming& message, bool passed_on);
  void read_error(const comm::Incoming& message);
  void tend_actors();
  void tend_aggregators();
  void route_around(int aggregator);
  void log_line(const std::string& line) const;
  // Waits for an epoch's data. False where the loop must end (reason_).
  bool collect();
  // Lets the algorithm work on one episode. False where there is none.
  bool prepare_one();
  bool enough() const;
  bool all_exhausted() const;
  double progress() const;
  bool must_end();
  void train();
  void publish(std::span<const int> ranks);
  // The same message to each rank, by way of its aggregator where it has one. newest_only: see Mailbox::publish.
  void hand_out(const std::vector<int>& ranks, comm::Tag tag, std::string payload, bool newest_only);
  void grant_more();
  void drop_stale();
  int64_t lag_of(const mdp::Trajectory& trajectory) const;
  bool left_without_us();
  void begin_version();
  void stop();
  double seconds() const { return started_at_s_ + watch_.seconds(); }

  comm::Mailbox& mailbox_;
  Algorithm& algorithm_;
  LoopOptions options_;
  LoopHooks hooks_;
  comm::Handlers handlers_;
  LoopState state_;
  ActorRegistry registry_;
  Routes routes_;
  StopReason reason_ = StopReason::epochs;
  bool stopping_ = false;
  std::string weights_, starts_;  // of the current version; not asked for during an update
  EpochPlan plan_;
  int64_t part_steps_ = 0, quota_steps_ = 0;  // of an actor on real environments
  std::vector<Episode> buffer_;               // not stale
  size_t prepared_ = 0;                       // of these, from the first on, the algorithm was given
  int64_t buffered_steps_ = 0;                // of real environments
  int64_t buffered_dream_steps_ = 0;
  std::vector<int> malformed_;  // [ranks] messages in a row that could not be read
  EpochReport report_;
  int64_t received_steps_ = 0;  // in this epoch
  double started_at_s_ = 0;
  Stopwatch watch_, since_beat_, since_tended_, epoch_watch_;
  uint64_t bytes_in_before_ = 0, bytes_out_before_ = 0;
};

}  // namespace rlgo::learner
