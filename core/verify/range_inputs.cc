#include "core/exec/range_inputs.h"

#include <ATen/ATen.h>

#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/exec/agreement.h"

namespace rlgo::exec {
namespace {

using graph::Graph;
using graph::NodeId;
using graph::Value;

constexpr double kPowers[] = {0.75, 0.75, 0.5, 0.25};  // of the range, one after the other
constexpr double kGood = 2e3, kLost = 0.5;  // relative errors: so many units of the last place, and of no use
constexpr int kNoisyRuns = 2;
constexpr int64_t kMostElements = int64_t{1} << 22;  // of all outputs: sets are kept

// What numbers of a type are judged.
struct Range {
  double most = 1, least = 1, unit = 0;
};

Range range_of(at::ScalarType type) {
  switch (type) {
    case at::kHalf:  // of five bits of exponent few are to spare
      return {65504.0 / 4, 0x1p-14 * 4, 0x1p-11};
    case at::kBFloat16:
      return {0x1p128 / 4096, 0x1p-126 * 4096, 0x1p-8};
    case at::kDouble:
      return {std::numeric_limits<double>::max() / 4096, std::numeric_limits<double>::min() * 4096, 0x1p-53};
    default:
      return {0x1p128 / 4096, 0x1p-126 * 4096, 0x1p-24};
  }
}

bool is_number(const at::Tensor& t) { return at::isFloatingType(t.scalar_type()); }

// Numbers of any decade, log-uniform, with either sign; one of sixteen is 0.
at::Tensor of_all_decades(const at::Tensor& like, const Range& range, uint64_t seed) {
  const at::Tensor part = seeded_uniform(like.sizes(), hash_combine(seed, 1)) / (2 * std::sqrt(3.0)) + 0.5;
  const at::Tensor power = std::log2(range.least) + part * (std::log2(range.most) - std::log2(range.least));
  const at::Tensor number = at::pow(2.0, power) * seeded_normal(like.sizes(), seed).sign();
  return number.masked_fill(seeded_integers(like.sizes(), 16, hash_combine(seed, 2)) == 0, 0);
}

// No input has floats: nothing.
std::optional<TensorMap> inputs_of(const Graph& graph, uint64_t seed, int set, int attempt) {
  auto inputs = random_inputs(graph, seed, 1.0, set % 2 == 0);
  bool any = false;
  for (const NodeId id : graph.inputs()) {
    const auto& info = *graph.node(id).info;
    at::Tensor& input = inputs.at(info.name);
    if (!ops::is_float(info.outputs[0].dtype) || input.numel() == 0) continue;
    any = true;
    const Range range = range_of(input.scalar_type());
    const uint64_t own = hash_string(info.name, hash_combine(seed, static_cast<uint64_t>(kRangeSets * attempt + set)));
    if (set == 0) {
      input = of_all_decades(input, range, own).to(input.scalar_type());
      continue;
    }
    const bool large = (mix64(own) & 1) != 0;
    const double power = kPowers[attempt] * std::log2(large ? range.most : range.least);
    input = (input.to(at::kDouble) * std::exp2(power)).to(input.scalar_type());
  }
  return any ? std::optional(std::move(inputs)) : std::nullopt;
}

// Each value that a graph computes, without what lies outside the narrower range.
void narrow(at::Tensor& tensor, bool keep_small) {
  if (!is_number(tensor)) return;
  const Range range = range_of(tensor.scalar_type());
  const at::Tensor size = tensor.abs();
  at::Tensor inside = tensor.masked_fill(size > range.most, std::numeric_limits<double>::quiet_NaN());
  tensor = keep_small ? inside : inside.masked_fill(size < range.least, 0);
}

double unit_of(const at::Tensor& t) { return range_of(t.scalar_type()).unit; }

// Elements at which `got` is the exact number but for rounding.
at::Tensor is_good(const at::Tensor& got, const at::Tensor& exact) {
  const at::Tensor error = (got.to(at::kDouble) - exact).abs();
  return error.le(std::min(kGood * unit_of(got), 0.05) * exact.abs());
}

bool judges_any(const RangeSet& set, const TensorMap& exact) {
  for (const auto& [name, tensor] : exact) {
    if (is_number(tensor) && is_good(set.narrow.at(name), tensor.to(at::kDouble)).any().item<bool>()) return true;
  }
  return false;
}

int64_t elements_of(const TensorMap& tensors) {
  int64_t sum = 0;
  for (const auto& [name, tensor] : tensors) sum += tensor.numel();
  return sum;
}

TensorMap noisy_outputs(const Interpreter& before, const TensorMap& inputs, uint64_t seed) {
  return before.run(inputs, [&](Value value, at::Tensor& tensor) {
    if (!is_number(tensor)) return;
    seed = hash_combine(seed, static_cast<uint64_t>(value.node));
    const at::Tensor noise = 1 + 4 * unit_of(tensor) * seeded_uniform(tensor.sizes(), mix64(seed));
    tensor = (tensor.to(at::kDouble) * noise).to(tensor.scalar_type());
  });
}

// Elements that `got` loses.
at::Tensor lost(const RangeSet& set, const std::string& name, const at::Tensor& got) {
  const at::Tensor exact = set.exact.at(name).to(at::kDouble), wide = got.to(at::kDouble);
  const at::Tensor judged = is_good(set.narrow.at(name), exact).logical_and(is_good(set.native.at(name), exact));
  at::Tensor bad = wide.isfinite().logical_not();
  if (!set.mixed) bad = bad.logical_or((wide - exact).abs().gt(kLost * exact.abs()));
  return judged.logical_and(bad);
}

}  // namespace

std::optional<RangeSet> range_set(const Graph& graph, uint64_t seed, int set, int threads,
                                  std::shared_ptr<WeightStore> weights) {
  RLGO_CHECK(set >= 0 && set < kRangeSets);
  const c10::InferenceMode inference;
  const ThreadScope scope(threads);
  const Interpreter native(graph);
  for (int attempt = 0; attempt < (set == 0 ? 1 : static_cast<int>(std::size(kPowers))); ++attempt) {
    auto inputs = inputs_of(graph, seed, set, attempt);
    if (!inputs) return std::nullopt;
    RangeSet made{std::move(*inputs), {}, {}, {}, set == 0};
    made.narrow = native.run(made.inputs, [&](Value, at::Tensor& tensor) { narrow(tensor, made.mixed); });
    if (elements_of(made.narrow) > kMostElements) return std::nullopt;
    made.native = native.run(made.inputs);
    made.exact = exact_outputs(graph, made.inputs, threads, weights);
    if (judges_any(made, made.exact)) return made;
  }
  return std::nullopt;
}

std::string lost_in_range(const RangeSet& set, const Graph& before, const Graph& after, int threads) {
  const c10::InferenceMode inference;
  const ThreadScope scope(threads);
  const TensorMap got = Interpreter(after).run(set.inputs);
  std::optional<Interpreter> again;
  for (const auto& [name, exact] : set.exact) {
    const auto found = got.find(name);
    if (!is_number(exact) || found == got.end() || found->second.sizes() != exact.sizes()) continue;
    at::Tensor bad = lost(set, name, found->second);
    for (int k = 0; k < kNoisyRuns && bad.any().item<bool>(); ++k) {
      if (!again) again.emplace(before);
      const auto noisy = noisy_outputs(*again, set.inputs, static_cast<uint64_t>(k) + 1);
      const at::Tensor moved = (noisy.at(name).to(at::kDouble) - exact).abs();
      bad = bad.logical_and(moved.le(0.1 * exact.abs()));
    }
    if (!bad.any().item<bool>()) continue;
    const int64_t place = bad.reshape({-1}).nonzero()[0].item<int64_t>();
    const double made = found->second.reshape({-1})[place].item<double>();
    return fmt::format("output '{}' is {} where the original has {:.3g}", name,
                       std::isnan(made) ? "NaN" : fmt::format("{:.3g}", made),
                       exact.reshape({-1})[place].item<double>());
  }
  return "";
}

}  // namespace rlgo::exec
