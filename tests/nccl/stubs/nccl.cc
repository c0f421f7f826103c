#include <fcntl.h>
#include <nccl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tests/nccl/stubs/stub.h"

namespace {

constexpr int kRanks = 4, kSums = 64, kMost = 64;  // numbers a sum

// What the ranks share. A new file is all zeros.
struct Shared {
  std::atomic<int> joined, finalized, destroyed, aborted;
  struct {
    std::atomic<int> arrived;
    double data[kRanks][kMost];
  } sums[kSums];
};
Shared* shared = nullptr;
StubScript script;

struct Sum {
  void* data;
  size_t count;
  ncclDataType_t type;
  cudaStream_t stream;
};

double number(const Sum& sum, size_t i) {
  return sum.type == ncclDouble ? static_cast<double*>(sum.data)[i] : static_cast<float*>(sum.data)[i];
}

}  // namespace

struct ncclComm {
  int rank = 0, size = 1, busy = 0, ended = 0;
  bool finalizing = false;
  std::vector<Sum> sums;

  bool fails() const { return rank == script.failing_rank && static_cast<int>(sums.size()) > script.failing_sum; }
  // Sums that all ranks have begun end, in their order.
  void move_on() {
    while (ended < static_cast<int>(sums.size()) && shared->sums[ended].arrived == size) {
      const auto& sum = sums[static_cast<size_t>(ended)];
      for (size_t i = 0; i < sum.count; ++i) {
        double total = 0;
        for (int r = 0; r < size; ++r) total += shared->sums[ended].data[r][i];
        if (sum.type == ncclDouble) {
          static_cast<double*>(sum.data)[i] = total;
        } else {
          static_cast<float*>(sum.data)[i] = static_cast<float>(total);
        }
      }
      stub_sum_ends(sum.stream);
      ++ended;
    }
  }
};

extern "C" {

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  std::memset(id, 7, sizeof *id);
  return ncclSuccess;
}
ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int size, ncclUniqueId id, int rank, ncclConfig_t* config) {
  if (config->blocking != 0 || id.internal[0] != 7 || size > kRanks) return ncclInvalidArgument;
  *comm = new ncclComm{.rank = rank, .size = size, .busy = script.busy_polls, .sums = {}};
  ++shared->joined;
  return ncclInProgress;
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* state) {
  comm->move_on();
  *state = ncclSuccess;
  if (comm->fails() && script.async_error != 0) {
    *state = static_cast<ncclResult_t>(script.async_error);
  } else if (shared->joined < comm->size || comm->busy-- > 0 || (comm->finalizing && shared->finalized < comm->size)) {
    *state = ncclInProgress;
  }
  return ncclSuccess;
}
ncclResult_t ncclAllReduce(const void* from, void* to, size_t count, ncclDataType_t type, ncclRedOp_t, ncclComm_t comm,
                           cudaStream_t stream) {
  const auto at = comm->sums.size();
  if (from != to || count > kMost || at >= kSums) return ncclInvalidArgument;
  comm->sums.push_back({to, count, type, stream});
  if (comm->fails() && script.call_error != 0) return static_cast<ncclResult_t>(script.call_error);
  stub_sum_begins(stream, to);
  for (size_t i = 0; i < count; ++i) shared->sums[at].data[comm->rank][i] = number(comm->sums.back(), i);
  ++shared->sums[at].arrived;
  comm->busy = script.busy_polls;
  return ncclInProgress;
}
ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  comm->finalizing = true;
  ++shared->finalized;
  return ncclInProgress;
}
ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  ++shared->destroyed;
  delete comm;
  return ncclSuccess;
}
ncclResult_t ncclCommAbort(ncclComm_t comm) {
  ++shared->aborted;
  while (script.abort_waits && shared->aborted < comm->size) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return ncclSuccess;
}
const char* ncclGetErrorString(ncclResult_t result) {
  return result == ncclRemoteError ? "remote process exited" : "unhandled system error";
}
const char* ncclGetLastError(ncclComm_t) { return "socket 7: connection refused"; }

void stub_reset(const char* file, const StubScript* to) {
  script = *to;
  stub_forget();
  const int fd = ::open(file, O_RDWR | O_CREAT, 0600);
  if (fd < 0 || ::ftruncate(fd, sizeof(Shared)) != 0) ::_exit(99);
  shared = static_cast<Shared*>(::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  ::close(fd);
}
StubCounts stub_counts() { return {shared->finalized, shared->destroyed, shared->aborted, stub_violations()}; }
}
