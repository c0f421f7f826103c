// Writes a pair of graphs as a rule.
#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/rulegen/lift.h"
#include "core/rulegen/lift_windows.h"
#include "core/rulegen/prune_term.h"

namespace rlgo::rulegen {
namespace {

struct Unsayable {};

class Writer {
 public:
  Writer(const Family& family, const Candidate& pair, const SymbolicPair& symbols, const LiftStyle& style,
         std::string activation)
      : family_(family),
        pair_(pair),
        symbols_(symbols),
        style_(style),
        activation_(std::move(activation)),
        views_{TermView(family, pair.source), TermView(family, pair.target)},
        windows_(family, pair, style) {
    for (int side : {0, 1}) count_readers(side);
  }

  std::string body() {
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
    demand_ranks();
    demand_shapes();
    std::string when;
    for (const auto& guard : guards_) when += "  when " + guard + "\n";
    return left + when + right;
  }

 private:
  const std::vector<DimList>& dims(int side) const { return side == 0 ? symbols_.source : symbols_.target; }
  const Sketch& sketch(int side) const { return side == 0 ? pair_.source : pair_.target; }
  int rank(int side, int tensor) const { return static_cast<int>(dims(side)[tensor].size()); }
  bool is_free(int tensor) const {
    return tensor < static_cast<int>(family_.variables.size()) && family_.variables[tensor].constant < 0;
  }

  void count_readers(int side) {
    readers_[side].assign(views_[side].size(), 0);
    for (const auto& step : sketch(side).steps) {
      for (int k = 0; k < family_.configs[step.config].arity; ++k) ++readers_[side][step.operands[k]];
    }
    for (int output : sketch(side).outputs) ++readers_[side][output];
  }

  void choose_left_names() {
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
      if (views_[0].step_of(output) < 0) throw Unsayable();
    }
  }

  std::string reference(int side, int tensor) {
    const int s = views_[side].step_of(tensor);
    if (s < 0) {
      const auto& variable = family_.variables[tensor];
      if (variable.constant < 0) return "?" + variable.name;
      if (side == 1) throw Unsayable();
      return std::to_string(variable.constant);
    }
    const auto name = names_[side].find(s);
    if (name == names_[side].end()) return node(side, s);
    const bool ports = family_.configs[sketch(side).steps[s].config].outputs > 1;
    return "?" + name->second + (ports ? fmt::format(".{}", views_[side].port_of(tensor)) : "");
  }

  std::string result(int tensor, const std::string& old) {
    if (tensor < static_cast<int>(family_.variables.size()) && family_.variables[tensor].constant >= 0) {
      return fmt::format("(fill shape=shape({}) value={}.0 to=dtype({}))", old, family_.variables[tensor].constant,
                         old);
    }
    if (surrounded()) {
      return fmt::format("(concat ?ls... {} ?rs... axis={})", reference(1, tensor), around_axis_);
    }
    return reference(1, tensor);
  }

  // The left root is a concat of two that may stand among others.
  bool surrounded() const {
    if (style_.among == 0 || pair_.source.outputs.size() != 1) return false;
    const auto& root = pair_.source.steps[views_[0].step_of(pair_.source.outputs[0])];
    if (family_.configs[root.config].op != ops::Op::concat) throw Unsayable();
    const int s = views_[1].step_of(pair_.target.outputs[0]);
    if (s >= 0 && pair_.target.steps[s].config == root.config) throw Unsayable();
    return true;
  }

