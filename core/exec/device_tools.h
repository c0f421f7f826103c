// What a GPU can tell and be told. Without LibTorch's headers, for modules that do without them.
#pragma once

#include <cstdint>

#include "core/exec/device.h"

namespace rlgo::exec {

// GPUs that LibTorch can use here; 0 where there is none, or no CUDA part of LibTorch, or no driver.
int gpu_count();
// Most memory that LibTorch has held on the device so far, bytes; 0 for the CPU.
int64_t device_peak_bytes(const Device& device);
// On a GPU: cuDNN tries its algorithms on the first batch of each shape and keeps the fastest. Once per process.
void tune(const Device& device);

}  // namespace rlgo::exec
