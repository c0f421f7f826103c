// Attributes of the operators of the rule that is written: axes, permutations, sizes, shapes.
#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/rulegen/generate/rule_writer_parts.h"

namespace rlgo::rulegen {

std::string RuleWriter::axis_text(int side, int s, int axis) {
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
    for (const auto& [other, other_name] : axis_names_)
      conditions_.push_back(fmt::format("{} != {}", other_name, name));
  } else {
    conditions_.push_back(name + " == " + from_last(side, tensor, axis));
  }
  axis_names_[key] = name;
  axis_place_ = place_of(0, s);
  return name;
}

int RuleWriter::place_of(int side, int s) const {
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

std::string RuleWriter::moved_axis(int s) const {
  if (axis_names_.size() != 1 || perm_names_.size() != 1) return "";
  const int place = place_of(1, s);
  if (place * axis_place_ != -1) return "";
  const std::string &perm = perm_names_.begin()->second, &axis = axis_names_.begin()->second;
  return place == 1 ? fmt::format("index_of({}, {})", perm, axis) : fmt::format("{}[{}]", perm, axis);
}

std::string RuleWriter::length_text(const std::vector<int>& wanted, int axis, int of_rank) {
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

std::string RuleWriter::sizes(int side, int s, int axis) {
  std::array<std::string, 2> parts;
  const int first = static_cast<int>(views_[side].first(s)), of_rank = rank(side, first);
  for (int port : {0, 1}) {
    const auto wanted = symbols_.segments.leaves(dims(side)[first + port][axis]);
    const std::string text = length_text(wanted, axis, of_rank);
    if (side == 1) {
      if (text.empty()) throw Inexpressible();
      parts[port] = text;
      continue;
    }
    const auto same = std::ranges::find(sizes_, wanted, [](const auto& entry) { return entry.first; });
    if (same != sizes_.end()) {
      parts[port] = same->second;
      continue;
    }
    parts[port] = fmt::format("?n{}", sizes_.size());
    if (!text.empty()) conditions_.push_back(parts[port] + " == " + text);
    sizes_.emplace_back(wanted, parts[port]);
  }
  return fmt::format("[{}, {}]", parts[0], parts[1]);
}

std::string RuleWriter::perm_text(int side, const OpStep& step, const OpConfig& config) {
  if (style_.axes == 2) return list_text(config.perm);
  const auto known = perm_names_.find(config.perm);
  if (known != perm_names_.end()) return known->second;
  const int n = static_cast<int>(config.perm.size());
  const bool last_two = config.perm[n - 1] == n - 2;
  const std::string w = witness(side, step.operands[0]);
  const std::string swap = fmt::format("cat(iota(rank(?{}) - 2), rank(?{}) - 1, rank(?{}) - 2)", w, w, w);
  if (side == 1) {
    if (!last_two) throw Inexpressible();
    return swap;
  }
  const std::string name = fmt::format("?p{}", perm_names_.size());
  if (style_.axes == 1 && last_two) conditions_.push_back(name + " == " + swap);
  if (style_.axes == 1 && !last_two) conditions_.push_back(name + "[-1] == rank(?" + w + ") - 1");
  perm_names_[config.perm] = name;
  return name;
}

std::string RuleWriter::shape_text(int side, int s) {
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
  if (side == 1) throw Inexpressible();
  const std::string name = fmt::format("?s{}", shapes_.size());
  const OpStep& step = pair_.source.steps[s];
  if (style_.axes == 1) {
    const std::string operand = is_free(step.operands[0]) ? family_.variables[step.operands[0]].name : "";
    if (operand.empty()) throw Inexpressible();
    conditions_.push_back(fmt::format("{}[-1] == dim(?{}, -1)", name, operand));
  }
  if (style_.axes == 2) {
    if (!is_free(step.operands[0])) throw Inexpressible();
    const std::string& x = family_.variables[step.operands[0]].name;
    conditions_.push_back(fmt::format("{} == [dim(?{}, 0) * dim(?{}, 1), dim(?{}, 2)]", name, x, x, x));
  }
  shapes_.emplace_back(leaves, name);
  return name;
}
}  // namespace rlgo::rulegen
