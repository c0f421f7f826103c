// Work that may crash or never end, tried in a copy of this process first.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace rlgo {

struct IsolationLimits {
  double cpu_s = 10;                          // processor time, rounded up to whole seconds
  double wall_s = 60;                         // longer than cpu_s, for busy machines
  uint64_t memory_bytes = uint64_t{2} << 30;  // more than this process has now
  std::function<bool()> should_stop = {};     // true: the child is ended
};

struct IsolationResult {
  enum class End : uint8_t {
    good,     // it returned
    refused,  // it threw; `what` is the message
    crashed,  // `what`: "signal 11 (Segmentation fault)"
    too_long,
    too_much_memory,
    stopped,
  };
  End end = End::good;
  std::string what;  // empty where it returned
  bool good() const { return end == End::good; }
};

// Memory that the system can hand out now without swapping; the largest number where it is not known.
uint64_t available_memory_bytes();

// Forks, runs `work` in the child with these limits, and shows how it ended. Nothing that `work` changes in memory is
// seen here. The child has the calling thread alone: `work` must not wait for others, nor use MPI or a device. It
// writes nothing to the terminal. Throws Error where no process can be started.
IsolationResult run_isolated(const std::function<void()>& work, const IsolationLimits& limits);

}  // namespace rlgo
