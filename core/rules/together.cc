#include "core/rules/together.h"

#include <algorithm>

#include "core/base/error.h"

namespace rlgo::rules {

using graph::NodeId;

std::span<const Rewrite> made_together(std::span<const Rewrite> trace, size_t first) {
  if (is_together(trace[first])) fail("trace: the first rewrite is made together with one before it");
  size_t end = first + 1;
  while (end < trace.size() && is_together(trace[end])) ++end;
  return trace.subspan(first, end - first);
}

bool any_together(std::span<const Rewrite> trace) { return std::ranges::any_of(trace, is_together); }

bool Together::add(int rule, int location) {
  const Match& match = index_.matches(rule)[static_cast<size_t>(location)];
  const auto is_taken = [&](NodeId id) { return taken_.contains(id) || gone_.contains(id); };
  const auto is_gone = [&](const graph::Value& value) { return gone_.contains(value.node); };
  if (std::ranges::any_of(match.nodes, is_taken) || std::ranges::any_of(match.variables, is_gone)) return false;
  for (const NodeId id : match.nodes) {
    if (!trial_.graph().node(id).constant) taken_.insert(id);  // many may read a constant
  }
  const size_t first = replaced_.size();
  index_.edit(rule, location, trial_.editor(), &replaced_);
  for (size_t k = first; k < replaced_.size(); ++k) gone_.insert(replaced_[k].first.node);
  trial_.next_part();
  return true;
}

}  // namespace rlgo::rules
