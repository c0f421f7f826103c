// An actor rank: sends hello, waits for weights, plays episodes, sends them, until the learner sends stop.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "actors/collector.h"
#include "actors/inference_server.h"
#include "actors/policy.h"
#include "actors/remote_policy.h"
#include "core/base/stopwatch.h"
#include "core/comm/mailbox.h"
#include "core/comm/protocol.h"
#include "core/mdp/mdp.h"

namespace rlgo::actors {

struct ActorOptions {
  uint64_t seed = 0;
  bool dream = false;
  bool step_together = false;  // see CollectorOptions
  int64_t episode_steps = 0;   // that an episode which has begun may take: counted against the quota from the start
  std::function<void(std::string_view)> take_starts = {};  // comm::Weights::starts, with each new weights
  std::function<void()> tend = [] {};                      // called with each look for messages
  std::function<bool()> ready;  // asked before an episode starts, with the newest weights loaded; empty: always
  int learner = 0;              // its rank
  int via = 0;  // whom messages to it go through, until it states otherwise (learner/distributed/aggregator.h)
  int inference_rank = 0;  // that decides for this one, perhaps itself, which then plays nothing; 0: none
  InferenceOptions inference = {};
  std::function<void(const comm::Welcome&)> welcomed = [](const auto&) {};  // before the first weights
  double heartbeat_s = 1;                                                   // between two signs of life
  double learner_timeout_s = 300;  // silence of the learner after which the actor ends with an Error
  double flush_s = 10;             // at the end, for what is still on its way
  uint64_t rules_hash = 0;         // sent in hello
  std::string host;                // sent in hello
};

enum class ActorEnd : uint8_t {
  running,      // not ended
  stopped,      // the learner sent stop
  deserted,     // the learner reported that it failed: it will not be there at the end
  interrupted,  // should_stop() returned true
};

// The rules that it keeps:
//  - the newest weights are taken before an episode starts, never between the start of a lone episode and its end.
//    Where several episodes run at once, the others continue with the new weights and carry the version that they
//    started with;
//  - no episode starts once `quota_steps` steps of episodes that started under the newest weights were sent or are
//    being played, each of these at the `episode_steps` that it may take: so an actor never runs ahead of the learner
//    by more than the quota and one episode, however many environments it steps;
//  - an exception in an environment is reported with rank and episode, and costs that episode;
//  - an inference rank plays nothing: it takes the newest weights as they come, and answers.
class ActorLoop : private CodedSink {
 public:
  // All references must outlive it. Messages that the loop does not know go to `handlers`. With an inference rank
  // `policy` must be a DrawnPolicy: the inference rank acts by it, an actor where it is not answered.
  ActorLoop(comm::Mailbox& mailbox, mdp::BatchEnv& envs, Policy& policy, ActorOptions options,
            comm::Handlers handlers = {});

  // Plays to the end, goodbye included. should_stop is asked after every step; what runs is then given up, what was
  // finished is still sent. Throws Error where the learner is silent for too long or no episode works.
  ActorEnd run(const std::function<bool()>& should_stop);

  // The same in small pieces, for a learner in the same thread: reads messages, takes at most one step in each
  // environment. Returns whether a step was taken or a message was read. Sends goodbye when the learner sends stop.
  bool turn();
  ActorEnd end() const { return end_; }

  // Sends a heartbeat where one is due; throws Error where the learner has been silent for too long. For environments
  // that wait for an answer of rank 0 themselves.
  void beat();

  const CollectorStats& stats() const { return collector_.stats(); }
  int64_t steps_sent() const { return counts_.steps; }

 private:
  std::unique_ptr<InferenceServer> make_server(const mdp::BatchEnv& envs, Policy& policy);
  std::unique_ptr<RemotePolicy> make_remote(Policy& policy);
  void on_trajectory(mdp::CodedTrajectory trajectory) override;
  void on_lost(const LostEpisode& episode) override;
  bool read_messages();
  void finish();
  void read(const comm::Incoming& message);
  void send_hello();
  void change_route(const comm::Route& route);
  bool may_start();
  void load_newest();
  int64_t quota_left() const;
  void send_heartbeat(comm::Tag tag);

  comm::Mailbox& mailbox_;
  ActorOptions options_;
  std::unique_ptr<InferenceServer> server_;  // of an inference rank
  std::unique_ptr<RemotePolicy> remote_;     // of one that asks such a rank
  Policy& policy_;
  comm::Hello hello_;
  comm::Handlers handlers_;
  Collector collector_;
  ActorEnd end_ = ActorEnd::running;
  std::optional<comm::Weights> newest_;  // arrived, not yet in use
  int64_t granted_version_ = -1;         // of the newest weights that arrived
  int64_t quota_steps_ = 0;              // under them
  int64_t sent_steps_ = 0;               // of episodes that count for the quota
  int64_t first_counted_ = 0;            // episodes from this number on count
  bool sent_goodbye_ = false;
  bool reported_exhausted_ = false;  // a heartbeat has reported that the quota is used up
  comm::Heartbeat counts_;
  Stopwatch since_beat_, since_heard_, since_read_;
};

}  // namespace rlgo::actors
