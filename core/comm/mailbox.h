// Messages with a tag, on top of packets: framed, checked, bounded, never blocking.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/stopwatch.h"
#include "core/comm/comm.h"
#include "core/comm/frame.h"
#include "core/comm/tags.h"

namespace rlgo::comm {

struct MailboxOptions {
  size_t packet_bytes = size_t{16} << 20;  // longer messages are cut; [4 KiB, kMaxPacketBytes]
  size_t window_bytes = size_t{32} << 20;  // handed to Comm at once for each receiver; the rest waits here
  // Likewise messages, until the receiver reports that they arrived. A receiver that is stopped would else hold the
  // memory that Comm needs for the others (MPI: 512 pieces of shared memory).
  uint64_t window_messages = 32;
  size_t max_message_bytes = size_t{1} << 30;  // longer ones are an error of the sender, and dropped by the receiver
  // Back-off of wait(): asks again and again (yielding) for spin_us, longer while a long message is under way, which
  // moves only when both sides ask; then sleeps, each time twice as long. While something is under way it sleeps for a
  // sixteenth of the time in which nothing has moved: a peer that does not fetch its messages costs no core.
  double spin_us = 150, spin_under_way_us = 2000;
  double first_sleep_us = 50, longest_sleep_us = 5000, longest_sleep_under_way_us = 2000;
};

struct Incoming {  // a message that arrived whole
  int source = 0;
  Tag tag = Tag::hello;
  uint64_t sequence = 0;
  std::string payload;
};

struct Traffic {
  uint64_t messages = 0;
  uint64_t bytes = 0;  // payloads and headers
};

struct MailboxCounters {  // since the start, without Tag::fetched
  Traffic in, out;
  std::array<Traffic, 32> in_by_tag{}, out_by_tag{};
  uint64_t corrupt = 0;     // messages (or stray packets) dropped for a wrong checksum, length or address
  uint64_t missing = 0;     // messages that never arrived, by their sequence numbers
  uint64_t superseded = 0;  // older messages of a newest-only kind that were never sent
  const Traffic& sent(Tag tag) const { return out_by_tag[static_cast<size_t>(tag) % 32]; }
  const Traffic& received(Tag tag) const { return in_by_tag[static_cast<size_t>(tag) % 32]; }
};

// What to do with messages of a tag; each loop passes those that it does not know itself to such a table.
using Handlers = std::map<Tag, std::function<void(const Incoming&)>>;

// Used by one thread. The messages of one sender arrive in the order in which they were sent, each at most once; a
// broken one is dropped and counted. Every function that may take or send also moves what is under way.
class Mailbox {
 public:
  explicit Mailbox(Comm& comm, MailboxOptions options = {});

  int rank() const { return comm_.rank(); }
  int size() const { return comm_.size(); }

  // Returns at once. Throws Error for an unknown rank or a payload above max_message_bytes. Nothing is sent to a
  // forgotten rank.
  void send(int to, Tag tag, std::string payload);
  // Newest-only, to many: an earlier message of this tag to the same rank that has not left yet is replaced. The
  // payload is held once.
  void publish(std::span<const int> ranks, Tag tag, const Bytes& payload);

  // The oldest message that has arrived: of any tag, of one tag, of one tag from one rank.
  std::optional<Incoming> take();
  std::optional<Incoming> take(Tag tag);
  std::optional<Incoming> take(Tag tag, int source);
  // The oldest message of any other tag than these, which stay.
  std::optional<Incoming> take_unless(std::span<const Tag> kept);
  // Waits until a message arrives (true) or max_ms have passed (false), mostly asleep. Messages that arrived before the
  // call do not count: take first, then wait.
  bool wait(double max_ms);
  // Moves what is under way; whether any message arrived.
  bool poll();
  // Waits until all that was sent has left, or what was sent to `ranks`, at most max_s seconds. False where something
  // is still here.
  bool flush(double max_s);
  bool flush(double max_s, std::span<const int> ranks);
  // Drops what waits for a rank that is thought dead, and what is sent to it until it is remembered again.
  void forget(int peer);
  void remember(int peer);

  const MailboxCounters& counters() const { return counters_; }
  // Bytes that wait here for a window; those of forgotten ranks do not count.
  size_t waiting_bytes() const;
  size_t waiting_bytes(int to) const;

 private:
  struct Outgoing {
    Tag tag;
    Bytes payload;
    uint64_t hash = 0;
    bool newest_only = false;
  };
  struct Peer {
    std::deque<Outgoing> outgoing;
    bool active = false;    // listed in active_
    size_t sent_bytes = 0;  // of the first outgoing message's payload
    bool started = false;   // its header has left
    bool forgotten = false;
    uint64_t next_out = 0, fetched = 0;     // messages sent, and of these, arrived
    uint64_t next_in = 0, reported_in = 0;  // messages that arrived, and of these, reported
    std::optional<FrameHeader> assembling;
    std::string payload;
  };

  void enqueue(int to, Outgoing message);
  void activate(int to, Peer& peer);
  void report_fetched(int to, Peer& peer);
  bool under_way() const;
  void note_progress();
  void pump();
  void pump(int to, Peer& peer);
  void start(int to, Peer& peer);
  void accept(Packet packet);
  void begin_message(Peer& peer, Packet packet);
  void finish_message(Peer& peer);
  std::optional<Incoming> take_if(const std::function<bool(const Incoming&)>& wanted);

  Comm& comm_;
  MailboxOptions options_;
  std::vector<Peer> peers_;
  std::vector<int> active_;  // those with messages that have not left: what a look costs does not grow with the ranks
  std::vector<int> forgotten_;
  std::deque<Incoming> inbox_;
  MailboxCounters counters_;
  double sleep_us_ = 0;
  size_t last_pending_ = 0;  // what was under way when something last moved
  bool last_receiving_ = false;
  Stopwatch since_progress_;
};

}  // namespace rlgo::comm
