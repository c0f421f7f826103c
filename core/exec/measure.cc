#include "core/exec/measure.h"

#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/cuda.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/quantile.h"
#include "core/base/rng.h"
#include "core/base/stopwatch.h"
#include "core/exec/device_clock.h"
#include "core/exec/device_tools.h"
#include "core/exec/freed_memory.h"
#include "core/exec/interpreter.h"
#include "core/exec/launches.h"
#include "core/exec/warm_up.h"
#include "core/ops/moves.h"
#include "core/ops/windows.h"

namespace rlgo::exec {
namespace {

using ops::Op;

constexpr int kMinSamples = 3;
constexpr int kMaxBatch = 4096;

// The default stream of a GPU.
class GpuClock : public DeviceClock {
 public:
  explicit GpuClock(const Device& device)
      : device_(to_torch(device)),
        stream_(c10::impl::VirtualGuardImpl(device_.type()).getStream(device_)),
        begin_(device_.type(), c10::EventFlag::BACKEND_DEFAULT),
        end_(device_.type(), c10::EventFlag::BACKEND_DEFAULT),
        work_(at::zeros({kWorkSize, kWorkSize}, at::TensorOptions(device_).dtype(at::kFloat))) {
    for (int i = 0; i < 3; ++i) at::mm(work_, work_);
    synchronize();
    mark_begin();
    for (int i = 0; i < kWorkRuns; ++i) at::mm(work_, work_);
    mark_end();
    work_us_ = std::max(elapsed_us() / kWorkRuns, 1.0);
  }
  double host_us() override { return watch_.us(); }
  void synchronize() override { torch::cuda::synchronize(device_.index()); }
  void occupy(double us) override {
    const auto products = std::min(static_cast<int>(std::ceil(us / work_us_)), kHoldLaunches);
    for (int i = 0; i < products; ++i) at::mm(work_, work_);
  }
  void mark_begin() override { begin_.record(stream_); }
  void mark_end() override { end_.record(stream_); }
  double elapsed_us() override {
    end_.synchronize();
    return begin_.elapsedTime(end_) * 1000.0;
  }

 private:
  static constexpr int64_t kWorkSize = 2048;  // a product of two such matrices takes a GPU longer than its launch
  static constexpr int kWorkRuns = 10;
  c10::Device device_;
  c10::Stream stream_;
  c10::Event begin_, end_;
  at::Tensor work_;
  double work_us_ = 0;
  Stopwatch watch_;
};

// With how many threads, and so by which clock.
struct Bench {
  int threads = 1;
  std::shared_ptr<DeviceClock> gpu;  // null: the CPU
  DeviceLock::Hold alone;            // on the GPU, as long as it is measured

  // Runs that a sample may have. Makes one.
  int most_runs(const std::function<void()>& run) const {
    return gpu ? exec::most_runs(count_operators(run)) : kMaxBatch;
  }

