// Memory, CUDA graphs and kernels of the stand-in for a GPU.
#include <cuda_runtime_api.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/gpu/cuda/kernels.h"
#include "core/gpu/cuda/windows.h"
#include "tests/nccl/stubs/stub.h"

namespace rlgo::gpu {
namespace {

struct Kernel {
  size_t bytes;  // of its parameters
  void (*run)(const void* parameters);
};

template <typename Parameters, typename F>
void each(const void* parameters, F body) {
  const auto& p = *static_cast<const Parameters*>(parameters);
  for (int64_t i = 0; i < p.count; ++i) body(p, i);
}

const std::map<std::string, Kernel>& kernels() {
#define RLGO_ELEMENTS(name, Parameters, body)                                                    \
  {"rlgo_" #name, {sizeof(Parameters), [](const void* parameters) {                              \
                     each<Parameters>(parameters, [](const Parameters& p, int64_t i) { body; }); \
                   }}},
#define RLGO_ROWS(name, Parameters, body)                                                        \
  {"rlgo_" #name, {sizeof(Parameters), [](const void* parameters) {                              \
                     constexpr int64_t lane = 0, lanes = 1;                                      \
                     each<Parameters>(parameters, [](const Parameters& p, int64_t i) { body; }); \
                   }}},
  static const std::map<std::string, Kernel> kAll = {
#include "core/gpu/cuda/kernel_list.def"
  };
  return kAll;
}

struct Work {
  std::function<void()> run;
  double us;
};
struct Captured {
  std::vector<Work> work;
};

std::mutex mutex;
double now_us = 0;
size_t limit = 0;
std::map<void*, size_t> blocks;
StubDeviceCounts counts;
std::unique_ptr<Captured> capture;  // of the one stream that captures

}  // namespace
}  // namespace rlgo::gpu

using namespace rlgo::gpu;

void stub_enqueue(std::function<void()> work, double us) {
  if (capture) {
    capture->work.push_back({std::move(work), us});
    return;
  }
  work();
  now_us += us;
}
double stub_now_us() { return now_us; }
void stub_memory_limit(size_t bytes) { limit = bytes; }
StubDeviceCounts stub_device_counts() {
  const std::lock_guard lock(mutex);
  auto now = counts;
  for (const auto& [block, bytes] : blocks) now.bytes += bytes;
  return now;
}

extern "C" {

cudaError_t cudaMalloc(void** data, size_t bytes) {
  if (capture) return cudaErrorStreamCaptureUnsupported;  // as CUDA
  const size_t taken = stub_device_counts().bytes;
  const std::lock_guard lock(mutex);
  if (limit > 0 && taken + bytes > limit) return cudaErrorMemoryAllocation;
  *data = std::malloc(bytes);  // exactly: a sanitizer sees what is behind it
  std::memset(*data, 0x7F, bytes);
  blocks[*data] = bytes;
  return cudaSuccess;
}
cudaError_t cudaFree(void* data) {
  const std::lock_guard lock(mutex);
  if (data != nullptr && blocks.erase(data) == 0) return cudaErrorInvalidValue;
  std::free(data);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* data, int value, size_t bytes, cudaStream_t) {
  stub_enqueue([=] { std::memset(data, value, bytes); }, 1);
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind) {
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaGetLastError() { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return capture ? cudaErrorStreamCaptureUnsupported : cudaSuccess; }

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption*, void**, unsigned,
                                cudaLibraryOption*, void**, unsigned) {
  constexpr unsigned kFatbin = 0xba55ed50;  // how nvcc's files begin
  if (std::memcmp(code, &kFatbin, sizeof(kFatbin)) != 0) return cudaErrorInvalidKernelImage;
  *library = reinterpret_cast<cudaLibrary_t>(&counts);
  return cudaSuccess;
}
cudaError_t cudaLibraryUnload(cudaLibrary_t) { return cudaSuccess; }
cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t, const char* name) {
  const auto found = kernels().find(name);
  if (found == kernels().end()) return cudaErrorSymbolNotFound;
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<Kernel*>(&found->second));
  return cudaSuccess;
}
cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** parameters, size_t, cudaStream_t) {
  if (grid.x == 0 || block.x == 0 || block.x % 32 != 0 || block.x > 1024) return cudaErrorInvalidConfiguration;
  const auto& kernel = *static_cast<const Kernel*>(function);
  const std::string copy(static_cast<const char*>(parameters[0]), kernel.bytes);
  stub_enqueue(
      [&kernel, copy] {
        ++counts.kernels;
        kernel.run(copy.data());
      },
      2);
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) {
  capture = std::make_unique<Captured>();
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t* graph) {
  *graph = reinterpret_cast<cudaGraph_t>(capture.release());
  ++counts.live_graphs;
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  *exec = reinterpret_cast<cudaGraphExec_t>(new Captured(*reinterpret_cast<Captured*>(graph)));
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t) {
  ++counts.graphs;
  for (const auto& [work, us] : reinterpret_cast<Captured*>(exec)->work) stub_enqueue(work, us);
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  delete reinterpret_cast<Captured*>(exec);
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  --counts.live_graphs;
  delete reinterpret_cast<Captured*>(graph);
  return cudaSuccess;
}
}