  std::string node(int side, int s) {
    const Step& step = sketch(side).steps[s];
    const auto& config = family_.configs[step.config];
    const bool opaque = config.act == Act::gelu && config.op == ops::Op::gelu;
    std::string text = "(" + (opaque ? activation_ : std::string(ops::name(config.op)));
    const bool root = side == 0 && pair_.source.outputs[0] == views_[0].first(s);
    const bool around = root && config.op == ops::Op::concat && surrounded();
    if (around) text += " ?ls...";
    for (int k = 0; k < config.arity; ++k) text += " " + reference(side, step.operands[k]);
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

  int axis_of(int side, const Step& step, const OpConfig& config) const {
    return config.axis < 0 ? rank(side, step.operands[0]) + config.axis : config.axis;
  }

  std::string attributes(int side, int s, const Step& step, const OpConfig& config) {
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
        return windows_.conv(side, step, config, guards_);
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

  // A free variable that has a tensor's rank.
  std::string witness(int side, int tensor) const {
    const int wanted = rank(side, tensor);
    for (int t = tensor;;) {
      if (is_free(t) && rank(side, t) == wanted) return family_.variables[t].name;
      const int s = views_[side].step_of(t);
      if (s < 0) throw Unsayable();
      const Step& step = sketch(side).steps[s];
      int next = -1;
      for (int k = 0; k < family_.configs[step.config].arity && next < 0; ++k) {
        if (rank(side, step.operands[k]) == wanted) next = step.operands[k];
      }
      if (next < 0) throw Unsayable();
      t = next;
    }
  }
  std::string from_last(int side, int tensor, int axis) const {
    return fmt::format("rank(?{}) - {}", witness(side, tensor), rank(side, tensor) - axis);
  }

  std::string axis_text(int side, int s, int axis) {
    if (style_.axes == 2) return std::to_string(axis);
    const int tensor = sketch(side).steps[s].operands[0];
    const std::pair<int, int> key{axis, rank(side, tensor)};
    if (side == 1 && style_.axes == 0) {
      const std::string moved = moved_axis(s);
      if (!moved.empty()) return moved;
    }
    const auto known = axis_names_.find(key);
    if (known != axis_names_.end()) return known->second;
    if (side == 1) return from_last(side, tensor, axis);
    const std::string name = fmt::format("?k{}", axis_names_.size());
    if (style_.axes == 0) {
      for (const auto& [other, other_name] : axis_names_) guards_.push_back(other_name + " != " + name);
    } else {
      guards_.push_back(name + " == " + from_last(side, tensor, axis));
    }
    axis_names_[key] = name;
    axis_place_ = place_of(0, s);
    return name;
  }

  // 1: a transpose lies below the step; -1: above it; 0: neither.
  int place_of(int side, int s) const {
    const auto is_transpose = [&](int step) {
      return step >= 0 && family_.configs[sketch(side).steps[step].config].op == ops::Op::transpose;
    };
    const uint32_t below = views_[side].steps_below(static_cast<int>(views_[side].first(s)));
    for (int other = 0; other < static_cast<int>(sketch(side).steps.size()); ++other) {
      if (!is_transpose(other)) continue;
      if (other != s && (below >> other & 1u) != 0) return 1;
      if ((views_[side].steps_below(static_cast<int>(views_[side].first(other))) >> s & 1u) != 0) return -1;
    }
    return 0;
  }

  // The left side's one axis, where the one transpose has been moved past the operator that it belongs to.
  std::string moved_axis(int s) const {
    if (axis_names_.size() != 1 || perm_names_.size() != 1) return "";
    const int place = place_of(1, s);
    if (place * axis_place_ != -1) return "";
    const std::string &perm = perm_names_.begin()->second, &axis = axis_names_.begin()->second;
    return place == 1 ? fmt::format("index_of({}, {})", perm, axis) : fmt::format("{}[{}]", perm, axis);
  }

  // Extents that the left side names or that variables have, as sums of segments.
  std::string length_text(const std::vector<int>& wanted, int axis, int of_rank) {
    std::vector<std::pair<std::vector<int>, std::string>> known = sizes_;
    for (size_t v = 0; v < family_.variables.size(); ++v) {
      if (!is_free(static_cast<int>(v)) || !on_left(static_cast<int>(v))) continue;
      const auto& extents = symbols_.source[v];
      for (size_t d = 0; d < extents.size(); ++d) {
        const int r = static_cast<int>(extents.size());
        const auto name = axis_names_.find({static_cast<int>(d), r});
        std::string at = std::to_string(style_.axes == 2 ? static_cast<int>(d) : static_cast<int>(d) - r);
        if (name != axis_names_.end() && static_cast<int>(d) == axis && r == of_rank) at = name->second;
        known.emplace_back(symbols_.segments.leaves(extents[d]),
                           fmt::format("dim(?{}, {})", family_.variables[v].name, at));
      }
    }
    std::vector<std::string> parts;
    for (size_t at = 0; at < wanted.size();) {
      const auto fits = [&](const auto& entry) {
        return entry.first.size() <= wanted.size() - at &&
               std::equal(entry.first.begin(), entry.first.end(), wanted.begin() + static_cast<ptrdiff_t>(at));
      };
      const auto found = std::ranges::find_if(known, fits);
      if (found == known.end()) return "";
      parts.push_back(found->second);
      at += found->first.size();
    }
    return join(parts, " + ");
  }

  bool on_left(int variable) const { return readers_[0][variable] > 0; }

  std::string sizes(int side, int s, int axis) {
    std::array<std::string, 2> parts;
    const int first = static_cast<int>(views_[side].first(s)), of_rank = rank(side, first);
    for (int port : {0, 1}) {
      const auto wanted = symbols_.segments.leaves(dims(side)[first + port][axis]);
      const std::string text = length_text(wanted, axis, of_rank);
      if (side == 1) {
        if (text.empty()) throw Unsayable();
        parts[port] = text;
        continue;
      }
      const auto same = std::ranges::find(sizes_, wanted, [](const auto& entry) { return entry.first; });
      if (same != sizes_.end()) {
        parts[port] = same->second;
        continue;
      }
      parts[port] = fmt::format("?n{}", sizes_.size());
      if (!text.empty()) guards_.push_back(parts[port] + " == " + text);
      sizes_.emplace_back(wanted, parts[port]);
    }
    return fmt::format("[{}, {}]", parts[0], parts[1]);
  }

  std::string perm_text(int side, const Step& step, const OpConfig& config) {
    if (style_.axes == 2) return list_text(config.perm);
    const auto known = perm_names_.find(config.perm);
    if (known != perm_names_.end()) return known->second;
    const int n = static_cast<int>(config.perm.size());
    const bool last_two = config.perm[n - 1] == n - 2;
    const std::string w = witness(side, step.operands[0]);
    const std::string swap = fmt::format("cat(iota(rank(?{}) - 2), rank(?{}) - 1, rank(?{}) - 2)", w, w, w);
    if (side == 1) {
      if (!last_two) throw Unsayable();
      return swap;
    }
    const std::string name = fmt::format("?p{}", perm_names_.size());
    if (style_.axes == 1 && last_two) guards_.push_back(name + " == " + swap);
    if (style_.axes == 1 && !last_two) guards_.push_back(name + "[-1] == rank(?" + w + ") - 1");
    perm_names_[config.perm] = name;
    return name;
  }

  std::string shape_text(int side, int s) {
    const auto& shape = dims(side)[views_[side].first(s)];
    std::vector<std::vector<int>> leaves;
    for (int node : shape) leaves.push_back(symbols_.segments.leaves(node));
    if (side == 1) {
      for (size_t k = 0; k < pair_.target.outputs.size(); ++k) {
        if (views_[1].step_of(pair_.target.outputs[k]) == s) {
          return fmt::format("shape({})", reference(0, pair_.source.outputs[k]));
        }
      }
    }
    const auto known = std::ranges::find(shapes_, leaves, [](const auto& entry) { return entry.first; });
    if (known != shapes_.end()) return known->second;
    if (side == 1) throw Unsayable();
    const std::string name = fmt::format("?s{}", shapes_.size());
    const Step& step = pair_.source.steps[s];
    if (style_.axes == 1) {
      const std::string operand = is_free(step.operands[0]) ? family_.variables[step.operands[0]].name : "";
      if (operand.empty()) throw Unsayable();
      guards_.push_back(fmt::format("{}[-1] == dim(?{}, -1)", name, operand));
    }
    if (style_.axes == 2) {
      if (!is_free(step.operands[0])) throw Unsayable();
      const std::string& x = family_.variables[step.operands[0]].name;
      guards_.push_back(fmt::format("{} == [dim(?{}, 0) * dim(?{}, 1), dim(?{}, 2)]", name, x, x, x));
    }
    shapes_.emplace_back(leaves, name);
    return name;
  }

  // ---- conditions ---------------------------------------------------------------------------------------------------

  void demand_ranks() {
    std::map<int, std::string> first;
    for (size_t v = 0; v < family_.variables.size(); ++v) {
      if (!is_free(static_cast<int>(v)) || !on_left(static_cast<int>(v))) continue;
      const auto& variable = family_.variables[v];
      const int r = static_cast<int>(variable.shape.size());
      if (variable.role == 's' || style_.ranks == 2) {
        guards_.push_back(fmt::format("rank(?{}) == {}", variable.name, r));
      } else if (style_.ranks == 1) {
        const auto [held, fresh] = first.try_emplace(r, variable.name);
        if (!fresh) guards_.push_back(fmt::format("rank(?{}) == rank(?{})", held->second, variable.name));
      }
    }
  }

  void demand_shapes() {
    if (style_.shapes == 0) return;
    std::vector<int> free;
    for (size_t v = 0; v < family_.variables.size(); ++v) {
      if (is_free(static_cast<int>(v)) && on_left(static_cast<int>(v))) free.push_back(static_cast<int>(v));
    }
    add_shape_demands(family_, symbols_, free, style_.shapes == 2, guards_);
  }

  const Family& family_;
  const Candidate& pair_;
  const SymbolicPair& symbols_;
  const LiftStyle& style_;
  const std::string activation_;
  std::array<TermView, 2> views_;
  std::array<std::vector<int>, 2> readers_;
  std::array<std::map<int, std::string>, 2> names_;        // by step
  std::map<std::pair<int, int>, std::string> axis_names_;  // by axis and rank
  std::map<std::vector<int>, std::string> perm_names_;
  std::vector<std::pair<std::vector<int>, std::string>> sizes_;
  std::vector<std::pair<std::vector<std::vector<int>>, std::string>> shapes_;
  std::vector<std::string> guards_;
  WindowText windows_;
  std::string around_axis_;
  int axis_place_ = 0;
};

}  // namespace

std::optional<std::string> rule_text(const Family& family, const Candidate& pair, const SymbolicPair& symbols,
                                     const LiftStyle& style, const std::string& name, const std::string& activation) {
  try {
    const std::string body = Writer(family, pair, symbols, style, activation).body();
    return fmt::format("rule {}\n  tags {}\n{}", name, join(rule_tags(family, pair), " "), body);
  } catch (const Unsayable&) {
    return std::nullopt;
  }
}

}  // namespace rlgo::rulegen
