// The C interface of the plug-in that runs graphs with cuDNN, cuBLASLt and kernels of its own. Plain types only: it is
// opened with dlopen, where --target cuda asks for it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/gpu/steps.h"

extern "C" {

constexpr int kRlgoGpuPluginVersion = 1;
// What functions return.
constexpr int kRlgoGpuDone = 0, kRlgoGpuFailed = 1, kRlgoGpuNoMemory = 2;

struct RlgoGpuProgram {
  const rlgo::gpu::Step* steps;
  const char* const* names;  // of the operators that they belong to
  size_t step_count;
  const int64_t *offsets, *bytes;  // of the buffers in the arena
  size_t buffer_count;
  int64_t arena_bytes;
};

// Functions that return a number write what went wrong into error[error_size] (ends with 0). A session is one thread's.
struct RlgoGpuPlugin {
  int version;
  int runtime_version;  // of CUDA, that it was built with: 13000
  // GPU number `device`, with a stream and the libraries' handles.
  int (*open)(int device, void** session, char* error, size_t error_size);
  void (*close)(void* session);
  // Takes memory, and makes descriptors. Refuses what the libraries cannot do.
  int (*load)(void* session, const RlgoGpuProgram* program, void** loaded, char* error, size_t error_size);
  void (*unload)(void* loaded);
  int (*copy_in)(void* loaded, int buffer, const void* data, char* error, size_t error_size);
  int (*copy_out)(void* loaded, int buffer, void* data, char* error, size_t error_size);
  // Times what cuDNN and cuBLASLt propose for each of their steps, keeps the fastest. To be called once, after copy_in.
  int (*choose)(void* loaded, char* error, size_t error_size);
  // All steps, once; waits.
  int (*run)(void* loaded, char* error, size_t error_size);
  // *us: the device's time for `runs` runs in a row, replayed as one CUDA graph.
  int (*time)(void* loaded, int runs, double* us, char* error, size_t error_size);
  // What choose() kept, a line for each step of a library.
  void (*describe)(void* loaded, char* text, size_t size);
};

// The symbol that the plug-in exports.
using RlgoGpuPluginFunction = const RlgoGpuPlugin* (*)();
const RlgoGpuPlugin* rlgo_gpu_plugin();
}
