#include "core/measure/runtime.h"

#include "core/base/deadline.h"
#include "core/base/error.h"
#include "core/measure/group_cost.h"
#include "core/measure/operator_times.h"
#include "core/measure/predicted_cost.h"
#include "core/measure/switches.h"

namespace rlgo::measure {
namespace {

std::vector<std::filesystem::path> files_of(std::span<const cost::RunnableModel> models) {
  std::vector<std::filesystem::path> files;
  for (const auto& model : models) files.push_back(model.file);
  return files;
}

}  // namespace

std::string ChildRuntime::name() const {
  return fmt::format("{} {}", measurer_->hello().runtime, measurer_->hello().version);
}

cost::MeasuredCosts ChildRuntime::measure() {
  cost::MeasuredCosts out;
  out.table = std::make_shared<cost::TableCost>(measurer_->origin());
  const auto origin = measurer_->origin();
  const GroupPredictor predictor(measurer_->hello().runtime, device(), learned_,
                                 {calibrated_file(folder_, origin), origin});
  const auto model = std::make_shared<GroupCost>(out.table, measure_groups(measurer_, out.table), predictor);
  out.model = model;
  out.set_watch = [model](cost::MeasureWatch watch) { model->set_watch(std::move(watch)); };
  out.refresh = [model] { model->refresh(); };
  out.failures = [model] { return model->failures(); };
  if (predictor.is_learned()) {
    out.predicted = std::make_shared<PredictedCost>(predictor);
    out.learned_on = predictor.devices();
  }
  return out;
}

cost::Comparison ChildRuntime::compare(std::span<const cost::RunnableModel> models,
                                       const cost::CompareOptions& options) {
  try {
    return measurer_->compare(files_of(models), options);
  } catch (const Stopped& stopped) {
    cost::Comparison out;
    out.models.resize(models.size());
    out.error = stopped.what();
    return out;
  }
}

std::vector<cost::SwitchTiming> ChildRuntime::switches(std::span<const cost::RunnableModel> models, double seconds) {
  return measure_switches(*measurer_, files_of(models), seconds);
}

std::vector<cost::OperatorTime> ChildRuntime::operator_times(const cost::RunnableModel& model) {
  return ask_operator_times(*measurer_, model.file);
}

std::vector<cost::Outputs> ChildRuntime::outputs(std::span<const cost::RunnableModel> models, int set) {
  return measurer_->outputs(files_of(models), set);
}

std::vector<cost::Outputs> ChildRuntime::plain_outputs(std::span<const cost::RunnableModel> models, int set) {
  return measurer_->outputs(files_of(models), set, true);
}

}  // namespace rlgo::measure
