// MetaFlow's split of a graph (Jia et al., SysML 2019, section 4.2).
#pragma once

#include <vector>

#include "core/rules/rules.h"

namespace rlgo::search {

struct FlowSplit {
  std::vector<std::vector<graph::NodeId>> parts;  // in topological order; constants belong to none
  std::vector<std::vector<graph::NodeId>> cuts;   // nodes between two parts
};
// Splits until no part has more than `largest` nodes (>= 4), each time at a minimum vertex cut, between the first and
// the last quarter of the part, where a node weighs 1 more than there are matches with a node before and a node behind
// it.
FlowSplit flow_split(const graph::Graph& graph, const rules::MatchIndex& matches, size_t largest);

}  // namespace rlgo::search
