#include "core/exec/agreement.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/exec/equivalence.h"
#include "core/exec/interpreter.h"

namespace rlgo::exec {
namespace {

using graph::Graph;
using graph::NodeId;
using graph::Value;

constexpr int64_t kMostKept = 16384;  // elements of an inner value that are compared, drawn by its place
constexpr double kNoise = 1e-13;      // relative, after every operator
// That of a constant's rounding in a file: 0.70710677 stands for the root of 1/2, and rules read it so.
constexpr double kConstantNoise = 6e-8;
constexpr int kNoisyRuns = 2;
constexpr double kNoiseFactor = 30;  // an element may differ by so many times what noise moves it
constexpr double kLeastScale = 1e-30;

// An element's own scale: its magnitude, or the median of its channel (axis 1 of what has three axes or more).
at::Tensor scale_of(const at::Tensor& reference) {
  const at::Tensor size = reference.abs().nan_to_num(0, 0, 0).clamp_min(kLeastScale);
  if (size.dim() < 3 || size.numel() == 0) return size;
  std::vector<int64_t> shape(static_cast<size_t>(size.dim()), 1);
  shape[1] = size.size(1);
  const at::Tensor median = std::get<0>(size.transpose(0, 1).reshape({size.size(1), -1}).median(1));
  return at::maximum(size, median.view(shape));
}

// One value of the original, of which so much is kept as is compared.
struct Kept {
  at::Tensor places;  // flat indices; undefined: all
  std::vector<int64_t> sizes;
  at::ScalarType type = at::kDouble;
  at::Tensor values;  // f64, flat
  at::Tensor scale;   // f64, flat; undefined for integers and booleans
  at::Tensor noise;   // largest |noisy - values| so far; undefined before noisy runs
};

bool is_number(const at::Tensor& t) { return at::isFloatingType(t.scalar_type()); }

at::Tensor picked(const at::Tensor& tensor, const at::Tensor& places) {
  const at::Tensor flat = tensor.reshape({-1});
  return (places.defined() ? flat.index_select(0, places) : flat).to(at::kDouble);
}

Kept keep(const at::Tensor& tensor, bool all, uint64_t seed) {
  Kept kept;
  kept.sizes = tensor.sizes().vec();
  kept.type = tensor.scalar_type();
  if (!all && tensor.numel() > kMostKept) kept.places = seeded_integers({kMostKept}, tensor.numel(), seed);
  kept.values = picked(tensor, kept.places).clone();
  if (is_number(tensor)) kept.scale = picked(scale_of(tensor.to(at::kDouble)), kept.places);
  return kept;
}

std::string name_of(const Graph& graph, Value value) {
  const auto& node = graph.node(value.node);
  const std::string op = node.info->opaque ? node.info->opaque->op_type : std::string(ops::name(node.op()));
  return node.info->name.empty() ? fmt::format("value of {} (node {})", op, value.node)
                                 : fmt::format("value of {} '{}'", op, node.info->name);
}

bool is_computed(const Graph& graph, Value value) {
  return graph.contains(value.node) && !graph.node(value.node).constant &&
         graph.node(value.node).op() != ops::Op::input;
}

}  // namespace

std::vector<ValuePair> shared_values(const Graph& before, const Graph& after, std::span<const ValuePair> replaced) {
  std::vector<ValuePair> pairs;
  for (const NodeId id : before.order()) {
    if (!is_computed(before, {id, 0}) || !is_computed(after, {id, 0})) continue;
    if (before.node(id).info != after.node(id).info) continue;
    const auto outputs = static_cast<int32_t>(before.node(id).info->outputs.size());
    for (int32_t port = 0; port < outputs; ++port) pairs.push_back({{id, port}, {id, port}});
  }
  pairs.insert(pairs.end(), replaced.begin(), replaced.end());
  return pairs;
}

struct AgreementCheck::Impl {
  Graph before, after;
  AgreementOptions options;
  std::vector<ValuePair> replaced;
  std::map<std::pair<NodeId, int32_t>, std::vector<Value>> readers;  // value of `after` -> values of `before`
  std::map<std::pair<NodeId, int32_t>, Kept> kept;                   // values of `before`
  std::optional<Interpreter> first, second;
  Agreement found;
  TensorMap reference;
  std::vector<std::pair<double, double>> ranges;  // of each output, over all sets
  uint64_t sets = 0;

