#include "core/verify/reference_runs.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/stopwatch.h"

namespace rlgo::verify {
namespace {

using graph::Graph;
using graph::Value;

constexpr int64_t kMostKept = 16384;          // elements of an inner value that are compared, drawn by its place
constexpr double kNoiseOf[] = {1e-13, 6e-8};  // by Noise
constexpr int kNoisyRuns = 2;                 // a round
constexpr int64_t kMedianOf = 1024;           // elements of a channel, evenly spread
constexpr double kLeastScale = 1e-30;

double size_of(double number) { return std::max(or_zero(std::abs(number)), kLeastScale); }

// The median magnitude of each channel (axis 1 of what has three axes or more), taken from a few of it.
std::vector<double> medians(const Tensor& tensor) {
  const int64_t channels = tensor.shape()[1], pictures = tensor.shape()[0];
  const int64_t area = tensor.elements() / (pictures * channels), each = pictures * area;
  const int64_t count = std::min(each, kMedianOf);
  std::vector<double> sizes(static_cast<size_t>(count)), found;
  evaluate::visit(tensor.dtype(), [&]<typename T>() {
    for (int64_t channel = 0; channel < channels; ++channel) {
      for (int64_t k = 0; k < count; ++k) {
        const int64_t at = count == each ? k : k * (each - 1) / (kMedianOf - 1);
        const int64_t place = (at / area * channels + channel) * area + at % area;
        sizes[static_cast<size_t>(k)] = size_of(static_cast<double>(tensor.data<T>()[place]));
      }
      const auto middle = sizes.begin() + (count - 1) / 2;
      std::ranges::nth_element(sizes, middle);
      found.push_back(*middle);
    }
  });
  return found;
}

// Scales of the elements at `places` (all where there are none), whose values are `values`: an element's own magnitude,
// or the median of its channel.
std::vector<double> scale_of(const Tensor& tensor, const std::vector<int64_t>& places,
                             const std::vector<double>& values) {
  std::vector<double> scale(values.size());
  std::ranges::transform(values, scale.begin(), size_of);
  if (tensor.rank() < 3 || tensor.elements() == 0) return scale;
  const auto of_channels = medians(tensor);
  const int64_t channels = tensor.shape()[1], area = tensor.elements() / (tensor.shape()[0] * channels);
  for (size_t k = 0; k < scale.size(); ++k) {
    const int64_t place = places.empty() ? static_cast<int64_t>(k) : places[k];
    scale[k] = std::max(scale[k], of_channels[static_cast<size_t>(place / area % channels)]);
  }
  return scale;
}

Kept keep(const Tensor& tensor, bool all, uint64_t seed) {
  Kept kept;
  kept.sizes = tensor.shape();
  kept.type = tensor.dtype();
  if (!all && tensor.elements() > kMostKept) {
    const Tensor drawn = evaluate::seeded_integers({kMostKept}, tensor.elements(), seed);
    kept.places.assign(drawn.data<int64_t>(), drawn.data<int64_t>() + kMostKept);
  }
  kept.values = picked(tensor, kept.places);
  if (has_floats(tensor)) kept.scale = scale_of(tensor, kept.places, kept.values);
  return kept;
}

int64_t bytes_of(const Kept& kept) {
  return 8 * static_cast<int64_t>(kept.values.size() + kept.scale.size() + kept.places.size());
}

// Notes how far noise moved the kept elements.
void note_noise(Kept& old, const Tensor& tensor, Noise noise) {
  std::vector<double>& sum = old.noise[static_cast<size_t>(noise)];
  if (sum.empty() && noise == Noise::constants) sum = old.noise[static_cast<size_t>(Noise::operators)];
  sum.resize(old.values.size(), 0);
  const auto now = picked(tensor, old.places);
  for (size_t k = 0; k < now.size(); ++k) {
    const double moved = std::abs(now[k] - old.values[k]);
    // A number that became NaN or infinite, or the reverse, moved without bounds.
    const bool both = !std::isfinite(old.values[k]) && std::isnan(moved);
    sum[k] = std::max(sum[k], both ? 0 : or_infinite(moved));
  }
}

}  // namespace

Tensor noisy(const Tensor& tensor, double noise, uint64_t seed, int threads) {
  Tensor moved(tensor.dtype(), tensor.shape());
  evaluate::visit_float(tensor.dtype(), [&]<typename T>() {
    const T* from = tensor.data<T>();
    T* to = moved.data<T>();
    evaluate::parallel({.threads = threads}, tensor.elements(), 1 << 14, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        to[i] = static_cast<T>(static_cast<double>(from[i]) * (1 + noise * evaluate::seeded_uniform_at(seed, i)));
    });
  });
  return moved;
}

