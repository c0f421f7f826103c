// Stand-ins for libcudart.so.13 and libnccl.so.2, which the real plug-ins are loaded with where there is no GPU.
// Memory of the device is the host's; kernels of rlgo and the libraries' work (tests/cudnn/stubs) run on it, at once
// or, captured, when their graph is launched. The device's time is what they state that they take.
//
// Streams keep vector clocks: an all-reduce must come after the default stream's last write of its data, and the
// default stream may read that only after the sum. Ranks are threads, or processes that share the file of stub_reset();
// sums lie in host memory. Failures are scripted; an abort may wait until all ranks abort, as NCCL's may.
#pragma once

#include <cstddef>
#include <functional>

// Of libcudart.so.13: work of a stream that takes the device `us`.
void stub_enqueue(std::function<void()> work, double us);
double stub_now_us();                  // the device's time so far
void stub_memory_limit(size_t bytes);  // that cudaMalloc gives in all; 0: no limit
struct StubDeviceCounts {
  int graphs = 0;       // that were launched
  int kernels = 0;      // that ran
  size_t bytes = 0;     // taken and not freed
  int live_graphs = 0;  // captured and not destroyed
};
StubDeviceCounts stub_device_counts();

extern "C" {

struct StubScript {
  int busy_polls = 0;        // ncclCommGetAsyncError is "in progress" so often after each step
  int failing_rank = -1;     // at its `failing_sum`-th sum ...
  int failing_sum = 0;       // (counted from 0)
  int async_error = 0;       // ... its communicator has this ncclResult_t
  int call_error = 0;        // ... or ncclAllReduce returns it
  bool abort_waits = false;  // for the other ranks' aborts
};
struct StubCounts {
  int finalized = 0, destroyed = 0, aborted = 0;  // communicators, of all processes
  int violations = 0;                             // reads and writes out of order, of this process
};

// Of libcudart.so.13: the default stream of the calling thread's device writes or reads data.
void stub_write(const void* data);
void stub_read(const void* data);
// For the other library.
struct StubStream;
void stub_sum_begins(void* stream, const void* data);
void stub_sum_ends(void* stream);
int stub_violations();
void stub_forget();  // all data: their addresses may be those of others now

// Of libnccl.so.2. All ranks use the same file; the first empties it.
void stub_reset(const char* file, const StubScript* script);
StubCounts stub_counts();
}
