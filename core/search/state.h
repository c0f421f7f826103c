// Graphs that a search has built, and the pricing of the graphs that are one rewrite away.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "core/graph/name_hash.h"
#include "core/graph/trial.h"
#include "core/search/search.h"

namespace rlgo::search {

// The rewrites that led to a graph, last one first; shared by all that came from it.
struct Trail {
  std::shared_ptr<const Trail> before;  // null: `step` is the first one
  rules::Rewrite step;

  // One after the other: a trail of 100,000 rewrites would need as many calls within calls.
  ~Trail() {
    while (before.use_count() == 1) before = std::exchange(const_cast<Trail&>(*before).before, nullptr);
  }
};
rules::Trace to_trace(const Trail* trail);

// A built graph. Immutable once made.
struct State {
  graph::Graph graph;
  rules::MatchIndex index;
  graph::NameHash hash;
  double cost_us = 0;
  int depth = 0;  // rewrites since the unmodified graph
  std::shared_ptr<const Trail> trail;

  // Rewrites that may be tried: the first max_locations of each rule.
  std::vector<rules::Rewrite> steps(int max_locations) const;
  // About what it holds in memory, without what it shares with others.
  int64_t bytes() const;
};
using StatePtr = std::shared_ptr<const State>;

// A graph that is one rewrite away from a state: priced, not built.
struct Child {
  rules::Rewrite step;
  double cost_us = 0;
  uint64_t hash = 0;  // two children with equal hashes lead to equal graphs
};

// The caller's cost model, asked by one thread at a time.
struct SharedCost {
  cost::CostModel& model;
  std::mutex mutex;
};

// A thread's own memory of what the shared model answered (no memory where answers hold for one graph only).
class ThreadCost : public cost::CostModel {
 public:
  explicit ThreadCost(SharedCost& shared) : shared_(shared) {}
  std::string name() const override { return shared_.model.name(); }
  double op_us(const graph::Graph& graph, graph::NodeId id) override;
  bool is_local() const override { return shared_.model.is_local(); }
  std::vector<graph::NodeId> dependents(const graph::Graph& graph,
                                        std::span<const graph::NodeId> changed) const override {
    return shared_.model.dependents(graph, changed);
  }

 private:
  SharedCost& shared_;
  std::unordered_map<uint64_t, double> us_;  // by signature hash
};

// The graph behind one rewrite, built. Nothing where it does not apply.
std::optional<State> follow(const State& from, const rules::Rewrite& step, cost::CostModel& cost);

// Prices the rewrites of one state without building their graphs. Refers to both.
class Evaluator {
 public:
  Evaluator(const State& from, cost::CostModel& cost)
      : from_(from), cost_(cost), trial_(from.graph), hash_(from.hash) {}
  Child operator()(const rules::Rewrite& step);

 private:
  const State& from_;
  cost::CostModel& cost_;
  graph::Trial trial_;
  graph::NameHash hash_;
  graph::NameHash::Replaced replaced_;
};

}  // namespace rlgo::search
