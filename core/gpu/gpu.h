// A GPU as the plug-in runs graphs on it (core/gpu/cuda): cuDNN, cuBLASLt, kernels.
#pragma once

#include <memory>
#include <string>

#include "core/exec/device.h"
#include "core/gpu/cuda/gpu_plugin.h"
#include "core/gpu/program.h"

namespace rlgo::gpu {

// GPU number of a device word: N of "cuda:N", else the first. Throws Error, one line with the remedy, where rlgo was
// built without CUDA, where the plug-in does not load (a missing cuDNN is named), where the driver is missing or too
// old, and where there is no such GPU.
exec::Device gpu_for(std::string_view device);

class LoadedProgram;

// The plug-in's session on one GPU. Not thread-safe.
class Gpu {
 public:
  // The shipped plug-in on a GPU that is there.
  explicit Gpu(const exec::Device& device);
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

 private:
  friend class LoadedProgram;
  const RlgoGpuPlugin& plugin_;
  void* session_ = nullptr;
};

// A program in the GPU's memory, constants set. Errors of the device are Error; memory that is short is named with what
// was asked for.
class LoadedProgram {
 public:
  LoadedProgram(const Gpu& gpu, const Program& program);
  ~LoadedProgram();
  LoadedProgram(const LoadedProgram&) = delete;
  LoadedProgram& operator=(const LoadedProgram&) = delete;

  // Every input of the graph by name, of its type.
  void set_inputs(const evaluate::TensorMap& inputs);
  void choose();                 // see RlgoGpuPlugin::choose
  evaluate::TensorMap run();     // outputs by name
  double time_us(int runs);      // the device's time for one of `runs` runs in a row
  std::string describe() const;  // a line for each step of a library: which algorithm
  // Runs that one CUDA graph may hold; at least 1.
  int most_runs() const;

 private:
  void check(int status, const char* error) const;
  const RlgoGpuPlugin& plugin_;
  Program program_;  // without its constants
  void* loaded_ = nullptr;
};

}  // namespace rlgo::gpu
