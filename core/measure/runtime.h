// A runtime in a child process (measurer.h) as the runtime that serves a model.
#pragma once

#include <memory>

#include "core/cost/runtime.h"
#include "core/measure/measurer.h"

namespace rlgo::measure {

// Runs model files.
class ChildRuntime : public cost::Runtime {
 public:
  // `learned`: estimates are learned prices, where the runtime has them; `folder`: of what `rlgo calibrate` learned on
  // this machine, "" for none.
  explicit ChildRuntime(std::shared_ptr<Measurer> measurer, bool learned = true, std::string folder = {})
      : measurer_(std::move(measurer)), learned_(learned), folder_(std::move(folder)) {}
  std::string name() const override;
  std::string device() const override { return measurer_->hello().device; }
  int threads() const override { return measurer_->hello().threads; }
  bool reads_files() const override { return true; }
  bool answers_outputs() const override { return measurer_->hello().outputs; }
  void set_input_shapes(cost::InputShapes shapes) override { measurer_->set_input_shapes(std::move(shapes)); }
  void set_input_values(cost::InputValues values) override { measurer_->set_input_values(std::move(values)); }
  bool restart() override {
    measurer_->restart();
    return true;
  }
  double start_s() const override { return measurer_->start_s(); }
  // The model is a GroupCost.
  cost::MeasuredCosts measure() override;
  cost::Comparison compare(std::span<const cost::RunnableModel> models, const cost::CompareOptions& options) override;
  std::vector<cost::SwitchTiming> switches(std::span<const cost::RunnableModel> models, double seconds) override;
  std::vector<cost::OperatorTime> operator_times(const cost::RunnableModel& model) override;
  std::vector<cost::Outputs> outputs(std::span<const cost::RunnableModel> models, int set) override;
  std::vector<cost::Outputs> plain_outputs(std::span<const cost::RunnableModel> models, int set) override;

 private:
  std::shared_ptr<Measurer> measurer_;
  bool learned_;
  std::string folder_;
};

}  // namespace rlgo::measure
