#include "core/verify/range_inputs.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/verify/agreement.h"
#include "core/verify/reference_runs.h"

namespace rlgo::verify {
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

Range range_of(ops::DType type) {
  switch (type) {
    case ops::DType::f16:  // of five bits of exponent few are to spare
      return {65504.0 / 4, 0x1p-14 * 4, 0x1p-11};
    case ops::DType::bf16:
      return {0x1p128 / 4096, 0x1p-126 * 4096, 0x1p-8};
    case ops::DType::f64:
      return {std::numeric_limits<double>::max() / 4096, std::numeric_limits<double>::min() * 4096, 0x1p-53};
    default:
      return {0x1p128 / 4096, 0x1p-126 * 4096, 0x1p-24};
  }
}

// Puts f(number, place) in the place of each number.
template <typename F>
Tensor mapped(const Tensor& tensor, const F& f) {
  Tensor out(tensor.dtype(), tensor.shape());
  evaluate::visit_float(tensor.dtype(), [&]<typename T>() {
    each_number(tensor, [to = out.data<T>(), &f](int64_t i, double number) { to[i] = static_cast<T>(f(number, i)); });
  });
  return out;
}

// Numbers of any decade, log-uniform, with either sign; one of sixteen is 0.
Tensor of_all_decades(const Tensor& like, const Range& range, uint64_t seed) {
  const double least = std::log2(range.least), most = std::log2(range.most);
  const uint64_t part = hash_combine(seed, 1);
  const Tensor sign = evaluate::seeded_integers(like.shape(), 2, seed);
  const Tensor zero = evaluate::seeded_integers(like.shape(), 16, hash_combine(seed, 2));
  return mapped(like, [&](double, int64_t i) {
    if (zero.data<int64_t>()[i] == 0) return 0.0;
    const double place = evaluate::seeded_uniform_at(part, i) / (2 * std::sqrt(3.0)) + 0.5;
    return std::exp2(least + place * (most - least)) * (sign.data<int64_t>()[i] == 0 ? -1 : 1);
  });
}

// No input has floats: nothing.
std::optional<TensorMap> inputs_of(const Graph& graph, uint64_t seed, int set, int attempt) {
  auto inputs = evaluate::random_inputs(graph, seed, 1.0, set % 2 == 0);
  bool any = false;
  for (const NodeId id : graph.inputs()) {
    const auto& info = *graph.node(id).info;
    Tensor& input = inputs.at(info.name);
    if (!ops::is_float(info.outputs[0].dtype) || input.elements() == 0) continue;
    any = true;
    const Range range = range_of(input.dtype());
    const uint64_t own = hash_string(info.name, hash_combine(seed, static_cast<uint64_t>(kRangeSets * attempt + set)));
    if (set == 0) {
      input = of_all_decades(input, range, own);
      continue;
    }
    const bool large = (mix64(own) & 1) != 0;
    const double power = kPowers[attempt] * std::log2(large ? range.most : range.least);
    input = mapped(input, [factor = std::exp2(power)](double number, int64_t) { return number * factor; });
  }
  return any ? std::optional(std::move(inputs)) : std::nullopt;
}

// Each value that a graph computes, without what lies outside the narrower range.
void narrow(Tensor& tensor, bool keep_small) {
  if (!has_floats(tensor)) return;
  const Range range = range_of(tensor.dtype());
  tensor = mapped(tensor, [&](double number, int64_t) {
    const double size = std::abs(number);
    if (size > range.most) return std::numeric_limits<double>::quiet_NaN();
    return size < range.least && !keep_small ? 0 : number;
  });
}

double unit_of(const Tensor& t) { return range_of(t.dtype()).unit; }

// Whether `got` is the exact number but for rounding of numbers with such a unit.
bool is_good(double got, double exact, double unit) {
  return std::abs(got - exact) <= std::min(kGood * unit, 0.05) * std::abs(exact);
}

// Whether any element of the narrow run is judged.
bool judges_any(const RangeSet& set) {
  return std::ranges::any_of(set.exact, [&](const auto& output) {
    const auto& [name, exact] = output;
    if (!has_floats(exact)) return false;
    const Tensor& narrow = set.narrow.at(name);
    const auto numbers = numbers_of(exact);
    bool any = false;
    each_number(narrow, [&](int64_t i, double number) {
      any = any || is_good(number, numbers[static_cast<size_t>(i)], unit_of(narrow));
    });
    return any;
  });
}

int64_t elements_of(const TensorMap& tensors) {
  int64_t sum = 0;
  for (const auto& [name, tensor] : tensors) sum += tensor.elements();
  return sum;
}

TensorMap noisy_outputs(const evaluate::Interpreter& before, const TensorMap& inputs, uint64_t seed, int threads) {
  return before.run(inputs, [&](Value value, Tensor& tensor) {
    if (!has_floats(tensor)) return;
    seed = hash_combine(seed, static_cast<uint64_t>(value.node));
    tensor = noisy(tensor, 4 * unit_of(tensor), mix64(seed), threads);
  });
}

// Elements that `got` loses.
std::vector<int64_t> lost(const RangeSet& set, const std::string& name, const Tensor& got) {
  const auto exact = numbers_of(set.exact.at(name)), native = numbers_of(set.native.at(name)),
             narrow = numbers_of(set.narrow.at(name));
  const double unit = unit_of(set.native.at(name));
  std::vector<int64_t> places;
  each_number(got, [&](int64_t i, double number) {
    const auto k = static_cast<size_t>(i);
    if (!is_good(narrow[k], exact[k], unit) || !is_good(native[k], exact[k], unit)) return;
    const bool far = !set.mixed && std::abs(number - exact[k]) > kLost * std::abs(exact[k]);
    if (!std::isfinite(number) || far) places.push_back(i);
  });
  return places;
}

}  // namespace

