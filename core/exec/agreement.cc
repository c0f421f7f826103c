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
#include "core/exec/reference_runs.h"

namespace rlgo::exec {
namespace {

using graph::Graph;
using graph::NodeId;
using graph::Value;

constexpr double kNoiseFactor = 30;  // an element may differ by so many times what noise moves it
constexpr int kNoiseRounds = 4;      // two noisy runs hardly move some of a million elements, by chance
// Where there is no time for noisy runs: of an element's scale, what noise of constants moves at the least.
constexpr double kAssumedNoise = kNoiseFactor * 6e-8;
constexpr double kTelling = 1e-2;  // of an element's scale: agreement within more than that shows nothing
constexpr double kLeastScale = 1e-30;

bool is_number(const at::Tensor& t) { return at::isFloatingType(t.scalar_type()); }

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
  std::shared_ptr<ReferenceRuns> runs;
  Graph after;
  AgreementOptions options;
  std::vector<ValuePair> replaced;
  std::map<std::pair<NodeId, int32_t>, std::vector<Value>> readers;  // value of `after` -> values of the original
  std::optional<Interpreter> second;
  struct Got {
    std::vector<int64_t> sizes;
    at::ScalarType type = at::kDouble;
    at::Tensor values;  // f64, flat, at the places that are kept; undefined where sizes differ
  };
  struct InnerGot {
    Value old, now;
    Got got;
  };
  std::vector<InnerGot> inner_got;  // of the last set
  std::map<std::string, Got> outputs_got;
  Agreement found;
  bool assume = false;                            // noise is not known, and is taken for kAssumedNoise
  std::vector<std::pair<double, double>> ranges;  // of each output, over all sets

  const Graph& before() const { return runs->graph(); }
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

  // What of a value of `after` is held against `old`.
  static Got got_of(const Kept& old, const at::Tensor& tensor) {
    Got got{tensor.sizes().vec(), tensor.scalar_type(), {}};
    if (got.sizes == old.sizes) got.values = picked(tensor, old.places).clone();
    return got;
  }

  // Judges one value; true where noisy runs are needed for it.
  bool judge(const std::string& where, const Kept& old, const Got& given, std::optional<Noise> level, bool& compared) {
    if (old.sizes != given.sizes || at::isFloatingType(old.type) != at::isFloatingType(given.type)) {
      found.wrong = true;
      found.error = std::numeric_limits<double>::infinity();
      found.worst = where + " has another shape or type";
      return false;
    }
    const at::Tensor& got = given.values;
    const at::Tensor noise = level ? old.noise[static_cast<size_t>(*level)] : at::Tensor();
    const at::Tensor suspect = suspects(old, got);
    const at::Tensor finite = old.values.isfinite();
    const at::Tensor scale = old.scale.defined() ? old.scale : at::ones_like(old.values);
    at::Tensor unstable = at::zeros_like(suspect), rounded = unstable;
    if (suspect.any().item<bool>() && !noise.defined()) {
      if (!assume || !old.scale.defined()) return true;
      rounded = suspect.logical_and((got - old.values).abs().le(kAssumedNoise * scale));
      if (suspect.logical_and(rounded.logical_not()).any().item<bool>()) return true;
    }
    if (noise.defined()) {
      const at::Tensor typical = noise.numel() > 0 ? noise.nan_to_num(0, 0, 0).median() : noise;
      const at::Tensor bound = kNoiseFactor * (noise + typical);
      unstable = suspect.logical_and(noise.isfinite().logical_not().logical_or((got - old.values).abs().le(bound)));
      if (level == Noise::constants) {
        rounded = unstable.logical_and(bound.le(kTelling * scale));
        unstable = unstable.logical_and(rounded.logical_not());
      }
    }
    const at::Tensor judged = finite.logical_and(unstable.logical_or(rounded).logical_not());
    found.compared += judged.sum().item<int64_t>();
    found.unstable += unstable.sum().item<int64_t>();
    found.rounded += rounded.sum().item<int64_t>();
    const at::Tensor undefined = finite.logical_not();
    found.undefined += undefined.sum().item<int64_t>();
    const at::Tensor same = old.values.eq(got).logical_or(old.values.isnan().logical_and(got.isnan()));
    found.undefined_differ += undefined.logical_and(same.logical_not()).sum().item<int64_t>();
    compared = compared || judged.logical_or(rounded).any().item<bool>();
    if (!judged.any().item<bool>()) return false;
    at::Tensor relative = (got - old.values).abs() / scale;
    relative = relative.masked_select(judged).nan_to_num(std::numeric_limits<double>::infinity());
    note(where, relative.max().item<double>());
    found.wrong = found.wrong || suspect.logical_and(judged).any().item<bool>();
    return false;
  }

