// A GPU with a stream, the libraries' handles and the kernels; what one step is on it.
#pragma once

#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>

#include "core/gpu/steps.h"

namespace rlgo::gpu {

// Inside of the plug-in; its C functions catch it.
class Failure : public std::runtime_error {
 public:
  explicit Failure(const std::string& what, bool memory = false) : std::runtime_error(what), no_memory(memory) {}
  bool no_memory;  // of the device
};
// Throw Failure where the status is not success; `what`: the function.
void check(cudaError_t status, const char* what);
void check(cudnnStatus_t status, const char* what);
void check(cublasStatus_t status, const char* what);

// Memory of the device. Throws Failure where there is none left.
class Memory {
 public:
  Memory() = default;
  explicit Memory(size_t bytes);
  ~Memory() { cudaFree(data_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  void grow(size_t bytes);  // contents are lost

 private:
  void* data_ = nullptr;
  size_t bytes_ = 0;
};

struct Session {
  explicit Session(int number);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // The kernel "rlgo_NAME".
  const void* kernel(const std::string& name);
  // The device's time for `runs` calls of `enqueue`, us. They are captured as one CUDA graph, so that the host's time
  // for launches does not count, and replayed behind a first replay that does not count: the stream never runs dry.
  double time_us(const std::function<void()>& enqueue, int runs);
  void wait() { check(cudaStreamSynchronize(stream), "cudaStreamSynchronize"); }

  int device = 0;
  cudaStream_t stream = nullptr;
  cudaEvent_t begin = nullptr, end = nullptr;
  cudnnHandle_t cudnn = nullptr;
  cublasLtHandle_t blas = nullptr;
  cudaLibrary_t library = nullptr;
  std::map<std::string, const void*> kernels;
  Memory workspace;  // of whichever step runs

 private:
  void release();
};

// One step, with addresses.
class Call {
 public:
  virtual ~Call() = default;
  // Times the proposals, keeps the fastest; nothing for kernels. Throws Failure where none works.
  virtual void choose() {}
  // Gives the stream the work. Throws Failure.
  virtual void enqueue() = 0;
  virtual std::string chosen() const { return {}; }  // a line, or ""
};

// A step at these addresses; descriptors are made, and proposals asked for, here. Throw Failure.
std::unique_ptr<Call> make_kernel(Session& session, const Step& step, const At& at);
// By cuDNN.
std::unique_ptr<Call> make_conv(Session& session, const Conv& conv, const At& at);
// By cuBLASLt.
std::unique_ptr<Call> make_matmul(Session& session, const MatMul& matmul, const At& at);

// The fastest of `count` proposals by its time over a few runs; those that throw Failure count as slower than any, and
// the last one's reason is thrown where all do.
int fastest(Session& session, int count, const std::function<void(int)>& enqueue, double& us);

constexpr size_t kMostWorkspace = size_t{1} << 30;  // bytes that a proposal may ask for

}  // namespace rlgo::gpu
