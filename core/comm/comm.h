// The ranks of a run and raw packets between them: over MPI, or inside one process. No collectives, nothing blocks.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rlgo::comm {

// Bytes that several sends may share (weights to 31 actors are held once).
using Bytes = std::shared_ptr<const std::string>;

// Largest packet; longer messages are cut by the mailbox (an MPI count is an int).
inline constexpr size_t kMaxPacketBytes = size_t{64} << 20;

struct Packet {
  int source = 0;
  std::string bytes;
};

// Used by one thread at a time. Packets of one sender to one receiver arrive in order, each once.
class Comm {
 public:
  virtual ~Comm() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  // Starts to send bytes[offset, offset + size) and returns at once; the bytes are kept alive until they have left.
  // A rank may send to itself. Throws Error for a rank that does not exist or a packet above kMaxPacketBytes.
  virtual void send(int to, Bytes bytes, size_t offset, size_t size) = 0;
  // The next packet that has arrived whole; nothing where there is none. Also drives the sends.
  virtual std::optional<Packet> try_receive() = 0;
  // Bytes on their way to one rank, or (-1) to all.
  virtual size_t pending_bytes(int to = -1) const = 0;
  // A rank that is thought dead: what is half arrived from it counts no longer against what this rank can receive at
  // once (it may never end, and 64 such would make this rank deaf). What arrives from it all the same is received.
  virtual void forget(int /*rank*/) {}
  virtual void remember(int /*rank*/) {}
  // Whether a packet is arriving in pieces: worth asking again soon, since pieces move only while both sides ask.
  virtual bool receiving() const { return false; }
  // Ends the communication, waiting at most `max_s` for the other ranks. Returns whether all took part; where not (a
  // rank died or hangs) the process continues without them. Call it once, last; the destructor calls it where it was
  // not. `status` is what the process will end with: the job's status, where other ranks have to be ended by force.
  virtual bool close(double max_s, int status = 0) = 0;
  // [size] a number for the machine that each rank runs on: equal where two share one.
  virtual std::vector<int> nodes() const { return std::vector<int>(static_cast<size_t>(size())); }
  // "MPI (4 ranks)", "one process".
  virtual std::string name() const = 0;
};

// One process that is rank 0 of 1. No MPI.
std::unique_ptr<Comm> self_comm();
// `size` ranks inside one process, each for a thread of its own: for tests and for serial runs. No MPI.
std::vector<std::unique_ptr<Comm>> local_comms(int size);

}  // namespace rlgo::comm
