// The kernels, compiled to one file for all GPUs (launch/cmake/cuda.cmake), which the plug-in holds.
#include "core/gpu/cuda/kernels.h"
#include "core/gpu/cuda/windows.h"

using namespace rlgo::gpu;

#define RLGO_ELEMENTS(name, Parameters, body)                                                                      \
  extern "C" __global__ void rlgo_##name(const __grid_constant__ Parameters p) {                                   \
    const int64_t threads = static_cast<int64_t>(gridDim.x) * blockDim.x;                                          \
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < p.count; i += threads) body; \
  }
#define RLGO_ROWS(name, Parameters, body)                                        \
  extern "C" __global__ void rlgo_##name(const __grid_constant__ Parameters p) { \
    const int64_t lane = threadIdx.x, lanes = blockDim.x;                        \
    for (int64_t i = blockIdx.x; i < p.count; i += gridDim.x) body;              \
  }
#include "core/gpu/cuda/kernel_list.def"
