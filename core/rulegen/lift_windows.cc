#include "core/rulegen/lift_windows.h"

#include "core/base/error.h"
#include "core/base/text.h"

namespace rlgo::rulegen {

std::string list_text(std::span<const int> values) {
  std::vector<std::string> parts;
  for (int v : values) parts.push_back(std::to_string(v));
  return "[" + join(parts, ", ") + "]";
}

WindowText::WindowText(const Family& family, const Candidate& pair, const LiftStyle& style)
    : family_(family), style_(style) {
  for (int side : {0, 1}) {
    for (const auto& step : (side == 0 ? pair.source : pair.target).steps) {
      const auto& config = family_.configs[step.config];
      if (config.op == ops::Op::pad) (side == 0 ? enlarges_left_ : enlarges_right_) = true;
      if (config.op != ops::Op::conv2d) continue;
      acts_ |= config.act == Act::none ? 1 : 2;
      groups_ |= config.group == 1 ? 1 : 2;
      kernels_ |= config.kernel[0] == 1 ? 1 : 2;
      if (side == 0) kernels_left_ |= config.kernel[0] == 1 ? 1 : 2;
    }
  }
}

std::string WindowText::conv(int side, const Step& step, const OpConfig& config,
                             std::vector<std::string>& guards) const {
  std::vector<std::string> parts;
  const bool plain = style_.windows == 3;
  const bool point = config.kernel[0] == 1 && kernels_ == 3 && !enlarges() && style_.windows >= 2;
  if (acts_ == 3 || style_.windows >= 1) parts.push_back(config.act == Act::none ? "act=none" : "act=relu");
  if (groups_ == 3 || style_.windows >= 2) parts.push_back(fmt::format("group={}", config.group));
  if (plain || point) {
    parts.push_back("strides=[1, 1] dilations=[1, 1] pads=" + list_text(config.pads));
    if (side == 0 && step.operands[1] < family_.variables.size()) {
      const std::string& w = family_.variables[step.operands[1]].name;
      guards.push_back(
          fmt::format("dim(?{}, 2) == {} and dim(?{}, 3) == {}", w, config.kernel[0], w, config.kernel[1]));
    }
  } else if (enlarges()) {
    parts.push_back("dilations=[1, 1] pads=" + window_pads(config, guards) + " ..?A");
  } else {
    parts.push_back(config.kernel[0] == 1 && kernels_ == 3 ? "..?B" : "..?A");
  }
  return join(parts, " ");
}

// Enlarging a kernel takes as much more padding.
std::string WindowText::window_pads(const OpConfig& config, std::vector<std::string>& guards) const {
  const bool large = config.kernel[0] == 3, bound_large = kernels_left_ != 1;
  std::vector<std::string> parts;
  for (int k = 0; k < 4; ++k) {
    std::string text = fmt::format("?q{}", k);
    const std::string more = enlarges_left_ ? fmt::format("?e{}", k) : "1";
    if (large != bound_large) text += (large ? " + " : " - ") + more;
    if (large != bound_large && !large) guards.push_back(fmt::format("?q{} >= {}", k, more));
    parts.push_back(text);
  }
  return "[" + join(parts, ", ") + "]";
}
std::string WindowText::enlarge(int side) const {
  if (style_.windows == 3) return "[0, 0, 1, 1, 0, 0, 1, 1]";
  if (side == 1 && !enlarges_left_) return "[0, 0, 1, 1, 0, 0, 1, 1]";
  return "[0, 0, ?e0, ?e1, 0, 0, ?e2, ?e3]";
}

std::string WindowText::pool(const OpConfig& config) const {
  const bool maximum = config.op == ops::Op::max_pool;
  const std::string extra = maximum ? "dilations=[1, 1]" : fmt::format("count_include_pad={}", int{config.count_pads});
  if (style_.windows == 3) {
    return "kernel=[3, 3] strides=[1, 1] pads=[1, 1, 1, 1] ceil_mode=0 " + extra;
  }
  const std::string bundle = maximum ? "..?P" : "..?Q";
  return style_.windows == 0 ? bundle : extra + (style_.windows == 2 ? " ceil_mode=0 " : " ") + bundle;
}

void add_shape_demands(const Family& family, const SymbolicPair& symbols, std::span<const int> free, bool extents,
                       std::vector<std::string>& guards) {
  const auto leaves = [&](int v) {
    std::vector<std::vector<int>> all;
    for (int node : symbols.source[v]) all.push_back(symbols.segments.leaves(node));
    return all;
  };
  for (size_t b = 1; b < free.size(); ++b) {
    for (size_t a = 0; a < b; ++a) {
      const auto left = leaves(free[a]), right = leaves(free[b]);
      const std::string &x = family.variables[free[a]].name, &z = family.variables[free[b]].name;
      if (left == right && !left.empty()) {
        guards.push_back(fmt::format("shape(?{}) == shape(?{})", x, z));
        continue;
      }
      for (size_t i = 0; i < left.size() && extents; ++i) {
        for (size_t j = 0; j < right.size(); ++j) {
          if (left[i] != right[j] || (left[i].size() == 1 && symbols.segments.is_fixed(left[i][0]))) continue;
          guards.push_back(
              fmt::format("dim(?{}, {}) == dim(?{}, {})", x, int(i) - int(left.size()), z, int(j) - int(right.size())));
        }
      }
    }
  }
}

}  // namespace rlgo::rulegen
