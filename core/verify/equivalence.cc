#include "core/verify/equivalence.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/verify/numbers.h"

namespace rlgo::verify {
namespace {

using graph::Graph;

constexpr std::array<double, 3> kMagnitudes{1.0, 16.0, 1.0 / 16.0};

// What opaque operators make may be known in one graph only. True where nothing that is known of both differs.
bool compatible(const ops::TensorType& a, const ops::TensorType& b) {
  if (a.dtype != b.dtype && a.dtype != ops::DType::other && b.dtype != ops::DType::other) return false;
  if (!a.ranked || !b.ranked) return true;
  if (a.rank() != b.rank()) return false;
  for (int d = 0; d < a.rank(); ++d) {
    if (a.shape[d] != b.shape[d] && a.shape[d] != ops::kUnknown && b.shape[d] != ops::kUnknown) return false;
  }
  return true;
}

bool same_types(const Graph& a, const Graph& b, size_t output) {
  return a.type(a.outputs()[output].value) == b.type(b.outputs()[output].value);
}

// Folds the comparison of one output into `result`.
void compare(const std::string& name, const Tensor& left, const Tensor& right, Equivalence& result) {
  const auto differs = [&](std::string reason) {
    result.comparable = false;
    result.reason = fmt::format("output '{}': {}", name, reason);
  };
  if (left.shape() != right.shape()) return differs("shapes differ at run time");
  if (left.dtype() != right.dtype()) return differs("dtypes differ at run time");
  const auto a = numbers_of(left), b = numbers_of(right);
  double error = 0, scale = 0;
  for (size_t k = 0; k < a.size(); ++k) {
    if (std::isnan(a[k]) != std::isnan(b[k])) return differs("NaN in different places");
    if (std::isinf(a[k]) != std::isinf(b[k]) || (std::isinf(a[k]) && a[k] != b[k]))
      return differs("infinities in different places");
    if (!std::isfinite(a[k])) continue;
    error = std::max(error, std::abs(a[k] - b[k]));
    scale = std::max(scale, std::abs(a[k]));
  }
  const double relative = scale > 0 ? error / scale : error;
  result.max_abs_error = std::max(result.max_abs_error, error);
  if (relative > result.max_rel_error) {
    result.max_rel_error = relative;
    result.worst_output = name;
  }
}

}  // namespace

std::string interface_difference(const Graph& a, const Graph& b) {
  std::map<std::string, ops::TensorType> inputs;
  for (graph::NodeId id : a.inputs()) inputs[a.node(id).info->name] = a.node(id).info->outputs[0];
  if (a.inputs().size() != b.inputs().size())
    return fmt::format("{} inputs against {}", a.inputs().size(), b.inputs().size());
  for (graph::NodeId id : b.inputs()) {
    const auto& info = *b.node(id).info;
    const auto found = inputs.find(info.name);
    if (found == inputs.end()) return fmt::format("input '{}' is in one graph only", info.name);
    if (found->second != info.outputs[0]) {
      return fmt::format("input '{}' is {} against {}", info.name, to_string(found->second),
                         to_string(info.outputs[0]));
    }
  }
  if (a.outputs().size() != b.outputs().size())
    return fmt::format("{} outputs against {}", a.outputs().size(), b.outputs().size());
  for (size_t i = 0; i < a.outputs().size(); ++i) {
    const auto &left = a.outputs()[i], &right = b.outputs()[i];
    if (left.name != right.name) return fmt::format("output {} is '{}' against '{}'", i, left.name, right.name);
    const auto &left_type = a.type(left.value), &right_type = b.type(right.value);
    const bool open = !left_type.is_static() || !right_type.is_static();
    if (left_type != right_type && !(open && compatible(left_type, right_type)))
      return fmt::format("output '{}' is {} against {}", left.name, to_string(left_type), to_string(right_type));
  }
  return {};
}

Equivalence equivalence(const Graph& a, const Graph& b, const EquivalenceOptions& options) {
  if (options.seeds < 1) fail("equivalence needs at least one input set, not {}", options.seeds);
  Equivalence result;
  result.reason = interface_difference(a, b);
  result.comparable = result.reason.empty();
  if (!result.comparable) return result;
  for (size_t k = 0; k < a.outputs().size(); ++k) result.not_compared += same_types(a, b, k) ? 0 : 1;
  const evaluate::InterpreterOptions run{.precision = options.f64 ? Precision::f64 : Precision::native,
                                         .weights = std::make_shared<WeightStore>(),
                                         .threads = options.threads};
  const evaluate::Interpreter first(a, run), second(b, run);
  for (int set = 0; set < options.seeds && result.comparable; ++set) {
    const double magnitude = kMagnitudes[static_cast<size_t>(set) % kMagnitudes.size()];
    const auto inputs = evaluate::random_inputs(a, hash_combine(options.seed, static_cast<uint64_t>(set)), magnitude);
    const auto left = first.run(inputs), right = second.run(inputs);
    for (size_t k = 0; k < a.outputs().size(); ++k) {
      const auto& name = a.outputs()[k].name;
      if (result.comparable && same_types(a, b, k)) compare(name, left.at(name), right.at(name), result);
    }
  }
  return result;
}

Equivalence equivalence(const Graph& a, const Graph& b, int seeds, uint64_t seed) {
  EquivalenceOptions options;
  options.seeds = seeds;
  options.seed = seed;
  return equivalence(a, b, options);
}

}  // namespace rlgo::verify
