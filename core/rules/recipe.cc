#include "core/rules/recipe.h"

namespace rlgo::rules {

std::shared_ptr<const Recipe> make_recipe(const Plan& plan, const graph::Graph& graph) {
  auto recipe = std::make_shared<Recipe>();
  recipe->nodes.reserve(plan.nodes.size());
  ops::Types types;
  for (const PlanNode& node : plan.nodes) {
    types.clear();
    for (const PlanRef& ref : node.inputs) {
      types.push_back(ref.planned < 0 ? graph.type(ref.value)
                                      : plan.nodes[static_cast<size_t>(ref.planned)].types[ref.value.port]);
    }
    recipe->nodes.push_back({graph::make_info(node.op, node.attrs, types, node.types), {}});
    for (const PlanRef& ref : node.inputs) recipe->nodes.back().inputs.push_back(ref);
  }
  recipe->replacements = plan.replacements;
  return recipe;
}

void draw(const Recipe& recipe, graph::Editor& editor, std::vector<std::pair<graph::Value, graph::Value>>* replaced) {
  SmallVector<graph::NodeId, 8> made;
  const auto value = [&](const PlanRef& ref) {
    return ref.planned < 0 ? ref.value : graph::Value{made[static_cast<size_t>(ref.planned)], ref.value.port};
  };
  SmallVector<graph::Value, 4> inputs;
  for (const RecipeNode& node : recipe.nodes) {
    inputs.clear();
    for (const PlanRef& ref : node.inputs) inputs.push_back(value(ref));
    made.push_back(editor.add_made(node.info, inputs));
  }
  for (const auto& [old, with] : recipe.replacements) {
    if (replaced != nullptr) replaced->emplace_back(old, value(with));
    editor.replace(old, value(with));
  }
}

}  // namespace rlgo::rules
