#include "core/verify/unknown_types.h"

#include <algorithm>

namespace rlgo::verify {
namespace {

std::string types_of(const graph::NodeInfo& info) {
  std::string text;
  for (const auto& type : info.outputs) text += ops::to_string(type) + " ";
  return text;
}

// Whether a file that spells constants otherwise may be read without it: it is computed from these, one branch of an If
// is taken, or a bound, size or pad that was unknown is a number there.
bool may_be_worked_out(const graph::Node& node, const std::vector<bool>& of_inputs) {
  const auto fixed = [&](graph::Value v) { return !of_inputs[static_cast<size_t>(v.node)]; };
  return node.inputs.empty() || std::ranges::any_of(node.inputs, fixed);
}

}  // namespace

UnknownTypes unknown_types(const graph::Graph& graph) {
  UnknownTypes found;
  std::vector<std::set<uint64_t>> on_constants(static_cast<size_t>(graph.id_bound()));
  std::vector<bool> of_inputs(on_constants.size(), false);
  for (const graph::NodeId id : graph.inputs()) of_inputs[static_cast<size_t>(id)] = true;
  for (const graph::NodeId id : graph.order()) {
    const auto& node = graph.node(id);
    if (std::ranges::any_of(node.inputs, [&](graph::Value v) { return of_inputs[static_cast<size_t>(v.node)]; }))
      of_inputs[static_cast<size_t>(id)] = true;
    auto& mine = on_constants[static_cast<size_t>(id)];
    for (const graph::Value input : node.inputs) {
      const auto& its = on_constants[static_cast<size_t>(input.node)];
      mine.insert(its.begin(), its.end());
    }
    if (!node.info->opaque) continue;
    found.types[node.info->opaque->hash()].insert(types_of(*node.info));
    if (may_be_worked_out(node, of_inputs)) mine.insert(node.info->opaque->hash());
  }
  for (const auto& output : graph.outputs())
    found.on_constants[output.name] = on_constants[static_cast<size_t>(output.value.node)];
  return found;
}

std::set<std::string> incomparable_outputs(const UnknownTypes& before, const graph::Graph& after) {
  const UnknownTypes now = unknown_types(after);
  std::vector<bool> depends(static_cast<size_t>(after.id_bound()), false);
  for (const graph::NodeId id : after.order()) {
    const auto& node = after.node(id);
    bool differs =
        std::ranges::any_of(node.inputs, [&](graph::Value v) { return depends[static_cast<size_t>(v.node)]; });
    if (!differs && node.info->opaque) {
      const auto known = before.types.find(node.info->opaque->hash());
      differs = known != before.types.end() && known->second != now.types.at(known->first);
    }
    depends[static_cast<size_t>(id)] = differs;
  }
  std::set<std::string> names;
  for (const auto& output : after.outputs()) {
    const auto earlier = before.on_constants.find(output.name);
    const bool worked_out = earlier != before.on_constants.end() &&
                            !std::ranges::includes(now.on_constants.at(output.name), earlier->second);
    if (worked_out || depends[static_cast<size_t>(output.value.node)]) names.insert(output.name);
  }
  return names;
}

}  // namespace rlgo::verify
