// Ranks that sum a buffer among themselves: the gradients of several learners. Actors are never part of it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/comm/mailbox.h"

namespace rlgo::comm {

// A member of the group is silent: dead, or hanging.
class NoAnswer : public Error {
 public:
  using Error::Error;
};

enum class Number : uint8_t { f32, f64 };  // type of what is summed
inline size_t size_bytes(Number type) { return type == Number::f32 ? sizeof(float) : sizeof(double); }

class DeviceGroup {  // sums buffers over the learners
 public:
  virtual ~DeviceGroup() = default;
  virtual int size() const = 0;
  // Whether buffers lie in the memory of a CUDA device (else of the host).
  virtual bool on_gpu() const = 0;
  // Starts to replace data[0, count) on every rank of the group by the sum over the ranks, bit for bit the same
  // everywhere. Every rank calls it with the same count and type, in the same order of calls. The data must not be
  // touched before wait(). On a GPU it waits for what the device's default stream was given so far, then runs next to
  // what that stream is given later; on the host it returns when the sum is there. Throws NoAnswer where a rank
  // does not answer in time, Error where it has reported that it ends.
  virtual void begin_sum(void* data, size_t count, Number type) = 0;
  // All sums that were begun are there: for the host, and for what the device's default stream is given from now on.
  virtual void wait() = 0;
  // "ring of 3 ranks on the CPU, through MPI (4 ranks)", "NCCL, 2 ranks, device 0".
  virtual std::string name() const = 0;

  void all_reduce_sum(float* data, size_t count) { begin_sum(data, count, Number::f32), wait(); }
  void all_reduce_sum(double* data, size_t count) { begin_sum(data, count, Number::f64), wait(); }
};

struct GroupOptions {
  double timeout_s = 120;  // for one piece from a neighbour
  std::string transport;   // Comm::name(), for name()
};

// Over the mailbox, host memory. Long buffers go round a ring (reduce-scatter, then all-gather; 2 (n-1)/n of the buffer
// is sent by each rank); short ones go from each rank to each, one message's time. `ranks` lists the members in the
// same order everywhere and holds this rank. Other messages that arrive meanwhile stay in the mailbox, but for `stop`
// of a member, which is an Error here: it does not take part any more.
std::unique_ptr<DeviceGroup> ring_group(Mailbox& mailbox, std::vector<int> ranks, GroupOptions options = {});

// Sends Tag::stop with the reason to the other `ranks` and waits (2 s) until it has left. To be called where a member
// fails, before its group is destroyed.
void announce_stop(Mailbox& mailbox, const std::vector<int>& ranks, const std::string& reason);

// NCCL on CUDA device number `device`. The first rank of `ranks` makes the unique id and sends it through the mailbox.
// NCCL lives in a plug-in that is opened here and only here. Throws Error where rlgo was built without CUDA, where the
// plug-in does not load, or where there is no such device.
std::unique_ptr<DeviceGroup> nccl_group(Mailbox& mailbox, std::vector<int> ranks, int device,
                                        GroupOptions options = {});
// Whether this build has the plug-in; nothing is loaded.
bool built_with_nccl();
// Why the plug-in cannot be used here; "" where it loads.
std::string why_no_nccl();

}  // namespace rlgo::comm
