#include "core/optimise/before_after.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>

#include "core/base/error.h"
#include "core/base/text.h"

namespace rlgo::optimise {
namespace {

constexpr size_t kMostOperators = 6;  // lines of the table
constexpr size_t kMostKinds = 5;      // of operators whose time is named

std::string row(const std::string& name, const std::string& before, const std::string& after) {
  return fmt::format("  {:<14} {:>11} {:>11}\n", name, before, after);
}

std::string bytes(int64_t count) { return human_bytes(static_cast<double>(count)); }

}  // namespace

std::string before_after_table(const Result& result) {
  if (!result.touched) return {};
  std::string out = row("", "before", "after");
  if (const Latency& timed = result.end_to_end; timed.ok())
    out += row("latency", milliseconds(timed.before_us), milliseconds(timed.after_us()));
  const auto& [before, after] = result.end_to_end.loading;
  if (before.known() && after.known()) {
    out +=
        row("load time", fmt::format("{:.1f} ms", 1e3 * before.seconds), fmt::format("{:.1f} ms", 1e3 * after.seconds));
    if (before.bytes > 0 && after.bytes > 0) out += row("peak memory", bytes(before.bytes), bytes(after.bytes));
  }
  if (result.bytes_before > 0 && result.bytes_after > 0)
    out += row("file", bytes(result.bytes_before), bytes(result.bytes_after));
  auto counts = operator_counts(result.before, result.best().graph);
  const auto sum = [&](int OperatorCount::*side) {
    return std::accumulate(counts.begin(), counts.end(), 0, [side](int n, const auto& op) { return n + op.*side; });
  };
  out +=
      row("operators", fmt::format("{}", sum(&OperatorCount::before)), fmt::format("{}", sum(&OperatorCount::after)));
  std::erase_if(counts, [](const auto& op) { return op.before == op.after; });
  std::ranges::stable_sort(counts, std::greater<>(), [](const auto& op) { return std::abs(op.after - op.before); });
  for (size_t k = 0; k < std::min(counts.size(), kMostOperators); ++k)
    out += row("  " + counts[k].name, fmt::format("{}", counts[k].before), fmt::format("{}", counts[k].after));
  if (counts.size() > kMostOperators)
    out += fmt::format("    and {}\n", counted(counts.size() - kMostOperators, "other"));
  return out;
}

std::string time_by_operators(const Result& result) {
  struct Kind {
    double us = 0;
    int count = 0;
  };
  std::map<std::string, Kind> kinds;
  double all_us = 0;
  for (const auto id : result.before.order()) {
    if (static_cast<size_t>(id) >= result.before_op_us.size()) return {};
    const auto& node = result.before.node(id);
    const double us = result.before_op_us[static_cast<size_t>(id)];
    if (node.constant || us <= 0) continue;
    Kind& kind = kinds[node.info->opaque ? node.info->opaque->op_type : std::string(ops::name(node.op()))];
    kind.us += us;
    ++kind.count;
    all_us += us;
  }
  std::vector<std::pair<std::string, Kind>> order(kinds.begin(), kinds.end());
  std::ranges::stable_sort(order, std::greater<>(), [](const auto& kind) { return kind.second.us; });
  order.resize(std::min(order.size(), kMostKinds));
  std::vector<std::string> parts;
  for (const auto& [name, kind] : order)
    parts.push_back(fmt::format("{} {:.0f} % ({})", name, 100 * kind.us / all_us, kind.count));
  return join(parts, ", ");
}

}  // namespace rlgo::optimise
