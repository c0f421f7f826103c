// A runtime for tests that have no clock: it runs nothing, and what it answers is overridden.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/cost/runtime.h"

namespace rlgo::optimise {

class FakeRuntime : public cost::Runtime {
 public:
  explicit FakeRuntime(std::string name) : name_(std::move(name)) {}
  std::string name() const override { return name_; }
  std::string device() const override { return "paper"; }
  int threads() const override { return 1; }
  bool reads_files() const override { return true; }
  bool answers_outputs() const override { return false; }
  void set_input_shapes(cost::InputShapes) override {}
  void set_input_values(cost::InputValues) override {}
  cost::MeasuredCosts measure() override { return {}; }
  cost::Comparison compare(std::span<const cost::RunnableModel>, const cost::CompareOptions&) override { return {}; }
  std::vector<cost::Outputs> outputs(std::span<const cost::RunnableModel>, int) override { return {}; }

 private:
  std::string name_;
};

}  // namespace rlgo::optimise
