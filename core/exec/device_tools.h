// What a GPU reports and takes. Without LibTorch's headers, for modules that do without them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/device_lock.h"
#include "core/exec/device.h"
#include "core/exec/driver.h"

namespace rlgo::exec {

// GPUs that LibTorch can use here; 0 where there is none, or no CUDA part of LibTorch, or no driver.
int gpu_count();
// Those that a device word permits: all for "auto" and "cuda", one for "cuda:N", none for "cpu" or where `auto` is the
// CPU. Throws as resolve_device().
std::vector<Gpu> usable_gpus(std::string_view word);
// Address and model of a GPU.
Gpu gpu_of(const Device& device);
// For a job, until the last copy is gone: no other job trains on this GPU. Throws Error that names the other one. Null
// for the CPU.
DeviceLock::Hold claim(const Device& device);
// resolve_device() and claim(): `auto` is the CPU, with a remark, where another job has the GPU.
Device take_device(std::string_view word, DeviceLock::Hold& hold, std::string& remark);
// For a process that shares the GPU with a measurement in another one: they wait for each other
// (core/base/device_lock.h).
DeviceLock device_lock(const Device& device);
// Most memory that LibTorch has held on the device so far, bytes; 0 for the CPU.
int64_t device_peak_bytes(const Device& device);
// On a GPU, once per process: cuDNN tries its algorithms on the first batch of each shape and keeps the fastest; or,
// where `deterministic`, only algorithms are used that come to the same bits each time (index_add without atomics, one
// cuDNN algorithm). Convolutions and products of matrices in float32 both, never one of them in TF32. resolve_device()
// does it (not deterministic), so that all that is timed or run on a GPU is. cuBLAS needs
// CUBLAS_WORKSPACE_CONFIG=:4096:8 in the environment for it, set before its first call.
void tune(const Device& device, bool deterministic = false);

}  // namespace rlgo::exec
