#include "core/exec/runtime.h"

#include <memory>
#include <utility>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/quantile.h"
#include "core/cost/deadline_cost.h"
#include "core/cost/profile.h"
#include "core/exec/interpreter.h"
#include "core/exec/measured_cost.h"

namespace rlgo::exec {
namespace {

constexpr double kWholeSampleUs = 4000;

cost::Timing timing_of(const Measurement& measured) {
  cost::Timing timing;
  timing.median_us = measured.median_us;
  timing.spread_us = measured.spread_us;
  timing.min_us = quantile(measured.rounds_us, 0);
  timing.samples = measured.samples;
  return timing;
}

cost::Output output_of(const std::string& name, const at::Tensor& tensor) {
  cost::Output out;
  out.name = name;
  out.dtype = at::toString(tensor.scalar_type());
  out.shape = tensor.sizes().vec();
  const at::Tensor flat = tensor.to(at::kCPU, at::kDouble).contiguous();
  out.values.assign(flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel());
  return out;
}

}  // namespace

cost::MeasuredCosts LibTorchRuntime::measure() {
  cost::MeasuredCosts out;
  out.table = std::make_shared<cost::TableCost>(measured_origin(device_, options_), measure_on_miss(device_, options_));
  const auto model = std::make_shared<cost::DeadlineCost>(
      out.table, device_.kind == Device::Kind::cpu ? cost::fitted_to("libtorch") : cost::AnalyticOptions());
  out.model = model;
  out.set_watch = [model](cost::MeasureWatch watch) {
    model->set_may_measure([watch = std::move(watch)] { return watch(0, 0) > 0; });
  };
  return out;
}

cost::Comparison LibTorchRuntime::compare(std::span<const cost::RunnableModel> models,
                                          const cost::CompareOptions& options) {
  RLGO_CHECK(!models.empty());
  std::vector<const graph::Graph*> runs;
  for (const auto& model : models) runs.push_back(model.graph);
  if (options.twin) runs.push_back(models[0].graph);
  MeasureOptions measuring = options_;
  // Long next to what a run takes that finds the caches full of another model.
  measuring.min_sample_us = std::max(measuring.min_sample_us, kWholeSampleUs);
  measuring.repeats = options.repeats;
  measuring.least_repeats = std::min(options.least, options.repeats);
  if (options.seconds > 0) measuring.max_seconds = options.seconds;
  measuring.seed = hash_combine(options_.seed, options.order);
  cost::Comparison out;
  out.models.resize(models.size());
  out.quotients.resize(models.size());
  out.ratio.assign(models.size(), 0);
  out.ratio_spread.assign(models.size(), 0);
  try {
    const auto times = measure_graphs(runs, device_, measuring);
    for (size_t k = 0; k < models.size(); ++k) {
      out.models[k] = timing_of(times[k]);
      cost::set_quotients(out, k, times[k].rounds_us, times[0].rounds_us);
    }
    if (options.twin) out.noise = cost::noise_of(times.back().rounds_us, times[0].rounds_us);
  } catch (const Error& e) {
    out.error = e.what();
  } catch (const c10::Error& e) {  // inputs that the machine has no room for
    out.error = reason_of(e);
  }
  return out;
}

std::vector<cost::Outputs> LibTorchRuntime::outputs(std::span<const cost::RunnableModel> models, int set) {
  const c10::InferenceMode inference;
  const ThreadScope threads(options_.threads);
  const auto weights = std::make_shared<WeightStore>(device_);
  std::vector<cost::Outputs> out(models.size());
  for (size_t k = 0; k < models.size(); ++k) {
    try {
      const Interpreter interpreter(*models[k].graph,
                                    {.device = device_, .weights = weights, .deadline = options_.deadline});
      const auto inputs = random_inputs(*models[0].graph, hash_combine(options_.seed, static_cast<uint64_t>(set)));
      const auto found = interpreter.run(inputs);
      for (const auto& output : models[k].graph->outputs())
        out[k].outputs.push_back(output_of(output.name, found.at(output.name)));
    } catch (const Error& e) {
      out[k].error = e.what();
    } catch (const c10::Error& e) {
      out[k].error = reason_of(e);
    }
  }
  return out;
}

}  // namespace rlgo::exec
