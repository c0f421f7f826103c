// LibTorch, in this process, as the runtime that serves a model.
#pragma once

#include "core/cost/runtime.h"
#include "core/exec/device.h"
#include "core/exec/measure.h"

namespace rlgo::exec {

// Runs graphs, whose shapes are theirs: set_input_shapes() and set_input_values() have no effect.
class LibTorchRuntime : public cost::Runtime {
 public:
  LibTorchRuntime(Device device, MeasureOptions options) : device_(device), options_(options) {}
  std::string name() const override { return "LibTorch"; }
  std::string device() const override { return describe(device_); }
  int threads() const override { return options_.threads; }
  bool reads_files() const override { return false; }
  bool answers_outputs() const override { return true; }
  void set_input_shapes(cost::InputShapes) override {}
  void set_input_values(cost::InputValues) override {}
  cost::MeasuredCosts measure() override;
  cost::Comparison compare(std::span<const cost::RunnableModel> models, const cost::CompareOptions& options) override;
  // Opaque operators stand for synthetic functions (leaf.cc).
  std::vector<cost::Outputs> outputs(std::span<const cost::RunnableModel> models, int set) override;

 private:
  Device device_;
  MeasureOptions options_;
};

}  // namespace rlgo::exec
