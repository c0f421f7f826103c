#include "core/exec/unknown_types.h"

#include <algorithm>

namespace rlgo::exec {
namespace {

std::string types_of(const graph::NodeInfo& info) {
  std::string text;
  for (const auto& type : info.outputs) text += ops::to_string(type) + " ";
  return text;
}

}  // namespace

UnknownTypes unknown_types(const graph::Graph& graph) {
  UnknownTypes found;
  for (const graph::NodeId id : graph.order()) {
    const auto& info = *graph.node(id).info;
    if (info.opaque) found[info.opaque->hash()].insert(types_of(info));
  }
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
      const auto known = before.find(node.info->opaque->hash());
      differs = known != before.end() && known->second != now.at(known->first);
    }
    depends[static_cast<size_t>(id)] = differs;
  }
  std::set<std::string> names;
  for (const auto& output : after.outputs()) {
    if (depends[static_cast<size_t>(output.value.node)]) names.insert(output.name);
  }
  return names;
}

}  // namespace rlgo::exec
