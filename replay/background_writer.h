// A RolloutWriter in a thread of its own: coding, compression and the disk's fsync do not block the caller.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "core/codec/coded.h"
#include "replay/writer.h"

namespace rlgo::replay {

// Used by one thread. Where the HDF5 library was built without thread safety it works in the caller's thread.
class BackgroundWriter {
 public:
  // As RolloutWriter, in the caller's thread. At most `most_waiting` episodes wait (>= 1).
  BackgroundWriter(std::filesystem::path folder, StoreHeader header, WriterOptions options = {},
                   size_t most_waiting = 4096);
  // Closes as well as it can; errors are lost. Call close() to see them.
  ~BackgroundWriter();
  BackgroundWriter(const BackgroundWriter&) = delete;
  BackgroundWriter& operator=(const BackgroundWriter&) = delete;

  // Hands an episode over; blocks only where most_waiting wait already (the disk is slower than the actors). This and
  // the next two throw what an earlier episode met: the spec does not fit, the disk is full. Nothing is taken after
  // that.
  void append(std::shared_ptr<const mdp::CodedTrajectory> trajectory);
  // See RolloutWriter::tick.
  void tick(double now_seconds);
  // Waits until all is on disk, then no more episodes. May be called again.
  void close();

  int64_t parts_written() const;  // since construction
  double cpu_us() const;          // of the thread, so far; 0 where there is none

 private:
  void work();
  void write(const std::shared_ptr<const mdp::CodedTrajectory>& trajectory, std::optional<double> now_seconds);
  void rethrow();

  RolloutWriter writer_;  // the thread's, until it has ended
  size_t most_waiting_;
  mutable std::mutex mutex_;
  std::condition_variable work_, room_;
  std::deque<std::shared_ptr<const mdp::CodedTrajectory>> waiting_;
  std::optional<double> now_seconds_;  // given, and not looked at yet
  bool ending_ = false;
  std::exception_ptr error_;
  int64_t parts_ = 0;
  double cpu_us_ = 0;
  std::thread thread_;
};

}  // namespace rlgo::replay
