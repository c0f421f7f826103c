// What a GPU can tell and be told. Without LibTorch's headers, for modules that do without them.
#pragma once

#include <cstdint>

#include "core/exec/device.h"

namespace rlgo::exec {

// GPUs that LibTorch can use here; 0 where there is none, or no CUDA part of LibTorch, or no driver.
int gpu_count();
// Most memory that LibTorch has held on the device so far, bytes; 0 for the CPU.
int64_t device_peak_bytes(const Device& device);
// On a GPU, once per process: cuDNN tries its algorithms on the first batch of each shape and keeps the fastest; or,
// where `deterministic`, only algorithms are used that come to the same bits each time (index_add without atomics, one
// cuDNN algorithm). Convolutions and products of matrices in float32 both, never one of them in TF32. resolve_device()
// does it (not deterministic), so that all that is timed or run on a GPU is. cuBLAS needs
// CUBLAS_WORKSPACE_CONFIG=:4096:8 in the environment for it, set before its first call.
void tune(const Device& device, bool deterministic = false);

}  // namespace rlgo::exec