  static std::pair<NodeId, int32_t> key(Value value) { return {value.node, value.port}; }

  void note(const std::string& where, double error) {
    if (!(error > found.error)) return;
    found.error = error;
    found.worst = where;
  }

  // Elements that differ beyond the tolerance, as places of `kept`.
  at::Tensor suspects(const Kept& kept_value, const at::Tensor& got) const {
    if (!kept_value.scale.defined()) return kept_value.values.ne(got);
    const at::Tensor finite = kept_value.values.isfinite();
    const at::Tensor error = (got - kept_value.values).abs();
    return finite.logical_and(error.le(kept_value.scale * options.tolerance).logical_not());
  }

  // Judges one value; true where noisy runs are needed for it.
  bool judge(const std::string& where, const Kept& old, const at::Tensor& got_tensor, bool& compared) {
    if (old.sizes != got_tensor.sizes().vec() || at::isFloatingType(old.type) != is_number(got_tensor)) {
      found.wrong = true;
      found.error = std::numeric_limits<double>::infinity();
      found.worst = where + " has another shape or type";
      return false;
    }
    const at::Tensor got = picked(got_tensor, old.places);
    const at::Tensor suspect = suspects(old, got);
    if (suspect.any().item<bool>() && !old.noise.defined()) return true;
    const at::Tensor finite = old.values.isfinite();
    at::Tensor unstable = at::zeros_like(suspect);
    if (old.noise.defined()) {
      const at::Tensor error = (got - old.values).abs();
      const at::Tensor typical = old.noise.numel() > 0 ? old.noise.nan_to_num(0, 0, 0).median() : old.noise;
      unstable = suspect.logical_and(
          old.noise.isfinite().logical_not().logical_or(error.le(kNoiseFactor * (old.noise + typical))));
    }
    const at::Tensor judged = finite.logical_and(unstable.logical_not());
    found.compared += judged.sum().item<int64_t>();
    found.unstable += unstable.sum().item<int64_t>();
    const at::Tensor undefined = finite.logical_not();
    found.undefined += undefined.sum().item<int64_t>();
    const at::Tensor same = old.values.eq(got).logical_or(old.values.isnan().logical_and(got.isnan()));
    found.undefined_differ += undefined.logical_and(same.logical_not()).sum().item<int64_t>();
    compared = compared || judged.any().item<bool>();
    if (!judged.any().item<bool>()) return false;
    const at::Tensor scale = old.scale.defined() ? old.scale : at::ones_like(old.values);
    at::Tensor relative = (got - old.values).abs() / scale;
    relative = relative.masked_select(judged).nan_to_num(std::numeric_limits<double>::infinity());
    note(where, relative.max().item<double>());
    found.wrong = found.wrong || suspect.logical_and(judged).any().item<bool>();
    return false;
  }

  TensorMap run_first(const TensorMap& inputs) {
    kept.clear();
    std::map<std::pair<NodeId, int32_t>, bool> wanted;
    for (const auto& [value, olds] : readers) {
      for (const Value old : olds) wanted[key(old)] = true;
    }
    return first->run(inputs, [&](Value value, at::Tensor& tensor) {
      if (!wanted.contains(key(value))) return;
      const uint64_t seed = hash_combine(static_cast<uint64_t>(value.node), static_cast<uint64_t>(value.port));
      kept[key(value)] = keep(tensor, false, seed);
    });
  }

