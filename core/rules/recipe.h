// The right side of a match, ready to be drawn into any graph that the match applies to.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "core/graph/editor.h"
#include "core/rules/plan.h"

namespace rlgo::rules {

struct RecipeNode {
  std::shared_ptr<const graph::NodeInfo> info;
  SmallVector<PlanRef, 3> inputs;
};
struct Recipe {  // nodes to make, in order, and what they replace
  std::vector<RecipeNode> nodes;
  std::vector<std::pair<graph::Value, PlanRef>> replacements;
};

// Of a rewrite that was planned on `graph`.
std::shared_ptr<const Recipe> make_recipe(const Plan& plan, const graph::Graph& graph);
// Makes the edit; appends (old value, value in its place) to `replaced` where that is not null.
void draw(const Recipe& recipe, graph::Editor& editor,
          std::vector<std::pair<graph::Value, graph::Value>>* replaced = nullptr);

}  // namespace rlgo::rules
