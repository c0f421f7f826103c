#include "core/comm/cuda/nccl_plugin.h"

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <cstdio>
#include <cstring>
#include <memory>

namespace {

struct Group {
  int device = 0;
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
  ~Group() {
    if (comm != nullptr) ncclCommDestroy(comm);
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
  if (!outcome.ok(ncclCommInitRank(&made->comm, size, unique, rank), "ncclCommInitRank")) return 1;
  *group = made.release();
  return 0;
}

int all_reduce_sum(void* group, float* data, size_t count, char* error, size_t error_size) {
  Outcome outcome(error, error_size);
  const auto& member = *static_cast<const Group*>(group);
  if (!outcome.ok(cudaSetDevice(member.device), "cudaSetDevice")) return 1;
  // What other streams still write into `data` must be done.
  if (!outcome.ok(cudaDeviceSynchronize(), "cudaDeviceSynchronize")) return 1;
  if (!outcome.ok(ncclAllReduce(data, data, count, ncclFloat, ncclSum, member.comm, member.stream), "ncclAllReduce"))
    return 1;
  return outcome.ok(cudaStreamSynchronize(member.stream), "cudaStreamSynchronize") ? 0 : 1;
}

void destroy(void* group) { std::unique_ptr<Group>(static_cast<Group*>(group)).reset(); }

}  // namespace

const RlgoNcclPlugin* rlgo_nccl_plugin() {
  static const RlgoNcclPlugin plugin{kRlgoNcclPluginVersion, unique_id, init, all_reduce_sum, destroy};
  return &plugin;
}
