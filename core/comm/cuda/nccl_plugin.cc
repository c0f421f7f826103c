#include "core/comm/cuda/nccl_plugin.h"

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>

#include "core/base/stopwatch.h"

namespace {

struct Group {
  int device = 0;
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
  cudaEvent_t filled = nullptr, summed = nullptr;
  ~Group() {
    if (comm != nullptr) ncclCommDestroy(comm);
    if (filled != nullptr) cudaEventDestroy(filled);
    if (summed != nullptr) cudaEventDestroy(summed);
    if (stream != nullptr) cudaStreamDestroy(stream);
  }
};

// Where a step fails, its name and the library's reason.
class Outcome {
 public:
  Outcome(char* error, size_t size) : error_(error), size_(size) {}
  bool ok(cudaError_t status, const char* what) {
    return status == cudaSuccess || say(what, cudaGetErrorString(status));
  }
  bool ok(ncclResult_t status, const char* what) {
    return status == ncclSuccess || say(what, ncclGetErrorString(status));
  }

 private:
  bool say(const char* what, const char* reason) {
    std::snprintf(error_, size_, "%s: %s", what, reason);
    return false;
  }
  char* error_;
  size_t size_;
};

int unique_id(char id[kRlgoNcclIdBytes], char* error, size_t error_size) {
  static_assert(sizeof(ncclUniqueId) == kRlgoNcclIdBytes);
  Outcome outcome(error, error_size);
  ncclUniqueId made;
  if (!outcome.ok(ncclGetUniqueId(&made), "ncclGetUniqueId")) return 1;
  std::memcpy(id, &made, sizeof(made));
  return 0;
}

int init(const char id[kRlgoNcclIdBytes], int rank, int size, int device, void** group, char* error,
         size_t error_size) {
  Outcome outcome(error, error_size);
  auto made = std::make_unique<Group>();
  made->device = device;
  ncclUniqueId unique;
  std::memcpy(&unique, id, sizeof(unique));
  if (!outcome.ok(cudaSetDevice(device), "cudaSetDevice")) return 1;
  if (!outcome.ok(cudaStreamCreateWithFlags(&made->stream, cudaStreamNonBlocking), "cudaStreamCreate")) return 1;
  for (cudaEvent_t* event : {&made->filled, &made->summed}) {
    if (!outcome.ok(cudaEventCreateWithFlags(event, cudaEventDisableTiming), "cudaEventCreate")) return 1;
  }
  if (!outcome.ok(ncclCommInitRank(&made->comm, size, unique, rank), "ncclCommInitRank")) return 1;
  *group = made.release();
  return 0;
}

int given_up(char* error, size_t error_size) {
  std::snprintf(error, error_size, "the communicator was given up");
  return 1;
}

int begin_sum(void* group, void* data, size_t count, int is_double, char* error, size_t error_size) {
  Outcome outcome(error, error_size);
  const auto& member = *static_cast<const Group*>(group);
  const auto type = is_double != 0 ? ncclDouble : ncclFloat;
  if (member.comm == nullptr) return given_up(error, error_size);
  return outcome.ok(cudaSetDevice(member.device), "cudaSetDevice") &&
                 outcome.ok(cudaEventRecord(member.filled, nullptr), "cudaEventRecord") &&
                 outcome.ok(cudaStreamWaitEvent(member.stream, member.filled, 0), "cudaStreamWaitEvent") &&
                 outcome.ok(ncclAllReduce(data, data, count, type, ncclSum, member.comm, member.stream),
                            "ncclAllReduce")
             ? 0
             : 1;
}

// Gives the communicator up: its kernels would wait for ever for a rank that is gone.
int give_up(Group& member, char* error, size_t error_size, const char* reason) {
  ncclCommAbort(member.comm);
  member.comm = nullptr;
  std::snprintf(error, error_size, "%s", reason);
  return kRlgoNcclNoAnswer;
}

int wait(void* group, double timeout_s, char* error, size_t error_size) {
  Outcome outcome(error, error_size);
  auto& member = *static_cast<Group*>(group);
  if (member.comm == nullptr) return given_up(error, error_size);
  if (!outcome.ok(cudaSetDevice(member.device), "cudaSetDevice")) return 1;
  if (!outcome.ok(cudaEventRecord(member.summed, member.stream), "cudaEventRecord")) return 1;
  const rlgo::Stopwatch watch;
  for (;;) {
    const cudaError_t state = cudaEventQuery(member.summed);
    if (state == cudaSuccess) return 0;
    if (state != cudaErrorNotReady) return outcome.ok(state, "all-reduce") ? 0 : 1;
    ncclResult_t fault = ncclSuccess;
    ncclCommGetAsyncError(member.comm, &fault);
    if (fault != ncclSuccess) return give_up(member, error, error_size, ncclGetErrorString(fault));
    if (watch.seconds() > timeout_s) return give_up(member, error, error_size, "a learner did not answer in time");
    std::this_thread::yield();
  }
}

int address(int device, char text[kRlgoDeviceAddressBytes], char* error, size_t error_size) {
  Outcome outcome(error, error_size);
  return outcome.ok(cudaDeviceGetPCIBusId(text, static_cast<int>(kRlgoDeviceAddressBytes), device),
                    "cudaDeviceGetPCIBusId")
             ? 0
             : 1;
}

void destroy(void* group) { std::unique_ptr<Group>(static_cast<Group*>(group)).reset(); }

}  // namespace

const RlgoNcclPlugin* rlgo_nccl_plugin() {
  static const RlgoNcclPlugin plugin{kRlgoNcclPluginVersion, unique_id, init, begin_sum, wait, address, destroy};
  return &plugin;
}
