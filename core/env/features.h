// Turns a graph into the arrays of an Observation.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "core/base/small_vector.h"
#include "core/cost/cost.h"
#include "core/graph/graph.h"
#include "core/mdp/mdp.h"
#include "core/search/walk.h"

namespace rlgo::env {

constexpr int kNodeFeatures = 22;
constexpr int kEdgeFeatures = 6;
constexpr int kGlobalFeatures = 6;
constexpr int kLocationFeatures = 2;  // change of cost in percent of the initial cost; 1 where that is an estimate

// Names of the features, in order; for people who analyse stored rollouts.
std::span<const std::string_view> node_feature_names();
// Columns that describe the whole graph: cost_share (of the graph's cost), position (in its order).
std::vector<int32_t> nonlocal_node_features();
std::span<const std::string_view> edge_feature_names();
std::span<const std::string_view> global_feature_names();

// Networks have a row for each operator below this id. Later ones look as they did before rlgo knew them, so that
// agents and rollouts of any age fit.
inline constexpr int32_t kOps = 57;

struct EnvOptions;
// Sizes and names of the observations of graphs that these rules rewrite.
mdp::ObservationSpec observation_spec(const rules::RuleSet& rules, const EnvOptions& options);

// What an observation holds besides the graph and its matches.
struct Progress {
  double initial_us = 0;
  double current_us = 0;
  double best_us = 0;
};

// What edges show of an output.
struct EdgePort {
  float log_elements, rank, log_last_dim, log_dim_1;
};

// Features of nodes that depend on the node alone are kept by node id and computed once; the rest is made at each call.
// Constant nodes are left out: they cost nothing and rules never have their root there.
class FeatureBuilder {
 public:
  explicit FeatureBuilder(std::shared_ptr<cost::CostModel> model) : model_(std::move(model)) {}
  // Learns the nodes that an edit made or touched again.
  void update(const graph::Graph& graph, std::span<const graph::NodeId> added, std::span<const graph::NodeId> touched);
  void reset(const graph::Graph& graph);
  // Sum over the nodes, in topological order (so that it depends on the graph alone, not on the way there).
  cost::Cost cost(const graph::Graph& graph) const;
  // `places`: the legal locations, by rule, of which there are `rules`, with the changes of cost as far as they are
  // known (search/walk.h). `changes`, if any: what has changed since the observation that was made last.
  mdp::Observation observe(const graph::Graph& graph, std::span<const search::Place> places, int rules,
                           const Progress& progress, mdp::Changes* changes = nullptr);
  // About what it holds in memory.
  int64_t bytes() const;

 private:
  struct Row {
    float features[kNodeFeatures] = {};  // those that depend on the node alone; others are zero
    cost::Cost cost;
    SmallVector<EdgePort, 1> ports;
  };
  void learn(const graph::Graph& graph, graph::NodeId id);
  // Edges into a node, behind edge `count`; returns how many there are then. index: of nodes in the observation, by id.
  size_t add_edges(const graph::Graph& graph, graph::NodeId id, const std::vector<int32_t>& index, size_t count,
                   mdp::Observation& out) const;
  void add_locations(std::span<const search::Place> places, const std::vector<int32_t>& index, double initial_us,
                     mdp::Observation& out) const;
  void report_changes(const graph::Graph& graph, const std::vector<graph::NodeId>& nodes, float current_us,
                      mdp::Changes& changes) const;
  std::shared_ptr<cost::CostModel> model_;
  std::vector<Row> rows_;                 // by node id
  std::vector<cost::OutputBytes> bytes_;  // by node id
  std::vector<uint8_t> fresh_;            // by node id: learned since the last observation
  std::vector<int32_t> last_;             // by node id: its row in the last observation, or -1
  size_t last_nodes_ = 0;                 // of that observation
  float last_current_us_ = 0;
};

}  // namespace rlgo::env