std::optional<RangeSet> range_set(const Graph& graph, uint64_t seed, int set, int threads,
                                  std::shared_ptr<WeightStore> weights) {
  RLGO_CHECK(set >= 0 && set < kRangeSets);
  const evaluate::Interpreter native(graph, {.threads = threads});
  for (int attempt = 0; attempt < (set == 0 ? 1 : static_cast<int>(std::size(kPowers))); ++attempt) {
    auto inputs = inputs_of(graph, seed, set, attempt);
    if (!inputs) return std::nullopt;
    RangeSet made{std::move(*inputs), {}, {}, {}, set == 0};
    made.narrow = native.run(made.inputs, [&](Value, Tensor& tensor) { narrow(tensor, made.mixed); });
    if (elements_of(made.narrow) > kMostElements) return std::nullopt;
    made.native = native.run(made.inputs);
    made.exact = exact_outputs(graph, made.inputs, threads, weights);
    if (judges_any(made)) return made;
  }
  return std::nullopt;
}

std::string lost_in_range(const RangeSet& set, const Graph& before, const Graph& after, int threads) {
  const TensorMap got = evaluate::Interpreter(after, {.threads = threads}).run(set.inputs);
  std::optional<evaluate::Interpreter> again;
  for (const auto& [name, exact] : set.exact) {
    const auto found = got.find(name);
    if (!has_floats(exact) || found == got.end() || found->second.shape() != exact.shape()) continue;
    auto bad = lost(set, name, found->second);
    for (int k = 0; k < kNoisyRuns && !bad.empty(); ++k) {
      if (!again) again.emplace(before, evaluate::InterpreterOptions{.threads = threads});
      const auto noisy = noisy_outputs(*again, set.inputs, static_cast<uint64_t>(k) + 1, threads);
      const auto moved = picked(noisy.at(name), bad), expected = picked(exact, bad);
      std::vector<int64_t> still;
      for (size_t i = 0; i < bad.size(); ++i) {
        if (std::abs(moved[i] - expected[i]) <= 0.1 * std::abs(expected[i])) still.push_back(bad[i]);
      }
      bad = std::move(still);
    }
    if (bad.empty()) continue;
    const double made = picked(found->second, bad)[0];
    return fmt::format("output '{}' is {} where the original has {:.3g}", name,
                       std::isnan(made) ? "NaN" : fmt::format("{:.3g}", made), picked(exact, bad)[0]);
  }
  return "";
}

}  // namespace rlgo::verify
