// The learned cost of whole models: a sum of prices, corrected by what was learned from graphs that were timed whole.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/cost/cost.h"
#include "core/cost/residual.h"
#include "core/graph/graph.h"
#include "core/rules/rules.h"
#include "core/rules/trace.h"

namespace rlgo::optimise {

// Everything is in fractions of what the unmodified graph costs, so that weights hold for other models as well.
//
//   price:conv2d       prices of groups that begin with this operator ("conv2d+": of those with more members)
//   groups             5 us for each group
//   bytes, flops       inputs and outputs at 10 GB/s, arithmetic at 100 GFLOP/s
//   border:conv2d>add  5 us for each value that goes from a group of one kind to one of another
//   rule:NAME          5 us for each rewrite by this rule
//   #HASH              price of a group with exactly this signature (an own feature: cost/residual.h)
//
// A group is what the target is likely to run as one (measure/partition.h) where prices are those of groups, else one
// operator. Features of a graph are differences from the unmodified one, so those of that are empty.
class GraphFeatures {
 public:
  // Refers to `prices`, which answers what it has or estimates.
  GraphFeatures(const graph::Graph& unmodified, cost::CostModel& prices);

  // `trace` led from the unmodified graph to this one.
  cost::Features operator()(const graph::Graph& graph, const rules::Trace& trace, const rules::RuleSet& rules) const;
  // Cost of the unmodified graph, us, > 0.
  double unmodified_us() const { return unmodified_us_; }
  // Names the group that a node heads, or the node alone.
  uint64_t signature(const graph::Graph& graph, graph::NodeId head) const;
  // What a node's group adds to the features of its graph, the price among it: borders and rules left out. Nothing for
  // nodes without a price.
  cost::Features of_group(const graph::Graph& graph, graph::NodeId head, double group_us) const;

 private:
  cost::Features of_graph(const graph::Graph& graph) const;

  cost::CostModel& prices_;
  double unmodified_us_ = 1;
  cost::Features unmodified_;
};

// Prices of groups by a set of weights: what searches follow. Corrected prices are never below a twentieth of what they
// were, and whole multiples of 2^-10 us. Refers to `prices` and `features`.
class LearnedCost : public cost::CostModel {
 public:
  LearnedCost(cost::CostModel& prices, const GraphFeatures& features, cost::Residual::Weights weights)
      : prices_(prices), features_(features), weights_(std::move(weights)) {}

  std::string name() const override { return prices_.name(); }
  double op_us(const graph::Graph& graph, graph::NodeId id) override;
  bool is_local() const override { return prices_.is_local(); }
  std::vector<graph::NodeId> dependents(const graph::Graph& graph,
                                        std::span<const graph::NodeId> changed) const override {
    return prices_.dependents(graph, changed);
  }
  bool defer() override { return prices_.defer(); }
  size_t deferred() const override { return prices_.deferred(); }
  bool flush() override { return prices_.flush(); }
  void forget_deferred() override { prices_.forget_deferred(); }

 private:
  cost::CostModel& prices_;
  const GraphFeatures& features_;
  cost::Residual::Weights weights_;
  std::unordered_map<uint64_t, double> us_;  // by signature and price
};

}  // namespace rlgo::optimise