  // Moves every number by noise, and notes how far the kept ones went.
  void run_noisy(const TensorMap& inputs, std::map<std::string, Kept>& outputs, double noise) {
    for (int k = 0; k < kNoisyRuns; ++k) {
      const auto seen = [](Kept& old, const at::Tensor& tensor) {
        const at::Tensor moved = (picked(tensor, old.places) - old.values).abs();
        // A number that became NaN or infinite, or the reverse, moved without bounds.
        const at::Tensor both = old.values.isfinite().logical_not().logical_and(moved.isnan());
        const at::Tensor far = moved.masked_fill(both, 0).nan_to_num(std::numeric_limits<double>::infinity());
        old.noise = old.noise.defined() ? at::maximum(old.noise, far) : far;
      };
      uint64_t seed = hash_combine(sets, static_cast<uint64_t>(k) + 1);
      const auto out = first->run(inputs, [&](Value value, at::Tensor& tensor) {
        seed = hash_combine(seed, static_cast<uint64_t>(value.node));
        if (is_number(tensor)) tensor = tensor * (1 + noise * seeded_normal(tensor.sizes(), seed));
        if (const auto at = kept.find(key(value)); at != kept.end()) seen(at->second, tensor);
      });
      for (auto& [name, old] : outputs) seen(old, out.at(name));
    }
  }