  // Runs the other graph and picks what is compared.
  void run_second(int set) {
    inner_got.clear();
    outputs_got.clear();
    const auto& kept = runs->inner(set);
    const auto now = second->run(runs->inputs(set), [&](Value value, at::Tensor& tensor) {
      const auto at = readers.find(key(value));
      if (at == readers.end()) return;
      for (const Value old : at->second) {
        const auto known = kept.find(key(old));
        if (known != kept.end()) inner_got.push_back({old, value, got_of(known->second, tensor)});
      }
    });
    for (const auto& [name, old] : runs->kept_outputs(set)) outputs_got[name] = got_of(old, now.at(name));
  }

  // By the noise of that level, if any. False: noisy runs are needed before anything can be said.
  bool compare(int set, std::optional<Noise> level) {
    bool suspicious = false;
    const Agreement saved = found;
    const auto& kept = runs->inner(set);
    for (const auto& [old, value, got] : inner_got) {
      const Kept& known = kept.at(key(old));
      bool compared = false;
      suspicious |= judge(name_of(before(), old), known, got, level, compared);
      for (size_t k = 0; compared && k < replaced.size(); ++k) {
        if (replaced[k].first == old && replaced[k].second == value) found.replaced_compared[k] = true;
      }
    }
    for (size_t k = 0; k < before().outputs().size(); ++k) {
      if (!known_type(k)) continue;
      const auto& name = before().outputs()[k].name;
      const Kept& old = runs->kept_outputs(set).at(name);
      bool compared = false;
      suspicious |= judge(fmt::format("output '{}'", name), old, outputs_got.at(name), level, compared);
      if (compared) found.output_compared[k] = true;
    }
    if (suspicious) found = saved;
    return !suspicious;
  }

  // What differs by no more than constants may explain is taken for that. Throws `why` where more does.
  void compare_without_noise(int set, const Stopped& why) {
    assume = true;
    const bool explained = compare(set, std::nullopt);
    assume = false;
    if (!explained) throw why;
  }

  // False: of an opaque operator.
  bool known_type(size_t output) const {
    return before().type(before().outputs()[output].value) == after.type(after.outputs()[output].value);
  }

