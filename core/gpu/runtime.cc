#include "core/gpu/runtime.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/quantile.h"
#include "core/base/rng.h"
#include "core/base/stopwatch.h"
#include "core/cost/deadline_cost.h"
#include "core/evaluate/values.h"
#include "core/exec/device_tools.h"

namespace rlgo::gpu {
namespace {

constexpr int kLeastSamples = 3;
constexpr double kWholeSampleUs = 4000;

// A graph on the GPU, its inputs set, its algorithms chosen, and how many runs a sample has.
struct Timed {
  std::unique_ptr<LoadedProgram> program;
  int runs = 1;

  Timed(const Gpu& gpu, const graph::Graph& graph, const exec::MeasureOptions& options)
      : program(std::make_unique<LoadedProgram>(gpu, make_program(graph))) {
    program->set_inputs(evaluate::random_inputs(graph, options.seed));
    program->choose();
    for (int i = 0; i < options.warmup; ++i) program->time_us(1);
    const double us = std::max(program->time_us(1), 0.01);
    runs = std::clamp(static_cast<int>(std::ceil(options.min_sample_us / us)), 1, program->most_runs());
  }
  double sample_us() const { return program->time_us(runs); }
};

cost::Measured measure_operator(const Gpu& gpu, const graph::Graph& graph, graph::NodeId id,
                                const exec::MeasureOptions& options) {
  if (cost::is_free(graph.node(id))) return {};
  options.deadline.check();
  const Timed timed(gpu, single_operator(graph, id), options);
  const double first_us = timed.sample_us() * timed.runs;
  const auto affordable = static_cast<int>(std::min(options.max_total_us / std::max(first_us, 1.0), 1e6));
  const int repeats = std::min(options.repeats, std::max(kLeastSamples, affordable));
  std::vector<double> samples;
  for (int i = 0; i < repeats; ++i) {
    options.deadline.check();
    samples.push_back(timed.sample_us());
  }
  return {median(samples), interquartile_range(samples), static_cast<int64_t>(samples.size())};
}

cost::Timing timing_of(const std::vector<double>& samples) {
  cost::Timing timing;
  timing.median_us = median(samples);
  timing.spread_us = interquartile_range(samples);
  timing.min_us = quantile(samples, 0);
  timing.samples = static_cast<int>(samples.size());
  return timing;
}

// Samples of each graph, round by round, in random order within a round.
std::vector<std::vector<double>> rounds_of(const std::vector<Timed>& graphs, const cost::CompareOptions& how,
                                           const exec::MeasureOptions& options) {
  const Stopwatch since;
  std::vector<std::vector<double>> samples(graphs.size());
  std::vector<size_t> order(graphs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  Rng rng({options.seed, how.order, 0x6D656173ull});
  for (int round = 0; round < how.repeats; ++round) {
    if (how.seconds > 0 && round >= std::min(how.least, how.repeats) && since.seconds() > how.seconds) break;
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
    for (const size_t g : order) {
      options.deadline.check();
      samples[g].push_back(graphs[g].sample_us());
    }
  }
  return samples;
}

cost::Output output_of(const std::string& name, const evaluate::Tensor& tensor) {
  cost::Output out;
  out.name = name;
  out.dtype = ops::name(tensor.dtype());
  out.shape.assign(tensor.shape().begin(), tensor.shape().end());
  const auto wide = evaluate::cast(tensor, ops::DType::f64);
  out.values.assign(wide.data<double>(), wide.data<double>() + wide.elements());
  return out;
}

}  // namespace

CudaRuntime::CudaRuntime(exec::Device device, exec::MeasureOptions options)
    : device_(device), options_(std::move(options)), gpu_(std::make_shared<Gpu>(device)) {}

// Not the name of LibTorch's prices on a GPU: tables of the two do not go together.
cost::TableOrigin measured_origin(const exec::Device& device) { return {"measured:cudnn", exec::describe(device), 1}; }

cost::MeasuredCosts CudaRuntime::measure() {
  cost::MeasuredCosts out;
  const auto price = [gpu = gpu_, device = device_, options = options_](const graph::Graph& graph, graph::NodeId id) {
    const auto alone = exec::device_lock(device).alone();
    return measure_operator(*gpu, graph, id, options);
  };
  out.table = std::make_shared<cost::TableCost>(measured_origin(device_), price);
  const auto model = std::make_shared<cost::DeadlineCost>(out.table);
  out.model = model;
  out.set_watch = [model](cost::MeasureWatch watch) {
    model->set_may_measure([watch = std::move(watch)] { return watch(0, 0) > 0; });
  };
  return out;
}

cost::Comparison CudaRuntime::compare(std::span<const cost::RunnableModel> models,
                                      const cost::CompareOptions& options) {
  RLGO_CHECK(!models.empty());
  exec::MeasureOptions measuring = options_;
  measuring.min_sample_us = std::max(measuring.min_sample_us, kWholeSampleUs);
  cost::Comparison out;
  out.models.resize(models.size());
  out.quotients.resize(models.size());
  out.ratio.assign(models.size(), 0);
  out.ratio_spread.assign(models.size(), 0);
  try {
    const auto alone = exec::device_lock(device_).alone();
    std::vector<Timed> graphs;
    for (const auto& model : models) graphs.emplace_back(*gpu_, *model.graph, measuring);
    if (options.twin) graphs.emplace_back(*gpu_, *models[0].graph, measuring);
    const auto samples = rounds_of(graphs, options, measuring);
    for (size_t k = 0; k < models.size(); ++k) {
      out.models[k] = timing_of(samples[k]);
      cost::set_quotients(out, k, samples[k], samples[0]);
    }
    if (options.twin) out.noise = cost::noise_of(samples.back(), samples[0]);
  } catch (const Error& e) {
    out.error = e.what();
  }
  return out;
}

std::vector<cost::Outputs> CudaRuntime::outputs(std::span<const cost::RunnableModel> models, int set) {
  std::vector<cost::Outputs> out(models.size());
  for (size_t k = 0; k < models.size(); ++k) {
    try {
      options_.deadline.check();
      LoadedProgram program(*gpu_, make_program(*models[k].graph));
      program.set_inputs(
          evaluate::random_inputs(*models[0].graph, hash_combine(options_.seed, static_cast<uint64_t>(set))));
      const auto found = program.run();
      for (const auto& output : models[k].graph->outputs())
        out[k].outputs.push_back(output_of(output.name, found.at(output.name)));
    } catch (const Error& e) {
      out[k].error = e.what();
    }
  }
  return out;
}

}  // namespace rlgo::gpu
