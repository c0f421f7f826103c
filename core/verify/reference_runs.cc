#include "core/exec/reference_runs.h"

#include <algorithm>
#include <limits>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/stopwatch.h"
#include "core/exec/agreement.h"
#include "core/exec/equivalence.h"

namespace rlgo::exec {
namespace {

using graph::Graph;
using graph::Value;

constexpr int64_t kMostKept = 16384;          // elements of an inner value that are compared, drawn by its place
constexpr double kNoiseOf[] = {1e-13, 6e-8};  // by Noise
constexpr int kNoisyRuns = 2;                 // a round
constexpr int64_t kMedianOf = 1024;           // elements of a channel, evenly spread
constexpr double kLeastScale = 1e-30;

bool is_number(const at::Tensor& t) { return at::isFloatingType(t.scalar_type()); }

// Scales of the elements at `places` (all where undefined), whose values are `values`: an element's own magnitude, or
// the median of its channel (axis 1 of what has three axes or more), taken from a few of it.
at::Tensor scale_of(const at::Tensor& tensor, const at::Tensor& places, const at::Tensor& values) {
  const at::Tensor size = values.abs().nan_to_num(0, 0, 0).clamp_min(kLeastScale);
  if (tensor.dim() < 3 || tensor.numel() == 0) return size;
  const int64_t channels = tensor.size(1), area = tensor[0][0].numel();
  at::Tensor some = tensor.transpose(0, 1).reshape({channels, -1});
  if (const int64_t each = some.size(1); each > kMedianOf) {
    // In whole numbers: places beyond 2^24 are none of single precision.
    some = some.index_select(1, at::arange(kMedianOf, at::kLong).mul(each - 1).div(kMedianOf - 1, "floor"));
  }
  const at::Tensor median =
      std::get<0>(some.to(at::kDouble).abs().nan_to_num(0, 0, 0).clamp_min(kLeastScale).median(1));
  const at::Tensor flat = places.defined() ? places : at::arange(tensor.numel(), at::kLong);
  const at::Tensor channel = at::div(flat, area, "floor").remainder(channels);
  return at::maximum(size, median.index_select(0, channel));
}

Kept keep(const at::Tensor& tensor, bool all, uint64_t seed) {
  Kept kept;
  kept.sizes = tensor.sizes().vec();
  kept.type = tensor.scalar_type();
  if (!all && tensor.numel() > kMostKept) kept.places = seeded_integers({kMostKept}, tensor.numel(), seed);
  kept.values = picked(tensor, kept.places).clone();
  if (is_number(tensor)) kept.scale = scale_of(tensor, kept.places, kept.values);
  return kept;
}

int64_t bytes_of(const Kept& kept) {
  const int64_t arrays = 1 + (kept.scale.defined() ? 1 : 0) + (kept.places.defined() ? 1 : 0);
  return arrays * 8 * kept.values.numel();
}

// Notes how far noise moved the kept elements.
void note_noise(Kept& old, const at::Tensor& tensor, Noise noise) {
  const at::Tensor moved = (picked(tensor, old.places) - old.values).abs();
  // A number that became NaN or infinite, or the reverse, moved without bounds.
  const at::Tensor both = old.values.isfinite().logical_not().logical_and(moved.isnan());
  const at::Tensor far = moved.masked_fill(both, 0).nan_to_num(std::numeric_limits<double>::infinity());
  at::Tensor& sum = old.noise[static_cast<size_t>(noise)];
  if (!sum.defined() && noise == Noise::constants) sum = old.noise[static_cast<size_t>(Noise::operators)];
  sum = sum.defined() ? at::maximum(sum, far) : far;
}

}  // namespace

at::Tensor picked(const at::Tensor& tensor, const at::Tensor& places) {
  const at::Tensor flat = tensor.reshape({-1});
  return (places.defined() ? flat.index_select(0, places) : flat).to(at::kDouble);
}

ReferenceRuns::ReferenceRuns(Graph graph, int threads, std::shared_ptr<WeightStore> weights, Deadline deadline)
    : graph_(std::move(graph)),
      threads_(threads),
      deadline_(std::move(deadline)),
      weights_(weights ? std::move(weights) : std::make_shared<WeightStore>()),
      interpreter_(graph_, {.device = {}, .precision = Precision::f64, .weights = weights_, .deadline = deadline_}) {}

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
  const c10::InferenceMode inference;
  const ThreadScope threads(threads_);
  std::map<Key, Kept> inner;
  const auto observe = [&](Value value, at::Tensor& tensor) {
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
  const c10::InferenceMode inference;
  const ThreadScope threads(threads_);
  for (int k = kNoisyRuns * done; k < kNoisyRuns * rounds; ++k) {
    uint64_t seed = hash_combine(static_cast<uint64_t>(number) + 1, static_cast<uint64_t>(k) + 1);
    ++runs_;
    const auto out = interpreter_.run(set.inputs, [&](Value value, at::Tensor& tensor) {
      seed = hash_combine(seed, static_cast<uint64_t>(value.node));
      if (is_number(tensor)) tensor = tensor * (1 + kNoiseOf[level] * seeded_uniform(tensor.sizes(), mix64(seed)));
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

}  // namespace rlgo::exec
