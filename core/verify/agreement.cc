#include "core/verify/agreement.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/verify/equivalence.h"
#include "core/verify/reference_runs.h"

namespace rlgo::verify {
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
  std::optional<evaluate::Interpreter> second;
  struct Got {
    ops::Shape sizes;
    ops::DType type = ops::DType::f64;
    std::vector<double> values;  // at the places that are kept; none where sizes differ
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

  // What of a value of `after` is held against `old`.
  static Got got_of(const Kept& old, const Tensor& tensor) {
    Got got{tensor.shape(), tensor.dtype(), {}};
    if (got.sizes == old.sizes) got.values = picked(tensor, old.places);
    return got;
  }

  // What comparing one element found.
  struct Judged {
    bool suspect = false;  // it differs beyond the tolerance
    bool unstable = false, rounded = false;
  };
  // By the noise of that level, if any; `typical`: its median over the elements.
  Judged judge_element(const Kept& old, double got, size_t k, std::optional<Noise> level, double typical) const {
    const bool floats = ops::is_float(old.type);
    const double expected = old.values[k], error = std::abs(got - expected), scale = floats ? old.scale[k] : 1;
    Judged judged;
    judged.suspect = floats ? std::isfinite(expected) && !(error <= scale * options.tolerance) : expected != got;
    if (!judged.suspect) return judged;
    if (!level) {
      judged.rounded = assume && floats && error <= kAssumedNoise * scale;
      return judged;
    }
    const double noise = old.noise[static_cast<size_t>(*level)][k], bound = kNoiseFactor * (noise + typical);
    judged.unstable = !std::isfinite(noise) || error <= bound;
    judged.rounded = judged.unstable && level == Noise::constants && bound <= kTelling * scale;
    judged.unstable = judged.unstable && !judged.rounded;
    return judged;
  }

  // Judges one value; true where noisy runs are needed for it.
  bool judge(const std::string& where, const Kept& old, const Got& given, std::optional<Noise> level, bool& compared) {
    if (old.sizes != given.sizes || ops::is_float(old.type) != ops::is_float(given.type)) {
      found.wrong = true;
      found.error = std::numeric_limits<double>::infinity();
      found.worst = where + " has another shape or type";
      return false;
    }
    const double typical = level ? typical_of(old.noise[static_cast<size_t>(*level)]) : 0;
    double error = 0;
    for (size_t k = 0; k < old.values.size(); ++k) {
      const double expected = old.values[k], got = given.values[k];
      const Judged element = judge_element(old, got, k, level, typical);
      if (element.suspect && !level && !element.rounded) return true;
      found.unstable += element.unstable ? 1 : 0;
      found.rounded += element.rounded ? 1 : 0;
      compared = compared || element.rounded;
      if (!std::isfinite(expected)) {
        ++found.undefined;
        found.undefined_differ += expected == got || (std::isnan(expected) && std::isnan(got)) ? 0 : 1;
      } else if (!element.unstable && !element.rounded) {
        ++found.compared;
        compared = true;
        found.wrong = found.wrong || element.suspect;
        const double scale = old.scale.empty() ? 1 : old.scale[k];
        error = std::max(error, or_infinite(std::abs(got - expected) / scale));
      }
    }
    note(where, error);
    return false;
  }

  // The lower median; 0 stands for what is not finite.
  static double typical_of(const std::vector<double>& noise) {
    if (noise.empty()) return 0;
    std::vector<double> sizes(noise.size());
    std::ranges::transform(noise, sizes.begin(), or_zero);
    const auto middle = sizes.begin() + static_cast<ptrdiff_t>((sizes.size() - 1) / 2);
    std::ranges::nth_element(sizes, middle);
    return *middle;
  }

  // Runs the other graph and picks what is compared.
  void run_second(int set) {
    inner_got.clear();
    outputs_got.clear();
    const auto& kept = runs->inner(set);
    const auto now = second->run(runs->inputs(set), [&](Value value, Tensor& tensor) {
      const auto at = readers.find(key(value));
      if (at == readers.end()) return;
      for (const Value old : at->second) {
        const auto known = kept.find(key(old));
        if (known != kept.end()) inner_got.push_back({old, value, got_of(known->second, tensor)});
      }
    });
    for (const auto& [name, old] : runs->kept_outputs(set)) outputs_got[name] = got_of(old, now.at(name));
  }

