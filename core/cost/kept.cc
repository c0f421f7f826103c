#include "core/cost/kept.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "core/base/error.h"
#include "core/base/text.h"

namespace rlgo::cost {

double KeptOperators::fraction() const {
  double sum = 0;
  for (const auto& [type, kind] : kinds) sum += kind.fraction;
  return sum;
}

KeptOperators kept_operators(const graph::Graph& graph, std::span<const OperatorTime> times) {
  KeptOperators out;
  std::unordered_set<std::string> known;
  for (const graph::NodeId id : graph.order()) {
    const auto& node = graph.node(id);
    if (node.info->opaque == nullptr) {
      if (!node.info->name.empty()) known.insert(node.info->name);
    } else if (!node.constant) {
      ++out.kinds[node.info->opaque->op_type].count;
    }
  }
  double total = 0;
  for (const OperatorTime& one : times) total += one.us;
  out.timed = total > 0;
  for (const OperatorTime& one : times) {
    const auto kind = out.kinds.find(one.op);
    if (kind != out.kinds.end() && !known.contains(one.name)) kind->second.fraction += one.us / total;
  }
  return out;
}

std::string to_text(const KeptOperators& kept) {
  if (kept.kinds.empty()) return "none";
  std::vector<std::pair<std::string, KeptOperators::Kind>> order(kept.kinds.begin(), kept.kinds.end());
  std::ranges::stable_sort(order, [](const auto& a, const auto& b) {
    return std::pair(a.second.fraction, a.second.count) > std::pair(b.second.fraction, b.second.count);
  });
  std::vector<std::string> parts;
  for (const auto& [type, kind] : order)
    parts.push_back(kept.timed ? fmt::format("{} {} {:.1f} %", kind.count, type, 100 * kind.fraction)
                               : fmt::format("{} {}", kind.count, type));
  return (kept.timed ? fmt::format("{:.1f} % of its time: ", 100 * kept.fraction()) : "") + join(parts, ", ");
}

}  // namespace rlgo::cost
