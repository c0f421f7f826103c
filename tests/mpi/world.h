// What the tests under mpirun share: one Comm and one Mailbox for the whole program.
#pragma once

#include "core/base/error.h"
#include "core/base/stopwatch.h"
#include "core/comm/mailbox.h"

namespace rlgo::test {

struct World {
  explicit World(comm::Comm& comm_) : comm(comm_), mailbox(comm_) {}
  int rank() const { return comm.rank(); }
  int size() const { return comm.size(); }
  // Waits for all ranks and drops every message from before.
  void meet() {
    // A loop that still runs at rank 0 would swallow what the others send: they wait until it has ended.
    for (int to = 1; rank() == 0 && to < size(); ++to) mailbox.send(to, comm::Tag::stats, "ended");
    if (rank() != 0) wait_for(comm::Tag::stats, 0);
    for (int to = 0; to < size(); ++to) mailbox.send(to, comm::Tag::stats, "here");
    for (int from = 0; from < size(); ++from) wait_for(comm::Tag::stats, from);
    for (const auto& row : comm::kTags) {
      // Another rank's "go" may be here already.
      while (row.tag != comm::Tag::stats && mailbox.take(row.tag)) {
      }
    }
    for (int to = 0; to < size(); ++to) mailbox.send(to, comm::Tag::stats, "go");
    for (int from = 0; from < size(); ++from) wait_for(comm::Tag::stats, from);
  }
  comm::Incoming wait_for(comm::Tag tag, int from) {
    const Stopwatch watch;
    for (;;) {
      if (auto message = mailbox.take(tag, from)) return std::move(*message);
      if (watch.seconds() > 100) fail("rank {}: no '{}' from rank {}", rank(), name(tag), from);
      mailbox.wait(10);
    }
  }
  comm::Comm& comm;
  comm::Mailbox mailbox;
};

// Set by main().
World& world();

}  // namespace rlgo::test
