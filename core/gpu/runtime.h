// A GPU with cuDNN and cuBLASLt, in this process, as the runtime that serves a model (--target cuda).
#pragma once

#include <memory>

#include "core/cost/runtime.h"
#include "core/exec/measure.h"
#include "core/gpu/gpu.h"

namespace rlgo::gpu {

// Prices of single operators: each is loaded, its algorithms are tried, then it is replayed as a CUDA graph, so that
// the host's time does not count. Whole graphs likewise, one operator after the other. An operator without a kernel is
// an Error that names it, never a price. Whoever shares the GPU (core/base/device_lock.h) waits for a measurement.
class CudaRuntime : public cost::Runtime {
 public:
  CudaRuntime(exec::Device device, exec::MeasureOptions options);
  std::string name() const override { return "cuDNN and cuBLASLt"; }
  std::string device() const override { return exec::describe(device_); }
  int threads() const override { return 1; }
  bool reads_files() const override { return false; }
  bool answers_outputs() const override { return true; }
  void set_input_shapes(cost::InputShapes) override {}
  void set_input_values(cost::InputValues) override {}
  cost::MeasuredCosts measure() override;
  cost::Comparison compare(std::span<const cost::RunnableModel> models, const cost::CompareOptions& options) override;
  std::vector<cost::Outputs> outputs(std::span<const cost::RunnableModel> models, int set) override;

 private:
  exec::Device device_;
  exec::MeasureOptions options_;
  std::shared_ptr<Gpu> gpu_;
};

// What a table of such prices holds for.
cost::TableOrigin measured_origin(const exec::Device& device);

}  // namespace rlgo::gpu