  // False: noisy runs are needed before anything can be said.
  bool compare(const TensorMap& inputs, std::map<std::string, Kept>& outputs) {
    bool suspicious = false;
    std::vector<bool> replaced_compared(replaced.size(), false);
    const Agreement saved = found;
    const auto now = second->run(inputs, [&](Value value, at::Tensor& tensor) {
      const auto at = readers.find(key(value));
      if (at == readers.end()) return;
      for (const Value old : at->second) {
        const auto known = kept.find(key(old));
        if (known == kept.end()) continue;
        bool compared = false;
        suspicious |= judge(name_of(before, old), known->second, tensor, compared);
        for (size_t k = 0; compared && k < replaced.size(); ++k) {
          if (replaced[k].first == old && replaced[k].second == value) found.replaced_compared[k] = true;
        }
      }
    });
    for (size_t k = 0; k < before.outputs().size(); ++k) {
      const auto& name = before.outputs()[k].name;
      const auto old = outputs.find(name);
      if (old == outputs.end()) continue;
      bool compared = false;
      suspicious |= judge(fmt::format("output '{}'", name), old->second, now.at(name), compared);
      if (compared) found.output_compared[k] = true;
    }
    if (suspicious) found = saved;
    return !suspicious;
  }
};

AgreementCheck::AgreementCheck(const Graph& before, const Graph& after, std::vector<ValuePair> replaced,
                               const AgreementOptions& options)
    : impl_(std::make_unique<Impl>()) {
  Impl& s = *impl_;
  s.before = before;
  s.after = after;
  s.options = options;
  std::erase_if(replaced, [&](const ValuePair& pair) {
    return !is_computed(before, pair.first) || !is_computed(after, pair.second);
  });
  s.replaced = std::move(replaced);
  for (const auto& [old, now] : shared_values(before, after, s.replaced)) s.readers[Impl::key(now)].push_back(old);
  s.found.interface = interface_difference(before, after);
  s.found.output_compared.assign(before.outputs().size(), false);
  s.found.output_moves.assign(before.outputs().size(), false);
  s.found.replaced_compared.assign(s.replaced.size(), false);
  s.ranges.assign(before.outputs().size(),
                  {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()});
  if (!s.found.interface.empty()) return;
  const auto weights = std::make_shared<WeightStore>();
  s.first.emplace(before, InterpreterOptions{{}, Precision::f64, weights});
  s.second.emplace(after, InterpreterOptions{{}, Precision::f64, weights});
}

AgreementCheck::~AgreementCheck() = default;

void AgreementCheck::run(const TensorMap& inputs) {
  Impl& s = *impl_;
  if (!s.found.interface.empty()) return;
  const c10::InferenceMode inference;
  const ThreadScope threads(s.options.threads);
  ++s.sets;
  s.reference = s.run_first(inputs);
  std::map<std::string, Kept> outputs;
  for (size_t k = 0; k < s.before.outputs().size(); ++k) {
    const auto& output = s.before.outputs()[k];
    if (s.before.type(output.value) != s.after.type(s.after.outputs()[k].value)) continue;  // of opaque operators
    const at::Tensor& tensor = s.reference.at(output.name);
    outputs[output.name] = keep(tensor, true, 0);
    const at::Tensor finite = outputs[output.name].values.masked_select(outputs[output.name].values.isfinite());
    if (finite.numel() == 0) continue;
    auto& [low, high] = s.ranges[k];
    low = std::min(low, finite.min().item<double>());
    high = std::max(high, finite.max().item<double>());
    if (high - low > 1e-9 * std::max(std::abs(low), std::abs(high))) s.found.output_moves[k] = true;
  }
  if (s.compare(inputs, outputs)) return;
  const Agreement saved = s.found;
  s.run_noisy(inputs, outputs, kNoise);
  s.compare(inputs, outputs);
  if (saved.wrong || !s.found.wrong) return;
  s.found = saved;
  s.run_noisy(inputs, outputs, kConstantNoise);
  s.compare(inputs, outputs);
}

const Agreement& AgreementCheck::found() const { return impl_->found; }
const TensorMap& AgreementCheck::reference() const { return impl_->reference; }

TensorMap check_inputs(const Graph& graph, uint64_t seed, int kind) {
  constexpr double kMagnitudes[kInputKinds] = {1, 1, 16, 1.0 / 16};
  RLGO_CHECK(kind >= 0 && kind < kInputKinds);
  auto inputs = random_inputs(graph, hash_combine(seed, static_cast<uint64_t>(kind)), kMagnitudes[kind]);
  if (kind != 1) return inputs;
  for (auto& [name, tensor] : inputs) {
    if (is_number(tensor)) tensor = tensor.abs().frac();
  }
  return inputs;
}

OutputError output_error(const TensorMap& reference, const TensorMap& got) {
  OutputError out;
  const auto note = [&](const std::string& name, double error) {
    if (!(error > out.error)) return;
    out.error = error;
    out.worst = name;
  };
  for (const auto& [name, expected] : reference) {
    const auto at = got.find(name);
    if (at == got.end() || at->second.sizes() != expected.sizes()) {
      note(name, std::numeric_limits<double>::infinity());
      continue;
    }
    const at::Tensor a = expected.to(at::kDouble), b = at->second.to(at::kDouble);
    if (a.numel() == 0) continue;
    if (!is_number(expected)) {
      note(name, a.equal(b) ? 0 : 1);
      continue;
    }
    const at::Tensor size = a.abs().nan_to_num(0, 0, 0), finite = a.isfinite();
    at::Tensor scale = size.max() * 1e-3;
    if (size.dim() >= 3) {
      std::vector<int64_t> others;
      for (int64_t d = 0; d < size.dim(); ++d) {
        if (d != 1) others.push_back(d);
      }
      scale = at::maximum(size.amax(others, true), scale);
    } else {
      scale = size.max();
    }
    const at::Tensor relative = ((a - b).abs() / scale.clamp_min(kLeastScale))
                                    .expand_as(a)
                                    .masked_select(finite)
                                    .nan_to_num(std::numeric_limits<double>::infinity());
    if (relative.numel() > 0) note(name, relative.max().item<double>());
  }
  return out;
}

TensorMap native_outputs(const Graph& graph, const TensorMap& inputs, int threads) {
  const ThreadScope scope(threads);
  return Interpreter(graph).run(inputs);
}

TensorMap exact_outputs(const Graph& graph, const TensorMap& inputs, int threads) {
  const ThreadScope scope(threads);
  return Interpreter(graph, {.device = {}, .precision = Precision::f64, .weights = {}}).run(inputs);
}

}  // namespace rlgo::exec
