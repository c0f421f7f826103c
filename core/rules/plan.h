// The right side of a rule under one binding: concrete operators, attributes and types, before anything is built.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "core/rules/binding.h"

namespace rlgo::rules {

// A value of the graph, or an output of a planned node.
struct PlanRef {
  int32_t planned = -1;  // index into Plan::nodes, or -1
  graph::Value value;    // planned >= 0: only the port counts
};
struct PlanNode {
  ops::Op op = ops::Op::add;
  ops::Attrs attrs;  // complete
  std::vector<PlanRef> inputs;
  ops::Types types;
  bool constant = false;                   // depends on weights and fills alone
  uint64_t hash = 0;                       // of the planned term, commutative operands in either order
  graph::NodeId same_as = graph::kNoNode;  // a matched node that computes exactly this
};
struct Plan {
  std::vector<PlanNode> nodes;
  std::vector<std::pair<graph::Value, PlanRef>> replacements;
  uint64_t signature = 0;  // equal for two matches of a rule that lead to the same graph
  bool changes = false;    // some replaced value becomes another
};

// Nothing where an expression has no value, operands do not fit, or a new value's type differs from the old one's.
std::optional<Plan> make_plan(const CompiledRule& rule, const graph::Graph& graph, const Binding& binding);

}  // namespace rlgo::rules
