#include "core/comm/cuda/nccl_plugin.h"

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>

#include "core/base/stopwatch.h"

namespace {

constexpr double kLeaveS = 5;  // for the others, at the end

struct Group {
  int device = 0;
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
  cudaEvent_t filled = nullptr, summed = nullptr;
  bool marked = false;  // `summed` stands behind all sums that were begun
};

// Where a step fails, its name and the library's reason.
class Outcome {
 public:
  Outcome(char* error, size_t size) : error_(error), size_(size) {}
  bool ok(cudaError_t status, const char* what) {
    if (status == cudaSuccess) return true;
    std::snprintf(error_, size_, "%s: %s", what, cudaGetErrorString(status));
    return false;
  }
  // What is under way is no failure. Another rank that is gone is distinguished from what fails here for good: only
  // after the first does it help to start again.
  bool ok(ncclResult_t status, const char* what, ncclComm_t comm = nullptr) {
    if (status == ncclSuccess || status == ncclInProgress) return true;
    if (status == ncclRemoteError) failed_ = kRlgoNcclNoAnswer;
    const char* more = ncclGetLastError(comm);
    const bool any = more != nullptr && *more != 0;
    std::snprintf(error_, size_, "%s: %s%s%s", what, ncclGetErrorString(status), any ? ": " : "", any ? more : "");
    return false;
  }
  int failed() const { return failed_; }  // kRlgoNccl... of the step that was not ok

 private:
  int failed_ = kRlgoNcclFailed;
  char* error_;
  size_t size_;
};

int unique_id(char id[kRlgoNcclIdBytes], char* error, size_t error_size) {
  static_assert(sizeof(ncclUniqueId) == kRlgoNcclIdBytes);
  Outcome outcome(error, error_size);
  ncclUniqueId made;
  if (!outcome.ok(ncclGetUniqueId(&made), "ncclGetUniqueId")) return outcome.failed();
  std::memcpy(id, &made, sizeof(made));
  return 0;
}

int begin_init(const char id[kRlgoNcclIdBytes], int rank, int size, int device, void** group, char* error,
               size_t error_size) {
  Outcome outcome(error, error_size);
  auto made = std::make_unique<Group>();
  made->device = device;
  ncclUniqueId unique;
  std::memcpy(&unique, id, sizeof(unique));
  if (!outcome.ok(cudaSetDevice(device), "cudaSetDevice")) return kRlgoNcclFailed;
  if (!outcome.ok(cudaStreamCreateWithFlags(&made->stream, cudaStreamNonBlocking), "cudaStreamCreate"))
    return kRlgoNcclFailed;
  for (cudaEvent_t* event : {&made->filled, &made->summed}) {
    if (!outcome.ok(cudaEventCreateWithFlags(event, cudaEventDisableTiming), "cudaEventCreate")) return kRlgoNcclFailed;
  }
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  const auto status = ncclCommInitRankConfig(&made->comm, size, unique, rank, &config);
  *group = made.release();
  return outcome.ok(status, "ncclCommInitRankConfig") ? kRlgoNcclDone : outcome.failed();
}

// What is under way, or has gone wrong outside the calls.
int state_of(const Group& member, char* error, size_t error_size) {
  Outcome outcome(error, error_size);
  ncclResult_t state = ncclSuccess;
  if (!outcome.ok(ncclCommGetAsyncError(member.comm, &state), "ncclCommGetAsyncError", member.comm) ||
      !outcome.ok(state, "NCCL", member.comm))
    return outcome.failed();
  return state == ncclInProgress ? kRlgoNcclBusy : kRlgoNcclDone;
}

int poll_begun(void* group, char* error, size_t error_size) {
  return state_of(*static_cast<const Group*>(group), error, error_size);
}

int begin_sum(void* group, void* data, size_t count, int is_double, char* error, size_t error_size) {
  Outcome outcome(error, error_size);
  auto& member = *static_cast<Group*>(group);
  const auto type = is_double != 0 ? ncclDouble : ncclFloat;
  member.marked = false;
  return outcome.ok(cudaSetDevice(member.device), "cudaSetDevice") &&
                 outcome.ok(cudaEventRecord(member.filled, nullptr), "cudaEventRecord") &&
                 outcome.ok(cudaStreamWaitEvent(member.stream, member.filled, 0), "cudaStreamWaitEvent") &&
                 outcome.ok(ncclAllReduce(data, data, count, type, ncclSum, member.comm, member.stream),
                            "ncclAllReduce", member.comm)
             ? kRlgoNcclDone
             : outcome.failed();
}

int poll_sums(void* group, char* error, size_t error_size) {
  Outcome outcome(error, error_size);
  auto& member = *static_cast<Group*>(group);
  if (const int begun = state_of(member, error, error_size); begun != kRlgoNcclDone) return begun;
  if (!member.marked) {
    if (!outcome.ok(cudaSetDevice(member.device), "cudaSetDevice")) return kRlgoNcclFailed;
    if (!outcome.ok(cudaEventRecord(member.summed, member.stream), "cudaEventRecord")) return kRlgoNcclFailed;
    member.marked = true;
  }
  const cudaError_t state = cudaEventQuery(member.summed);
  if (state == cudaErrorNotReady) return kRlgoNcclBusy;
  return outcome.ok(state, "all-reduce") ? kRlgoNcclDone : kRlgoNcclFailed;
}

// Stream and events are not freed: kernels that never end may stand in them.
void abandon(void* group) {
  const std::unique_ptr<Group> member(static_cast<Group*>(group));
  if (member->comm != nullptr) std::thread(ncclCommAbort, member->comm).detach();
}

void destroy(void* group) {
  const std::unique_ptr<Group> member(static_cast<Group*>(group));
  if (member->comm == nullptr) return;
  ncclCommFinalize(member->comm);
  const rlgo::Stopwatch watch;
  ncclResult_t state = ncclInProgress;
  while (state == ncclInProgress && watch.seconds() < kLeaveS) {
    ncclCommGetAsyncError(member->comm, &state);
    std::this_thread::yield();
  }
  if (state != ncclSuccess) {
    std::thread(ncclCommAbort, member->comm).detach();
    return;
  }
  ncclCommDestroy(member->comm);
  cudaEventDestroy(member->filled);
  cudaEventDestroy(member->summed);
  cudaStreamDestroy(member->stream);
}

}  // namespace

const RlgoNcclPlugin* rlgo_nccl_plugin() {
  static const RlgoNcclPlugin plugin{
      kRlgoNcclPluginVersion, unique_id, begin_init, begin_sum, poll_begun, poll_sums, destroy, abandon};
  return &plugin;
}
