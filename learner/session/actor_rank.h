// An actor rank's part of a run, once it has environments and a policy.
#pragma once

#include <functional>

#include "actors/actor_loop.h"
#include "core/comm/mailbox.h"
#include "learner/loop_options.h"
#include "replay/schema.h"
#include "replay/writer.h"

namespace rlgo::learner {

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