  void note_range(size_t output, const Kept& kept) {
    const at::Tensor finite = kept.values.masked_select(kept.values.isfinite());
    if (finite.numel() == 0) return;
    auto& [low, high] = ranges[output];
    low = std::min(low, finite.min().item<double>());
    high = std::max(high, finite.max().item<double>());
    if (high - low > 1e-9 * std::max(std::abs(low), std::abs(high))) found.output_moves[output] = true;
  }
};

AgreementCheck::AgreementCheck(const Graph& before, const Graph& after, std::vector<ValuePair> replaced,
                               const AgreementOptions& options)
    : AgreementCheck(std::make_shared<ReferenceRuns>(before, options.threads), after, std::move(replaced), options) {}

AgreementCheck::AgreementCheck(std::shared_ptr<ReferenceRuns> original, const Graph& after,
                               std::vector<ValuePair> replaced, const AgreementOptions& options)
    : impl_(std::make_unique<Impl>()) {
  Impl& s = *impl_;
  s.runs = std::move(original);
  s.after = after;
  s.options = options;
  std::erase_if(replaced, [&](const ValuePair& pair) {
    return !is_computed(s.before(), pair.first) || !is_computed(after, pair.second);
  });
  s.replaced = std::move(replaced);
  for (const auto& [old, now] : shared_values(s.before(), after, s.replaced)) s.readers[Impl::key(now)].push_back(old);
  s.found.interface = interface_difference(s.before(), after);
  const size_t outputs = s.before().outputs().size();
  s.found.output_compared.assign(outputs, false);
  s.found.output_moves.assign(outputs, false);
  s.found.replaced_compared.assign(s.replaced.size(), false);
  s.ranges.assign(outputs, {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()});
  if (!s.found.interface.empty()) return;
  s.second.emplace(
      after,
      InterpreterOptions{
          .device = {}, .precision = Precision::f64, .weights = s.runs->weights(), .deadline = s.runs->deadline()});
}

AgreementCheck::~AgreementCheck() = default;

void AgreementCheck::run(const TensorMap& inputs) { run(impl_->runs->add(inputs)); }

void AgreementCheck::run(int set) {
  Impl& s = *impl_;
  if (!s.found.interface.empty()) return;
  const c10::InferenceMode inference;
  const ThreadScope threads(s.options.threads);
  s.runs->inner(set);
  const auto& outputs = s.runs->kept_outputs(set);
  for (size_t k = 0; k < s.before().outputs().size(); ++k) {
    if (s.known_type(k)) s.note_range(k, outputs.at(s.before().outputs()[k].name));
  }
  s.run_second(set);
  if (s.compare(set, std::nullopt)) return;
  const Agreement saved = s.found;
  try {
    s.runs->add_noise(set, Noise::operators);
    s.compare(set, Noise::operators);
    if (saved.wrong || !s.found.wrong) return;
    for (int rounds = 1; rounds <= kNoiseRounds && s.found.wrong; ++rounds) {
      s.found = saved;
      s.runs->add_noise(set, Noise::constants, rounds);
      s.compare(set, Noise::constants);
    }
  } catch (const Stopped& stopped) {
    s.compare_without_noise(set, stopped);
  }
}

const Agreement& AgreementCheck::found() const { return impl_->found; }

TensorMap check_inputs(const Graph& graph, uint64_t seed, int kind) {
  constexpr double kMagnitudes[kInputKinds] = {1, 1, 16, 1.0 / 16};
  RLGO_CHECK(kind >= 0 && kind < kInputKinds);
  auto inputs = random_inputs(graph, hash_combine(seed, static_cast<uint64_t>(kind)), kMagnitudes[kind], kind == 0);
  if (kind != 1) return inputs;
  for (auto& [name, tensor] : inputs) {
    if (is_number(tensor)) tensor = tensor.abs().frac();
  }
  return inputs;
}

OutputErrors output_errors(const TensorMap& reference, const TensorMap& got) {
  OutputErrors out;
  const auto note = [&](const std::string& name, double error) { out[name] = error; };
  for (const auto& [name, expected] : reference) {
    out[name] = 0;
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

TensorMap native_outputs(const Graph& graph, const TensorMap& inputs, int threads, const Deadline& deadline) {
  const ThreadScope scope(threads);
  return Interpreter(graph, {.device = {}, .weights = {}, .deadline = deadline}).run(inputs);
}

TensorMap exact_outputs(const Graph& graph, const TensorMap& inputs, int threads, std::shared_ptr<WeightStore> weights,
                        const Deadline& deadline) {
  const ThreadScope scope(threads);
  const InterpreterOptions options{
      .device = {}, .precision = Precision::f64, .weights = std::move(weights), .deadline = deadline};
  return Interpreter(graph, options).run(inputs);
}

}  // namespace rlgo::exec
