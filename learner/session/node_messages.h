// What an actor needs to pass on what the others of its node send (--train.aggregate).
#pragma once

#include <optional>

#include "core/base/stopwatch.h"
#include "core/comm/mailbox.h"
#include "core/comm/protocol.h"
#include "learner/distributed/aggregator.h"
#include "replay/background_writer.h"

namespace rlgo::learner {

// An aggregator and its store, whose parts carry the rank as the writer's number. The store is opened once rank 0 has
// informed where the run is.
class NodeMessages {
 public:
  NodeMessages(comm::Mailbox& mailbox, replay::StoreHeader header, replay::WriterOptions options);
  comm::Handlers handlers() { return aggregator_.handlers(); }
  // Opens the store where the run has one. Throws Error where its folder cannot be written.
  void open(const comm::Welcome& welcome);
  // To be called often. Throws what the store met.
  void tick();
  // Once this actor has sent goodbye: waits some seconds for the others', then closes the store.
  void end();
  // The same after a failure of this actor, whose error counts more than one of the store here.
  void leave() noexcept;

 private:
  replay::StoreHeader header_;
  replay::WriterOptions options_;
  std::optional<replay::BackgroundWriter> store_;
  Aggregator aggregator_;
  Stopwatch watch_;
};

}  // namespace rlgo::learner
