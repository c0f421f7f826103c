// The rows of one graph (core/agent/local_rows.h) and their sums, kept up to date: after an edit only the rows around
// it get new numbers. Plain data: a copy is a snapshot.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/agent/row_values.h"
#include "core/cost/cost.h"
#include "core/graph/graph.h"

namespace rlgo::prior {

class GraphRows {
 public:
  // Numbers all rows of a graph anew. `initial_us`: cost of the unmodified graph, us.
  void reset(const graph::Graph& graph, cost::CostModel& cost, double initial_us, agent::RowValues& rows);
  // The same for a graph that differs from the one before in the nodes `changed` and in edges at them; ids of nodes,
  // those that are gone among them, in any order and more than once.
  void update(const graph::Graph& graph, std::span<const graph::NodeId> changed, cost::CostModel& cost,
              double initial_us, agent::RowValues& rows);

  // Row of the last round of a node that is no constant.
  int32_t row(graph::NodeId id) const { return node_rows_[at(id) + static_cast<size_t>(rounds_)]; }
  // Constants have no rows.
  bool has(graph::NodeId id) const { return at(id) < node_rows_.size() && node_rows_[at(id)] >= 0; }
  int64_t nodes() const { return nodes_; }
  int64_t edges() const { return edges_; }
  // agent::Summary::pooled.
  void pool(const agent::Network& network, std::vector<float>& pooled) const;

 private:
  // A row that took the place of another, -1 for none, to be told to the sums once it is computed.
  struct Change {
    int32_t round, before, now;
    bool edge;
  };
  struct Edge {
    graph::NodeId node;
    int32_t input;
  };
  size_t at(graph::NodeId id) const { return static_cast<size_t>(id) * levels_; }
  size_t edge_at(graph::NodeId id, int32_t input) const {
    return (first_edge_[static_cast<size_t>(id)] + static_cast<size_t>(input)) * levels_;
  }
  void set_node(graph::NodeId id, int round, int32_t row);
  void set_edge(size_t at, int round, int32_t row);
  void remove(graph::NodeId id);
  void place_edges(graph::NodeId id, size_t inputs);
  void number_features(const graph::Graph& graph, graph::NodeId id, cost::CostModel& cost, double initial_us,
                       agent::RowTable& table);
  void number_round(const graph::Graph& graph, int round, agent::RowTable& table);
  void activate(const graph::Graph& graph, graph::NodeId id);
  void add_sums(const agent::RowValues& rows);

  int rounds_ = 0;
  size_t levels_ = 0;                 // rounds + 1
  std::vector<int32_t> node_rows_;    // [ids, levels] rows by id and round; -1: constant or dead
  std::vector<size_t> first_edge_;    // [ids] place of a node's first input in edge_rows_
  std::vector<uint32_t> edge_count_;  // [ids] its inputs, constants too
  std::vector<int32_t> edge_rows_;    // [*, levels]; -1: from a constant
  std::vector<double> sums_;          // [rounds, 2, width] of node rows, of edge rows
  int64_t nodes_ = 0, edges_ = 0;
  size_t most_edge_rows_ = 0;  // beyond it too many places of edge_rows_ are unused: all is numbered anew

  // Of the update in hand.
  std::vector<Change> changes_;
  std::vector<graph::NodeId> active_;  // nodes whose rows may be others
  std::vector<uint8_t> is_active_;     // by id
  std::vector<Edge> around_;
  std::vector<int32_t> in_, out_;
};

}  // namespace rlgo::prior