std::vector<double> picked(const Tensor& tensor, const std::vector<int64_t>& places) {
  if (places.empty()) return numbers_of(tensor);
  std::vector<double> numbers(places.size());
  evaluate::visit(tensor.dtype(), [&]<typename T>() {
    std::ranges::transform(places, numbers.begin(), [elements = tensor.data<T>()](int64_t place) {
      return static_cast<double>(elements[place]);
    });
  });
  return numbers;
}

ReferenceRuns::ReferenceRuns(Graph graph, int threads, std::shared_ptr<WeightStore> weights, Deadline deadline)
    : graph_(std::move(graph)),
      threads_(threads),
      deadline_(std::move(deadline)),
      weights_(weights ? std::move(weights) : std::make_shared<WeightStore>()),
      interpreter_(graph_,
                   {.precision = Precision::f64, .weights = weights_, .deadline = deadline_, .threads = threads_}) {}

int ReferenceRuns::add(TensorMap inputs) {
  sets_.push_back({});
  sets_.back().inputs = std::move(inputs);
  return sets() - 1;
}

// Lets inner values of other sets go until there is room.
void ReferenceRuns::make_room(int64_t bytes) {
  int64_t kept = bytes;
  for (const Set& set : sets_) kept += set.bytes;
  for (Set& set : sets_) {
    if (kept <= kMostKeptBytes) return;
    kept -= set.bytes;
    set.bytes = 0;
    set.inner.reset();
  }
}

ReferenceRuns::Set& ReferenceRuns::run(int number, bool with_inner) {
  Set& set = sets_[static_cast<size_t>(number)];
  if (set.outputs && (set.inner || !with_inner)) return set;
  std::map<Key, Kept> inner;
  const auto observe = [&](Value value, Tensor& tensor) {
    const uint64_t seed = hash_combine(static_cast<uint64_t>(value.node), static_cast<uint64_t>(value.port));
    inner[{value.node, value.port}] = keep(tensor, false, seed);
  };
  ++runs_;
  const Stopwatch watch;
  set.outputs = with_inner ? interpreter_.run(set.inputs, observe) : interpreter_.run(set.inputs);
  run_s_ = watch.seconds();
  if (set.kept_outputs.empty()) {
    for (const auto& [name, tensor] : *set.outputs) set.kept_outputs[name] = keep(tensor, true, 0);
  }
  if (!with_inner) return set;
  int64_t bytes = 0;
  for (const auto& [key, kept] : inner) bytes += bytes_of(kept);
  make_room(bytes);
  set.inner = std::move(inner);
  set.noise_rounds = {};
  set.bytes = bytes;
  return set;
}

const TensorMap& ReferenceRuns::outputs(int set) { return *run(set, false).outputs; }
std::map<ReferenceRuns::Key, Kept>& ReferenceRuns::inner(int set) { return *run(set, true).inner; }
std::map<std::string, Kept>& ReferenceRuns::kept_outputs(int set) { return run(set, false).kept_outputs; }

void ReferenceRuns::add_noise(int number, Noise noise, int rounds) {
  if (noise == Noise::constants) add_noise(number, Noise::operators);
  Set& set = run(number, true);
  const auto level = static_cast<size_t>(noise);
  int& done = set.noise_rounds[level];
  if (deadline_.left() < kNoisyRuns * std::max(0, rounds - done) * run_s_)
    throw Stopped("there is no time for noisy runs");
  for (int k = kNoisyRuns * done; k < kNoisyRuns * rounds; ++k) {
    uint64_t seed = hash_combine(static_cast<uint64_t>(number) + 1, static_cast<uint64_t>(k) + 1);
    ++runs_;
    const auto out = interpreter_.run(set.inputs, [&](Value value, Tensor& tensor) {
      seed = hash_combine(seed, static_cast<uint64_t>(value.node));
      if (has_floats(tensor)) tensor = noisy(tensor, kNoiseOf[level], mix64(seed), threads_);
      note_noise(set.inner->at({value.node, value.port}), tensor, noise);
    });
    for (auto& [name, old] : set.kept_outputs) note_noise(old, out.at(name), noise);
  }
  done = std::max(done, rounds);
}

const OutputErrors& ReferenceRuns::own_errors(int number) {
  Set& set = run(number, false);
  if (!set.own_errors) {
    ++runs_;
    set.own_errors = output_errors(*set.outputs, native_outputs(graph_, set.inputs, threads_, deadline_));
  }
  return *set.own_errors;
}

}  // namespace rlgo::verify
