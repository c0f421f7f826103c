#include "core/optimise/check_coverage.h"

#include <algorithm>
#include <vector>

#include "core/base/error.h"
#include "core/base/text.h"

namespace rlgo::optimise {
namespace {

enum Seen : uint8_t { kBlind, kThrough, kDirect };

bool has_floats(const graph::Graph& graph, graph::NodeId id) {
  return std::ranges::any_of(graph.node(id).info->outputs, [](const ops::TensorType& type) {
    return ops::is_float(type.dtype) || type.dtype == ops::DType::other;
  });
}

}  // namespace

CheckCoverage check_coverage(const graph::Graph& graph) {
  std::vector<Seen> seen(static_cast<size_t>(graph.id_bound()), kBlind);
  for (const auto& output : graph.outputs()) seen[output.value.node] = kDirect;
  CheckCoverage out;
  const auto& order = graph.order();
  for (auto at = order.rbegin(); at != order.rend(); ++at) {
    const auto& node = graph.node(*at);
    Seen passed = seen[*at];
    if (node.info->opaque) {
      ++out.unknown[node.info->opaque->op_type];
      passed = has_floats(graph, *at) ? std::min(passed, kThrough) : kBlind;
    } else if (!node.constant && node.op() != ops::Op::input) {
      ++(passed == kDirect ? out.direct : passed == kThrough ? out.through : out.blind);
    }
    for (const auto& value : node.inputs) seen[value.node] = std::max(seen[value.node], passed);
  }
  return out;
}

std::string to_text(const CheckCoverage& coverage) {
  if (coverage.through + coverage.blind == 0) return "";
  std::vector<std::string> names;
  for (const auto& [op, count] : coverage.unknown) names.push_back(fmt::format("{} {}", op, count));
  const std::string behind = fmt::format("in front of operators that rlgo does not compute ({})", join(names, ", "));
  if (coverage.nothing()) return fmt::format("all {} operators stand {}: nothing is compared", coverage.all(), behind);
  std::string text =
      fmt::format("{} of {} operators stand {}: ", coverage.through + coverage.blind, coverage.all(), behind);
  if (coverage.through > 0)
    text += "synthetic functions stand for these, through which a difference shows, but not its size";
  if (coverage.blind > 0) {
    text += fmt::format("{}of {} of them nothing is seen", coverage.through > 0 ? "; " : "", coverage.blind);
  }
  return text;
}

}  // namespace rlgo::optimise
