// Writes a pair of graphs as a rule.
#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/rulegen/generate/rule_writer_parts.h"

namespace rlgo::rulegen {

std::string RuleWriter::body() {
  choose_left_names();
  std::string left;
  for (size_t s = 0; s < pair_.source.steps.size(); ++s) {
    if (names_[0].contains(static_cast<int>(s))) left += fmt::format("  ?{} = {}\n", names_[0].at(s), node(0, s));
  }
  std::string right;
  for (size_t s = 0; s < pair_.target.steps.size(); ++s) {
    if (names_[1].contains(static_cast<int>(s))) right += fmt::format("     ?{} = {}\n", names_[1].at(s), node(1, s));
  }
  for (size_t k = 0; k < pair_.source.outputs.size(); ++k) {
    const std::string old = reference(0, pair_.source.outputs[k]);
    right += fmt::format("     {} = {}\n", old, result(pair_.target.outputs[k], old));
  }
  right.replace(0, 5, "  => ");
  demand_types();
  std::string when;
  for (const auto& condition : conditions_) when += "  when " + condition + "\n";
  return constants_ + left + when + right;
}

bool RuleWriter::is_free(int tensor) const {
  return tensor < static_cast<int>(family_.variables.size()) && family_.variables[tensor].constant < 0;
}

void RuleWriter::count_readers(int side) {
  readers_[side].assign(views_[side].size(), 0);
  for (const auto& step : sketch(side).steps) {
    for (int k = 0; k < family_.configs[step.config].arity; ++k) ++readers_[side][step.operands[k]];
  }
  for (int output : sketch(side).outputs) ++readers_[side][output];
}

void RuleWriter::choose_left_names() {
  int inner = 0;
  for (int side : {0, 1}) {
    for (size_t s = 0; s < sketch(side).steps.size(); ++s) {
      const auto& config = family_.configs[sketch(side).steps[s].config];
      const int first = static_cast<int>(views_[side].first(s));
      const bool output = std::ranges::find(sketch(side).outputs, first) != sketch(side).outputs.end();
      const bool named = config.outputs > 1 || readers_[side][first] > 1 || (side == 0 && output);
      if (named) names_[side][static_cast<int>(s)] = fmt::format("{}{}", output && side == 0 ? "r" : "t", ++inner);
    }
  }
  for (int output : pair_.source.outputs) {
    if (views_[0].step_of(output) < 0) throw Inexpressible();
  }
}

std::string RuleWriter::reference(int side, int tensor) {
  const int s = views_[side].step_of(tensor);
  if (s < 0) {
    const auto& variable = family_.variables[tensor];
    if (variable.constant < 0) return "?" + variable.name;
    if (variable.constant > 1 && on_left(tensor)) return named_constant(variable);
    return side == 0 ? std::to_string(variable.constant) : right_constant(tensor, variable);
  }
  const auto name = names_[side].find(s);
  if (name == names_[side].end()) return node(side, s);
  const bool ports = family_.configs[sketch(side).steps[s].config].outputs > 1;
  return "?" + name->second + (ports ? fmt::format(".{}", views_[side].port_of(tensor)) : "");
}

std::string RuleWriter::named_constant(const Variable& variable) {
  const std::string name = "?" + variable.name;
  if (!named_constants_.insert(name).second) return name;
  if (variable.constant == kMean) {
    conditions_.push_back(fmt::format("near(value({0}) * (dim({0}, 2) * dim({0}, 3)), 1.0)", name));
    return name;
  }
  // As constant_text() writes it, whatever the numbers of the inner shapes are.
  const std::string extent = name + "0", ones = variable.shape.size() == 4 ? ", 1, 1" : "";
  constants_ += fmt::format(
      "  {0} = (reshape (slice (reshape (pad (fill shape=[{1}, 1] value=1.0) pads=[0, 0, 0, {1}] value=0.0) "
      "shape={0}1) "
      "axes=[0] starts=[0] ends={0}2 steps=[1]) shape=[{1}, {1}{2}])\n",
      name, extent, ones);
  return name;
}

std::string RuleWriter::right_constant(int tensor, const Variable& variable) {
  const auto extent = [&](size_t axis) {
    const std::string text = length_text(symbols_.segments.leaves(symbols_.source[tensor][axis]), -1, -1);
    if (text.empty()) throw Inexpressible();
    return text.find('+') == std::string::npos ? text : "(" + text + ")";
  };
  std::vector<std::string> extents;
  for (size_t axis = 0; axis < variable.shape.size(); ++axis) {
    const bool fixed = axis >= 2 || (variable.constant == kMean && axis == 1);
    extents.push_back(fixed ? std::to_string(variable.shape[axis]) : extent(axis));
  }
  return constant_text(variable.constant, extents, "to=dtype(?" + typed_variable() + ")");
}

std::string RuleWriter::typed_variable() const {
  for (size_t v = 0; v < family_.variables.size(); ++v) {
    if (is_free(static_cast<int>(v)) && on_left(static_cast<int>(v))) return family_.variables[v].name;
  }
  throw Inexpressible();
}

std::string RuleWriter::result(int tensor, const std::string& old) {
  if (tensor < static_cast<int>(family_.variables.size()) && family_.variables[tensor].constant >= 0) {
    if (family_.variables[tensor].constant > 1) throw Inexpressible();
    return fmt::format("(fill shape=shape({}) value={}.0 to=dtype({}))", old, family_.variables[tensor].constant, old);
  }
  if (surrounded()) {
    return fmt::format("(concat ?ls... {} ?rs... axis={})", reference(1, tensor), around_axis_);
  }
  return reference(1, tensor);
}

bool RuleWriter::surrounded() const {
  if (style_.among == 0 || pair_.source.outputs.size() != 1) return false;
  const auto& root = pair_.source.steps[views_[0].step_of(pair_.source.outputs[0])];
  if (family_.configs[root.config].op != ops::Op::concat) throw Inexpressible();
  const int s = views_[1].step_of(pair_.target.outputs[0]);
  if (s >= 0 && pair_.target.steps[s].config == root.config) throw Inexpressible();
  return true;
}

std::string RuleWriter::node(int side, int s) {
  const OpStep& step = sketch(side).steps[s];
  const auto& config = family_.configs[step.config];
  const bool opaque = config.act == Act::gelu && config.op == ops::Op::gelu;
  std::string text = "(" + (opaque ? activation_ : std::string(ops::name(config.op)));
  const bool root = side == 0 && pair_.source.outputs[0] == views_[0].first(s);
  const bool around = root && config.op == ops::Op::concat && surrounded();
  if (around) text += " ?ls...";
  const bool pointwise = config.op == ops::Op::add || config.op == ops::Op::mul;
  for (int k = 0; k < config.arity; ++k) {
    const int t = step.operands[k];
    const int number = t < static_cast<int>(family_.variables.size()) ? family_.variables[t].constant : -1;
    // Among elements of another tensor only the number counts.
    text += " " + (pointwise && (number == 0 || number == 1) ? std::to_string(number) : reference(side, t));
  }
  if (around) text += " ?rs...";
  if (style_.bias == 1 && (config.op == ops::Op::conv2d || config.op == ops::Op::matmul)) text += " ?bias...";
  if (opaque && (activation_ == "gelu" || activation_ == "leaky_relu" || activation_ == "clip" ||
                 activation_ == "hard_sigmoid")) {
    text += " ..?F";
  }
  const std::string attrs = attributes(side, s, step, config);
  if (around) around_axis_ = axis_text(0, s, axis_of(0, step, config));
  return text + (attrs.empty() ? "" : " " + attrs) + ")";
}

int RuleWriter::axis_of(int side, const OpStep& step, const OpConfig& config) const {
  return config.axis < 0 ? rank(side, step.operands[0]) + config.axis : config.axis;
}

std::string RuleWriter::attributes(int side, int s, const OpStep& step, const OpConfig& config) {
  using ops::Op;
  const int axis = axis_of(side, step, config);
  switch (config.op) {
    case Op::concat:
    case Op::softmax:
      return "axis=" + axis_text(side, s, axis);
    case Op::layer_norm:
      return "axis=" + axis_text(side, s, axis) + " ..?L";
    case Op::reduce_mean:
    case Op::reduce_sum:
      return "axes=[" + axis_text(side, s, axis) + "] keepdims=1";
    case Op::split:
      return fmt::format("axis={} sizes={}", axis_text(side, s, axis), sizes(side, s, axis));
    case Op::transpose:
      return "perm=" + perm_text(side, step, config);
    case Op::reshape:
      return "shape=" + shape_text(side, s);
    case Op::conv2d:
      return windows_.conv(side, step, config, config.depthwise && side == 1 ? channels(step) : "", conditions_);
    case Op::max_pool:
    case Op::avg_pool:
      return windows_.pool(config);
    case Op::pad:
      return "pads=" + windows_.enlarge(side);
    case Op::matmul:
      return style_.windows == 0 ? "..?M" : "";
    default:
      return "";
  }
}

std::string RuleWriter::channels(const OpStep& step) {
  const std::string text = length_text(symbols_.segments.leaves(dims(1)[step.operands[0]][1]), -1, -1);
  if (text.empty()) throw Inexpressible();
  return text;
}

std::string RuleWriter::witness(int side, int tensor) const {
  const int wanted = rank(side, tensor);
  for (int t = tensor;;) {
    if (is_free(t) && rank(side, t) == wanted) return family_.variables[t].name;
    const int s = views_[side].step_of(t);
    if (s < 0) throw Inexpressible();
    const OpStep& step = sketch(side).steps[s];
    int next = -1;
    for (int k = 0; k < family_.configs[step.config].arity && next < 0; ++k) {
      if (rank(side, step.operands[k]) == wanted) next = step.operands[k];
    }
    if (next < 0) throw Inexpressible();
    t = next;
  }
}

std::string RuleWriter::from_last(int side, int tensor, int axis) const {
  return fmt::format("rank(?{}) - {}", witness(side, tensor), rank(side, tensor) - axis);
}

void RuleWriter::demand_types() {
  std::vector<int> free;
  for (size_t v = 0; v < family_.variables.size(); ++v) {
    if (is_free(static_cast<int>(v)) && on_left(static_cast<int>(v))) free.push_back(static_cast<int>(v));
  }
  add_rank_demands(family_, free, style_.ranks, conditions_);
  if (style_.shapes != 0) add_shape_demands(family_, symbols_, free, style_.shapes == 2, conditions_);
}
std::optional<std::string> rule_text(const Family& family, const Candidate& pair, const SymbolicPair& symbols,
                                     const RuleStyle& style, const std::string& name, const std::string& activation) {
  try {
    const std::string body = RuleWriter(family, pair, symbols, style, activation).body();
    return fmt::format("rule {}\n  tags {}\n{}", name, join(rule_tags(family, pair), " "), body);
  } catch (const Inexpressible&) {
    return std::nullopt;
  }
}

}  // namespace rlgo::rulegen
