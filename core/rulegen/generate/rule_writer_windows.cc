#include "core/rulegen/generate/rule_writer_windows.h"

#include <map>

#include "core/base/error.h"
#include "core/base/text.h"

namespace rlgo::rulegen {

std::string list_text(std::span<const int> values) {
  std::vector<std::string> parts;
  for (int v : values) parts.push_back(std::to_string(v));
  return "[" + join(parts, ", ") + "]";
}

WindowText::WindowText(const Family& family, const Candidate& pair, const RuleStyle& style)
    : family_(family), style_(style) {
  std::map<std::pair<ops::Op, bool>, const OpConfig*> first;  // by operator, and whether the kernel is one place
  bool depthwise = false, pools = false;
  for (int side : {0, 1}) {
    for (const auto& step : (side == 0 ? pair.source : pair.target).steps) {
      const auto& config = family_.configs[step.config];
      if (config.op == ops::Op::pad) (side == 0 ? enlarges_left_ : enlarges_right_) = true;
      const bool pool = config.op == ops::Op::max_pool || config.op == ops::Op::avg_pool;
      pools |= pool;
      depthwise |= config.depthwise;
      if (config.op != ops::Op::conv2d && !pool) continue;
      const auto [held, fresh] = first.try_emplace({config.op, config.kernel[0] == 1}, &config);
      mixed_ |= held->second->strides != config.strides || held->second->kernel != config.kernel ||
                held->second->pads != config.pads;
      if (pool) continue;
      acts_ |= config.act == Act::none ? 1 : 2;
      groups_ |= config.group == 1 ? 1 : 2;
      kernels_ |= config.kernel[0] == 1 ? 1 : 2;
      if (side == 0) kernels_left_ |= config.kernel[0] == 1 ? 1 : 2;
    }
  }
  mixed_ |= depthwise && pools;
}

std::string WindowText::conv(int side, const OpStep& step, const OpConfig& config, const std::string& channels,
                             std::vector<std::string>& conditions) const {
  std::vector<std::string> parts;
  const bool plain = style_.windows == 3 || mixed_;
  const bool point = config.kernel[0] == 1 && kernels_ == 3 && !enlarges() && style_.windows >= 2;
  const int w = step.operands[1];
  const bool variable = side == 0 && w < static_cast<int>(family_.variables.size());
  const std::string kernel = variable ? family_.variables[w].name : "";
  if (acts_ == 3 || style_.windows >= 1) parts.push_back(config.act == Act::none ? "act=none" : "act=relu");
  if (config.depthwise) {
    parts.push_back("group=" + (side == 0 ? std::string("?g") : channels));
    if (variable) conditions.push_back(fmt::format("dim(?{}, 1) == 1 and dim(?{}, 0) == ?g", kernel, kernel));
  } else if (groups_ == 3 || style_.windows >= 2) {
    parts.push_back(fmt::format("group={}", config.group));
  }
  if (plain || point) {
    parts.push_back(
        fmt::format("strides={} dilations=[1, 1] pads={}", list_text(config.strides), list_text(config.pads)));
    if (variable)
      conditions.push_back(
          fmt::format("dim(?{}, 2) == {} and dim(?{}, 3) == {}", kernel, config.kernel[0], kernel, config.kernel[1]));
  } else if (enlarges()) {
    parts.push_back("dilations=[1, 1] pads=" + window_pads(config, conditions) + " ..?A");
  } else {
    parts.push_back(config.kernel[0] == 1 && kernels_ == 3 ? "..?B" : "..?A");
  }
  return join(parts, " ");
}

// Enlarging a kernel takes as much more padding.
std::string WindowText::window_pads(const OpConfig& config, std::vector<std::string>& conditions) const {
  const bool large = config.kernel[0] == 3, bound_large = kernels_left_ != 1;
  std::vector<std::string> parts;
  for (int k = 0; k < 4; ++k) {
    std::string text = fmt::format("?q{}", k);
    const std::string more = enlarges_left_ ? fmt::format("?e{}", k) : "1";
    if (large != bound_large) text += (large ? " + " : " - ") + more;
    if (large != bound_large && !large) conditions.push_back(fmt::format("?q{} >= {}", k, more));
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
  if (style_.windows == 3 || mixed_)
    return fmt::format("kernel={} strides={} pads={} ceil_mode=0 {}", list_text(config.kernel),
                       list_text(config.strides), list_text(config.pads), extra);
  const std::string bundle = maximum ? "..?P" : "..?Q";
  return style_.windows == 0 ? bundle : extra + (style_.windows == 2 ? " ceil_mode=0 " : " ") + bundle;
}

std::string constant_text(int constant, std::span<const std::string> extents, const std::string& type) {
  const std::string all = join(std::vector<std::string>(extents.begin(), extents.end()), ", ");
  if (constant == kIdentity) {
    return fmt::format(
        "(reshape (slice (reshape (pad (fill shape=[{0}, 1] value=1.0 {1}) pads=[0, 0, 0, {0}]) shape=[{0} * ({0} + "
        "1)]) axes=[0] starts=[0] ends=[{0} * {0}]) shape=[{2}])",
        extents[0], type, all);
  }
  const std::string value =
      constant == kMean ? fmt::format("1.0 / ({} * {})", extents[2], extents[3]) : fmt::format("{}.0", constant);
  return fmt::format("(fill shape=[{}] value={} {})", all, value, type);
}

void add_rank_demands(const Family& family, std::span<const int> free, int ranks,
                      std::vector<std::string>& conditions) {
  std::map<size_t, std::string> first;
  for (int v : free) {
    const auto& variable = family.variables[v];
    const size_t rank = variable.shape.size();
    if (variable.role == 's' || ranks == 2) {
      conditions.push_back(fmt::format("rank(?{}) == {}", variable.name, rank));
    } else if (ranks == 1) {
      const auto [held, fresh] = first.try_emplace(rank, variable.name);
      if (!fresh) conditions.push_back(fmt::format("rank(?{}) == rank(?{})", held->second, variable.name));
    }
  }
}

void add_shape_demands(const Family& family, const SymbolicPair& symbols, std::span<const int> free, bool extents,
                       std::vector<std::string>& conditions) {
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
        conditions.push_back(fmt::format("shape(?{}) == shape(?{})", x, z));
        continue;
      }
      for (size_t i = 0; i < left.size() && extents; ++i) {
        for (size_t j = 0; j < right.size(); ++j) {
          if (left[i] != right[j] || (left[i].size() == 1 && symbols.segments.is_fixed(left[i][0]))) continue;
          conditions.push_back(
              fmt::format("dim(?{}, {}) == dim(?{}, {})", x, int(i) - int(left.size()), z, int(j) - int(right.size())));
        }
      }
    }
  }
}

}  // namespace rlgo::rulegen
