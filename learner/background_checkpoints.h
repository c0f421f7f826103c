// A CheckpointFolder in a thread of its own: encoding, checksum and the disk's fsync do not keep the learner's loop,
// and with it the actors.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>

#include "learner/checkpoint.h"

namespace rlgo::learner {

// Used by one thread. A file has its name only when it is whole, so whenever the process is killed the newest one
// serves. Where the HDF5 library was built without thread safety it works in the caller's thread.
class BackgroundCheckpoints {
 public:
  // As CheckpointFolder, in the caller's thread.
  explicit BackgroundCheckpoints(std::filesystem::path folder, int keep_last = 3,
                                 const std::map<std::string, std::string>& before = {});
  // Writes what it was given; errors are lost. Call close() to see them.
  ~BackgroundCheckpoints();
  BackgroundCheckpoints(const BackgroundCheckpoints&) = delete;
  BackgroundCheckpoints& operator=(const BackgroundCheckpoints&) = delete;

  // Takes a snapshot over; see CheckpointFolder::save. All are written, in order. Blocks only where an earlier one
  // still waits behind one that is being written (the disk is slower than the epochs). Throws what an earlier one met:
  // the disk is full. Nothing is taken after that.
  void save(Checkpoint checkpoint, int64_t number, std::optional<double> score = {});
  // Waits until all is on disk; throws as save() does. Then no more. May be called again.
  void close();

 private:
  struct Snapshot {
    Checkpoint checkpoint;
    int64_t number = 0;
    std::optional<double> score;
  };
  void work();
  void rethrow();

  CheckpointFolder folder_;  // the thread's, until it has ended
  std::mutex mutex_;
  std::condition_variable work_, room_;
  std::optional<Snapshot> waiting_;
  bool ending_ = false;
  std::exception_ptr error_;
  std::thread thread_;
};

}  // namespace rlgo::learner
