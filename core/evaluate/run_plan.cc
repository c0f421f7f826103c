#include "core/evaluate/run_plan.h"

#include "core/evaluate/values.h"

namespace rlgo::evaluate {

using graph::NodeId;
using ops::Op;

RunPlan::RunPlan(const graph::Graph& graph) : first_slot(static_cast<size_t>(graph.id_bound()), 0) {
  for (const NodeId id : graph.order()) {
    first_slot[id] = static_cast<Slot>(slots);
    slots += graph.node(id).info->outputs.size();
  }
  const auto outputs = [&](NodeId id) { return static_cast<Slot>(graph.node(id).info->outputs.size()); };
  const auto bounds = index_bounds(graph);
  std::vector<bool> keep(slots, false);
  for (const auto& output : graph.outputs()) keep[slot(output.value)] = true;
  for (const NodeId id : graph.order()) {
    const auto& node = graph.node(id);
    for (Slot p = 0; node.constant && p < outputs(id); ++p) keep[first_slot[id] + p] = true;
    if (node.constant || node.op() == Op::input) continue;
    RunStep step{id, {}, first_slot[id], {}, {}};
    for (const auto& input : node.inputs) step.inputs.push_back(slot(input));
    if (node.op() == Op::opaque) {
      step.index_bounds = bounds[id];
      is_synthetic = is_synthetic || node.info->opaque->known.empty();
    }
    steps.push_back(std::move(step));
  }
  // From the end: the first reader met is the last one. Outputs that nothing reads die at once.
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    std::vector<Slot> seen = step->inputs;
    for (Slot p = 0; p < outputs(step->node); ++p) seen.push_back(step->first_output + p);
    for (const Slot s : seen) {
      if (keep[s]) continue;
      keep[s] = true;
      step->freed.push_back(s);
    }
  }
}

}  // namespace rlgo::evaluate
