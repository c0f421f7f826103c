// Ranks that sum a buffer among themselves: the gradients of several learners. Actors are never part of it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/comm/mailbox.h"

namespace rlgo::comm {

class DeviceGroup {
 public:
  virtual ~DeviceGroup() = default;
  virtual int size() const = 0;
  // Whether buffers lie in the memory of a CUDA device (else of the host).
  virtual bool on_gpu() const = 0;
  // Replaces data[0, count) on every rank of the group by the sum over the ranks, bit for bit the same everywhere.
  // Every rank calls it with the same count, in the same order of calls. Throws Error where a rank does not answer in
  // time.
  virtual void all_reduce_sum(float* data, size_t count) = 0;
  // "ring of 3 ranks on the CPU, through MPI (4 ranks)", "NCCL, 2 ranks, device 0".
  virtual std::string name() const = 0;
};

struct GroupOptions {
  double timeout_s = 120;  // for one piece from a neighbour
  std::string transport;   // Comm::name(), for name()
};

// A ring over the mailbox (reduce-scatter, then all-gather; 2 (n-1)/n of the buffer is sent by each rank): host memory.
// `ranks` lists the members in the same order everywhere and holds this rank. Other messages that arrive meanwhile stay
// in the mailbox.
std::unique_ptr<DeviceGroup> ring_group(Mailbox& mailbox, std::vector<int> ranks, GroupOptions options = {});

// NCCL on CUDA device number `device`. The first rank of `ranks` makes the unique id and sends it through the mailbox.
// NCCL lives in a plug-in that is opened here and only here. Throws Error where rlgo was built without CUDA, where the
// plug-in does not load, or where there is no such device.
std::unique_ptr<DeviceGroup> nccl_group(Mailbox& mailbox, std::vector<int> ranks, int device,
                                        GroupOptions options = {});
// Whether this build has the plug-in; nothing is loaded.
bool built_with_nccl();

}  // namespace rlgo::comm
