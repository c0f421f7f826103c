#include "core/gpu/cuda/session.h"

#include <algorithm>

namespace rlgo::gpu {

extern "C" const unsigned char rlgo_gpu_kernels[];  // kernels.cu, compiled

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // else the next call would report it again
  throw Failure(std::string(what) + ": " + cudaGetErrorString(status), status == cudaErrorMemoryAllocation);
}
void check(cudnnStatus_t status, const char* what) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  char more[256] = {};
  cudnnGetLastErrorString(more, sizeof(more));
  const std::string reason = more;
  throw Failure(std::string(what) + ": " + cudnnGetErrorString(status) + (reason.empty() ? "" : " (" + reason + ")"),
                status == CUDNN_STATUS_ALLOC_FAILED);
}
void check(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Failure(std::string(what) + ": " + cublasLtGetStatusString(status), status == CUBLAS_STATUS_ALLOC_FAILED);
}

Memory::Memory(size_t bytes) { grow(bytes); }

void Memory::grow(size_t bytes) {
  if (bytes <= bytes_) return;
  cudaFree(data_);
  data_ = nullptr;
  bytes_ = 0;
  check(cudaMalloc(&data_, bytes), "cudaMalloc");
  bytes_ = bytes;
}

Session::Session(int number) : device(number) {
  check(cudaSetDevice(device), "cudaSetDevice");
  try {
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    check(cudaEventCreateWithFlags(&begin, cudaEventDefault), "cudaEventCreate");
    check(cudaEventCreateWithFlags(&end, cudaEventDefault), "cudaEventCreate");
    check(cudnnCreate(&cudnn), "cudnnCreate");
    check(cudnnSetStream(cudnn, stream), "cudnnSetStream");
    check(cublasLtCreate(&blas), "cublasLtCreate");
    check(cudaLibraryLoadData(&library, static_cast<const void*>(rlgo_gpu_kernels), nullptr, nullptr, 0, nullptr,
                              nullptr, 0),
          "cudaLibraryLoadData");
  } catch (...) {
    release();
    throw;
  }
}

Session::~Session() { release(); }

void Session::release() {
  if (library != nullptr) cudaLibraryUnload(library);
  if (blas != nullptr) cublasLtDestroy(blas);
  if (cudnn != nullptr) cudnnDestroy(cudnn);
  if (begin != nullptr) cudaEventDestroy(begin);
  if (end != nullptr) cudaEventDestroy(end);
  if (stream != nullptr) cudaStreamDestroy(stream);
}

const void* Session::kernel(const std::string& name) {
  const void*& found = kernels[name];
  if (found == nullptr) {
    cudaKernel_t kernel = nullptr;
    check(cudaLibraryGetKernel(&kernel, library, ("rlgo_" + name).c_str()), "cudaLibraryGetKernel");
    found = kernel;
  }
  return found;
}

namespace {

// A CUDA graph of `runs` calls.
class Replay {
 public:
  Replay(Session& session, const std::function<void()>& enqueue, int runs) : session_(session) {
    check(cudaStreamBeginCapture(session.stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    try {
      for (int i = 0; i < runs; ++i) enqueue();
    } catch (...) {
      cudaStreamEndCapture(session.stream, &graph_);
      if (graph_ != nullptr) cudaGraphDestroy(graph_);
      cudaGetLastError();
      throw;
    }
    check(cudaStreamEndCapture(session.stream, &graph_), "cudaStreamEndCapture");
    const auto status = cudaGraphInstantiate(&exec_, graph_, 0);
    if (status != cudaSuccess) cudaGraphDestroy(graph_);
    check(status, "cudaGraphInstantiate");
  }
  ~Replay() {
    cudaGraphExecDestroy(exec_);
    cudaGraphDestroy(graph_);
  }
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;
  void launch() { check(cudaGraphLaunch(exec_, session_.stream), "cudaGraphLaunch"); }

 private:
  Session& session_;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t exec_ = nullptr;
};

}  // namespace

double Session::time_us(const std::function<void()>& enqueue, int runs) {
  Replay replay(*this, enqueue, runs);
  replay.launch();
  check(cudaEventRecord(begin, stream), "cudaEventRecord");
  replay.launch();
  check(cudaEventRecord(end, stream), "cudaEventRecord");
  check(cudaEventSynchronize(end), "cudaEventSynchronize");
  float ms = 0;
  check(cudaEventElapsedTime(&ms, begin, end), "cudaEventElapsedTime");
  return static_cast<double>(ms) * 1000;
}

int fastest(Session& session, int count, const std::function<void(int)>& enqueue, double& us) {
  constexpr int kRuns = 5;
  int best = -1;
  std::string reason = "no algorithm";
  bool no_memory = false;
  for (int i = 0; i < count; ++i) {
    try {
      enqueue(i);  // where it fails, it fails here rather than within a capture
      session.wait();
      const double time = session.time_us([&] { enqueue(i); }, kRuns) / kRuns;
      if (best < 0 || time < us) best = i, us = time;
    } catch (const Failure& e) {
      reason = e.what();
      no_memory = e.no_memory;
    }
  }
  if (best < 0) throw Failure(reason, no_memory);
  return best;
}

}  // namespace rlgo::gpu
