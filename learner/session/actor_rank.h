// An actor rank's part of a run, once it has environments and a policy.
#pragma once

#include <functional>
#include <optional>

#include "actors/actor_loop.h"
#include "core/comm/mailbox.h"
#include "learner/loop_options.h"
#include "replay/schema.h"
#include "replay/writer.h"

namespace rlgo::learner {

// Rank 0 reads, times operators and resumes before the others may begin; meanwhile it gives signs of life (a heartbeat
// a second, but for single long steps). Where they stop for this long it is thought dead.
constexpr double kStartSilence_s = 600;
// Sleeps until rank 0's first message of this kind. Nothing where rank 0 sends stop, or should_stop reports so. Throws
// comm::NoAnswer where nothing is heard from it for `silence_s`.
std::optional<comm::Incoming> wait_for_start(comm::Mailbox& mailbox, comm::Tag tag, double silence_s,
                                             const std::function<bool()>& should_stop);

struct ActorRank {
  comm::Mailbox& mailbox;
  mdp::BatchEnv& envs;
  actors::Policy& policy;
  actors::ActorOptions options;  // all but what follows from `loop`: via, inference_rank, welcomed, tend
  comm::Handlers handlers;
  const LoopOptions& loop;  // after choose_ranks()
  replay::StoreHeader header;
  replay::WriterOptions store;  // where this rank passes on what its node's others send
  std::function<bool()> should_stop;
};

// To the end. Returns the exit status. A failure is reported to rank 0, then thrown.
int run(ActorRank part);

}  // namespace rlgo::learner