  // By the noise of that level, if any. False: noisy runs are needed before anything can be stated.
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
    auto& [low, high] = ranges[output];
    for (const double value : kept.values) {
      if (!std::isfinite(value)) continue;
      low = std::min(low, value);
      high = std::max(high, value);
    }
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
  s.second.emplace(after, evaluate::InterpreterOptions{.precision = Precision::f64,
                                                       .weights = s.runs->weights(),
                                                       .deadline = s.runs->deadline(),
                                                       .threads = options.threads});
}

AgreementCheck::~AgreementCheck() = default;

void AgreementCheck::run(const TensorMap& inputs) { run(impl_->runs->add(inputs)); }

void AgreementCheck::run(int set) {
  Impl& s = *impl_;
  if (!s.found.interface.empty()) return;
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
  auto inputs =
      evaluate::random_inputs(graph, hash_combine(seed, static_cast<uint64_t>(kind)), kMagnitudes[kind], kind == 0);
  if (kind != 1) return inputs;
  for (auto& input : inputs) {
    Tensor& tensor = input.second;
    if (!has_floats(tensor)) continue;
    evaluate::visit_float(tensor.dtype(), [&]<typename T>() {
      for (T& x : std::span(tensor.data<T>(), static_cast<size_t>(tensor.elements()))) {
        const double size = std::abs(static_cast<double>(x));
        x = static_cast<T>(size - std::floor(size));
      }
    });
  }
  return inputs;
}

namespace {

// What errors of an output's elements are relative to: the largest magnitude of each channel (of all, where it has
// fewer than three axes).
std::vector<double> scales_of(const Tensor& expected) {
  const bool by_channel = expected.rank() >= 3;
  const int64_t channels = by_channel ? expected.shape()[1] : 1;
  const int64_t area = by_channel ? expected.elements() / (expected.shape()[0] * channels) : expected.elements();
  std::vector<double> scales(static_cast<size_t>(channels), 0);
  each_number(expected, [&](int64_t place, double number) {
    double& scale = scales[static_cast<size_t>(place / area % channels)];
    scale = std::max(scale, or_zero(std::abs(number)));
  });
  const double least = std::max(1e-3 * std::ranges::max(scales), kLeastScale);
  for (double& scale : scales) scale = std::max(scale, least);
  return scales;
}

double error_of(const Tensor& expected, const Tensor& got) {
  if (expected.elements() == 0) return 0;
  const auto numbers = numbers_of(got);
  if (!has_floats(expected)) return numbers == numbers_of(expected) ? 0 : 1;
  const auto scales = scales_of(expected);
  const auto channels = static_cast<int64_t>(scales.size());
  const int64_t area = channels > 1 ? expected.elements() / (expected.shape()[0] * channels) : expected.elements();
  double error = 0;
  each_number(expected, [&](int64_t place, double number) {
    if (!std::isfinite(number)) return;
    const double scale = scales[static_cast<size_t>(place / area % channels)];
    error = std::max(error, or_infinite(std::abs(number - numbers[static_cast<size_t>(place)]) / scale));
  });
  return error;
}

}  // namespace

OutputErrors output_errors(const TensorMap& reference, const TensorMap& got) {
  OutputErrors out;
  for (const auto& [name, expected] : reference) {
    const auto at = got.find(name);
    const bool comparable = at != got.end() && at->second.shape() == expected.shape();
    out[name] = comparable ? error_of(expected, at->second) : std::numeric_limits<double>::infinity();
  }
  return out;
}

TensorMap native_outputs(const Graph& graph, const TensorMap& inputs, int threads, const Deadline& deadline) {
  return evaluate::Interpreter(graph, {.deadline = deadline, .threads = threads}).run(inputs);
}

TensorMap exact_outputs(const Graph& graph, const TensorMap& inputs, int threads, std::shared_ptr<WeightStore> weights,
                        const Deadline& deadline) {
  const evaluate::InterpreterOptions options{
      .precision = Precision::f64, .weights = std::move(weights), .deadline = deadline, .threads = threads};
  return evaluate::Interpreter(graph, options).run(inputs);
}

}  // namespace rlgo::verify