  // Time of `batch` runs, in us per run: on a GPU its own, see device_clock.h.
  double sample_us(const std::function<void()>& run, int batch) const {
    if (gpu) return device_sample_us(*gpu, run, batch);
    const Stopwatch watch;
    const ThreadStopwatch thread_watch;
    for (int i = 0; i < batch; ++i) run();
    return (threads == 1 ? thread_watch.us() : watch.us()) / batch;
  }
};

Bench make_bench(const Device& device, int threads) {
  Bench bench{.threads = threads, .gpu = nullptr, .alone = {}};
  if (device.kind == Device::Kind::cpu) return bench;
  bench.alone = device_lock(device).alone();
  bench.gpu = std::make_shared<GpuClock>(device);
  return bench;
}

// Runs per sample, from the time of one run.
int batch_for(double run_us, const MeasureOptions& options, int most) {
  return std::clamp(static_cast<int>(std::ceil(options.min_sample_us / std::max(run_us, 0.01))), 1, most);
}

Measurement summarise(const std::vector<double>& samples, int batch) {
  return {median(samples), interquartile_range(samples), static_cast<int>(samples.size()), batch, {}};
}

void check(const MeasureOptions& options) {
  if (options.repeats < 1 || options.warmup < 0)
    fail("measuring needs at least 1 repeat and no negative warm-up, not {} and {}", options.repeats, options.warmup);
}

// Inputs on which the operator takes its usual path: no NaN from roots and logarithms, indices that exist.
Tensors synthetic_inputs(const graph::NodeInfo& info, const ops::Types& types, const Device& device, uint64_t seed) {
  const bool positive = info.op == Op::sqrt || info.op == Op::log || info.op == Op::pow || info.op == Op::batch_norm ||
                        info.op == Op::div || info.op == Op::reciprocal || info.op == Op::reduce_log_sum ||
                        info.op == Op::mod;
  Tensors in;
  for (size_t i = 0; i < types.size(); ++i) {
    const bool places = ops::holds_places(info.op, i);
    const int64_t bound = places ? ops::places_end(info.op, types[0], types[1], info.attrs) : kIndexBound;
    at::Tensor value = random_value(types[i], hash_combine(seed, i), 1.0, bound);
    if (positive)
      value = ops::is_float(types[i].dtype) ? value.abs().add(0.5).to(value.scalar_type()) : value.abs() + 1;
    in.push_back(value.to(to_torch(device)));
  }
  return in;
}

graph::NodeInfo node_info(Op op, const ops::Attrs& given, const ops::Types& inputs) {
  std::string reason;
  auto attrs = ops::complete_attrs(op, given, &reason);
  if (!attrs) fail("cannot measure: {}", reason);
  ops::fit_window_lists(op, inputs, given, *attrs);
  ops::Types samples = inputs;  // it is measured at these sizes alone
  for (auto& type : samples) type.open = nullptr;
  auto outputs = ops::infer(op, samples, *attrs, &reason);
  if (!outputs) fail("cannot measure: {}", reason);
  graph::NodeInfo info;
  info.op = op;
  info.attrs = std::move(*attrs);
  info.outputs = std::move(*outputs);
  return info;
}

bool is_free(Op op) {
  return op == Op::reshape || op == Op::input || op == Op::weight || op == Op::fill || op == Op::literal ||
         op == Op::opaque;
}

}  // namespace

Measurement measure_op(Op op, const ops::Attrs& attrs, const ops::Types& inputs, const Device& device,
                       const MeasureOptions& options) {
  check(options);
  keep_freed_memory();
  if (is_free(op)) return {};
  const auto info = node_info(op, attrs, inputs);
  const c10::InferenceMode inference;
  const ThreadScope threads(options.threads);
  const Bench bench = make_bench(device, options.threads);
  try {
    const Tensors in = synthetic_inputs(info, inputs, device, options.seed);
    Call call{.in = in, .info = info};
    call.device = to_torch(device);
    const std::function<void()> run = [&] { run_kernel(call); };
    for (int i = 0; i < options.warmup; ++i) {
      options.deadline.check();
      run();
    }
    const double first_us = bench.sample_us(run, 1);
    const int batch = batch_for(first_us, options, bench.most_runs(run));
    const auto affordable = static_cast<int>(std::min(options.max_total_us / (first_us * batch), 1e6));
    const int repeats = std::min(options.repeats, std::max(kMinSamples, affordable));
    std::vector<double> samples;
    for (int i = 0; i < repeats; ++i) {
      options.deadline.check();
      samples.push_back(bench.sample_us(run, batch));
    }
    return summarise(samples, batch);
  } catch (const c10::Error& error) {
    fail("cannot measure {} {}: {}", ops::name(op), to_string(info.attrs), reason_of(error));
  }
}

std::vector<Measurement> measure_graphs(std::span<const graph::Graph* const> graphs, const Device& device,
                                        const MeasureOptions& options) {
  check(options);
  const Stopwatch since;
  keep_freed_memory();
  const c10::InferenceMode inference;
  const ThreadScope threads(options.threads);
  const Bench bench = make_bench(device, options.threads);
  const auto weights = std::make_shared<WeightStore>(device);
  std::vector<std::function<void()>> runs;
  std::vector<int> batches;
  for (const graph::Graph* graph : graphs) {
    const auto interpreter = std::make_shared<Interpreter>(*graph, InterpreterOptions{device, weights});
    const auto inputs = interpreter->prepare(random_inputs(*graph, options.seed));
    runs.emplace_back([interpreter, inputs, &options] {
      options.deadline.check();
      interpreter->run(inputs);
    });
    const auto sample_us = [&](int batch) { return bench.sample_us(runs.back(), batch); };
    batches.push_back(warm_up(sample_us, options.warmup, options.min_sample_us, bench.most_runs(runs.back())));
  }
  std::vector<std::vector<double>> samples(runs.size());
  std::vector<size_t> order(runs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  Rng rng({options.seed, 0x6D656173ull});
  for (int round = 0; round < options.repeats; ++round) {
    if (round >= options.least_repeats && since.seconds() > options.max_seconds) break;
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
    for (size_t g : order) {
      if (batches[g] > 1) runs[g]();  // not counted: the others have taken the caches
      samples[g].push_back(bench.sample_us(runs[g], batches[g]));
    }
  }
  std::vector<Measurement> result;
  for (size_t g = 0; g < runs.size(); ++g) {
    result.push_back(summarise(samples[g], batches[g]));
    result.back().rounds_us = std::move(samples[g]);
  }
  return_freed_memory();  // for checks of what was timed
  return result;
}

}  // namespace rlgo::exec
