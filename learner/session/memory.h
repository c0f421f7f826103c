// How much memory a rank has used at most.
#pragma once

#include "core/exec/device.h"
#include "learner/distributed/followers.h"

namespace rlgo::learner {

struct MemoryPeak {
  double host_bytes = 0;    // resident, of this process, so far
  double device_bytes = 0;  // held by LibTorch on the GPU, so far; 0 on a CPU
};
MemoryPeak memory_peak(const exec::Device& device);
// The largest of all learners: of this one, and of those that `leader` (or null) leads.
MemoryPeak memory_peak(const exec::Device& device, const LeaderAlgorithm* leader);

}  // namespace rlgo::learner
