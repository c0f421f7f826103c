// Prices of groups of operators that are foretold: no group is timed.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/cost/analytic.h"
#include "core/cost/boosted_trees.h"
#include "core/cost/cost.h"
#include "core/measure/group_features.h"

namespace rlgo::measure {

// A group's price by formula times e to the power of what boosted trees say of its features: they learned from groups
// of other models, timed under the runtime (configs/costs/RUNTIME.trees, made by results/prices.py). Copies share the
// trees.
class GroupPredictor {
 public:
  // A formula, and no trees.
  explicit GroupPredictor(const cost::AnalyticOptions& formula = {}) : formula_(formula) {}
  // The formula that was fitted to `runtime` (cost::fitted_to). No trees where they are not to be used, or the runtime
  // has none. Throws Error where their file is wrong.
  GroupPredictor(const std::string& runtime, bool learned);

  // us, >= 0.
  double us(const graph::Graph& graph, std::span<const graph::NodeId> members);
  // Of a graph that is one group (group_graph).
  double us(const graph::Graph& group);
  // What trees would see of it.
  GroupFeatures features(const graph::Graph& group);
  bool is_learned() const { return trees_ != nullptr; }

 private:
  cost::AnalyticCost formula_;
  std::shared_ptr<const cost::BoostedTrees> trees_;
};

// A group's price is foretold and belongs to its head; its other members cost nothing. Whole multiples of 2^-10 us. Not
// thread-safe, except for dependents().
class PredictedCost : public cost::CostModel {
 public:
  explicit PredictedCost(GroupPredictor predictor) : predictor_(std::move(predictor)) {}
  std::string name() const override { return "learned"; }
  double op_us(const graph::Graph& graph, graph::NodeId id) override;
  bool is_local() const override { return false; }
  std::vector<graph::NodeId> dependents(const graph::Graph& graph,
                                        std::span<const graph::NodeId> changed) const override;

 private:
  GroupPredictor predictor_;
  std::unordered_map<uint64_t, double> us_by_hash_;
};

}  // namespace rlgo::measure
