#include "core/prior/graph_rows.h"

#include <algorithm>
#include <limits>

#include "core/env/features.h"

namespace rlgo::prior {

using graph::Graph;
using graph::NodeId;

void GraphRows::set_node(NodeId id, int round, int32_t row) {
  int32_t& held = node_rows_[at(id) + static_cast<size_t>(round)];
  if (held == row) return;
  if (round > 0) changes_.push_back({round, held, row, false});
  if (round == 0) nodes_ += (row >= 0 ? 1 : 0) - (held >= 0 ? 1 : 0);
  held = row;
}

void GraphRows::set_edge(size_t at, int round, int32_t row) {
  int32_t& held = edge_rows_[at + static_cast<size_t>(round)];
  if (held == row) return;
  if (round > 0) changes_.push_back({round, held, row, true});
  if (round == 0) edges_ += (row >= 0 ? 1 : 0) - (held >= 0 ? 1 : 0);
  held = row;
}

void GraphRows::remove(NodeId id) {
  for (int round = 0; round <= rounds_; ++round) set_node(id, round, -1);
  for (uint32_t input = 0; input < edge_count_[static_cast<size_t>(id)]; ++input) {
    for (int round = 0; round <= rounds_; ++round) set_edge(edge_at(id, static_cast<int32_t>(input)), round, -1);
  }
  edge_count_[static_cast<size_t>(id)] = 0;
}

// Room for the rows of a node's inputs; what is left of an earlier room stays unused.
void GraphRows::place_edges(NodeId id, size_t inputs) {
  auto& count = edge_count_[static_cast<size_t>(id)];
  for (size_t input = 0; input < count; ++input) {
    for (int round = 0; round <= rounds_; ++round) set_edge(edge_at(id, static_cast<int32_t>(input)), round, -1);
  }
  if (count < inputs) {
    first_edge_[static_cast<size_t>(id)] = edge_rows_.size() / levels_;
    edge_rows_.resize(edge_rows_.size() + inputs * levels_, -1);
  }
  count = static_cast<uint32_t>(inputs);
}

// Rows before the first round: of the node, of the edges into it and out of it.
void GraphRows::number_features(const Graph& graph, NodeId id, cost::CostModel& cost, double initial_us,
                                agent::RowTable& table) {
  float row[std::max(env::kNodeFeatures, env::kEdgeFeatures)];
  const graph::Node& node = graph.node(id);
  env::node_row(graph, id, cost, initial_us, row);
  set_node(id, 0, table.number_node_features(static_cast<int32_t>(node.op()), row));
  if (edge_count_[static_cast<size_t>(id)] != node.inputs.size()) place_edges(id, node.inputs.size());
  const auto number = [&](NodeId to, int32_t input) {
    const bool constant = graph.node(graph.node(to).inputs[static_cast<size_t>(input)].node).constant;
    if (!constant) env::edge_row(graph, to, static_cast<size_t>(input), row);
    const int32_t edge = constant ? -1 : table.number_edge_features(row);
    for (int round = edge < 0 ? rounds_ : 0; round >= 0; --round) set_edge(edge_at(to, input), round, edge);
  };
  for (size_t input = 0; input < node.inputs.size(); ++input) number(id, static_cast<int32_t>(input));
  for (const graph::Use& use : node.uses) {
    // A reader without room for it is changed, too, and comes later.
    if (has(use.user) && static_cast<uint32_t>(use.input) < edge_count_[static_cast<size_t>(use.user)])
      number(use.user, use.input);
  }
}

// Rows of a round, of the active nodes and of the edges at them. Nodes at the other ends become active.
void GraphRows::number_round(const Graph& graph, int round, agent::RowTable& table) {
  const auto r = static_cast<size_t>(round);
  const auto edge_row = [&](NodeId id, int32_t input, size_t level) { return edge_rows_[edge_at(id, input) + level]; };
  around_.clear();
  for (const NodeId id : active_) {
    const graph::Node& node = graph.node(id);
    for (size_t input = 0; input < node.inputs.size(); ++input) around_.push_back({id, static_cast<int32_t>(input)});
    for (const graph::Use& use : node.uses) {
      if (has(use.user)) around_.push_back({use.user, use.input});
    }
  }
  const auto activate = [&](NodeId id) {
    if (is_active_[static_cast<size_t>(id)] != 0) return;
    is_active_[static_cast<size_t>(id)] = 1;
    active_.push_back(id);
  };
  for (const Edge& edge : around_) {
    if (edge_row(edge.node, edge.input, 0) < 0) continue;
    const NodeId from = graph.node(edge.node).inputs[static_cast<size_t>(edge.input)].node;
    set_edge(edge_at(edge.node, edge.input), round,
             table.number_edge(round, {edge_row(edge.node, edge.input, r - 1), node_rows_[at(from) + r - 1],
                                       node_rows_[at(edge.node) + r - 1]}));
    activate(from);
    activate(edge.node);
  }
  for (const NodeId id : active_) {
    const graph::Node& node = graph.node(id);
    in_.clear();
    out_.clear();
    for (size_t input = 0; input < node.inputs.size(); ++input) {
      const int32_t row = edge_row(id, static_cast<int32_t>(input), r);
      if (row >= 0) in_.push_back(row);
    }
    for (const graph::Use& use : node.uses) {
      if (has(use.user)) out_.push_back(edge_row(use.user, use.input, r));
    }
    set_node(id, round, table.number_node(round, {node_rows_[at(id) + r - 1], in_, out_}));
  }
}

// Takes a node up for the update in hand, or forgets it. Readers of what is or was constant see that in their features.
void GraphRows::activate(const Graph& graph, NodeId id) {
  if (is_active_[static_cast<size_t>(id)] != 0) return;
  const bool live = graph.contains(id) && !graph.node(id).constant, known = has(id);
  if (live) {
    is_active_[static_cast<size_t>(id)] = 1;
    active_.push_back(id);
  } else if (known) {
    remove(id);
  }
  if (live == known || !graph.contains(id)) return;
  for (const graph::Use& use : graph.node(id).uses) {
    if (has(use.user)) activate(graph, use.user);
  }
}

void GraphRows::add_sums(const agent::RowValues& rows) {
  const auto width = static_cast<size_t>(rows.network().shape.width);
  for (const Change& change : changes_) {
    double* sum = sums_.data() + (static_cast<size_t>(change.round - 1) * 2 + (change.edge ? 1 : 0)) * width;
    const auto add = [&](int32_t row, double sign) {
      if (row < 0) return;
      const float* value = change.edge ? rows.edge(change.round, row) : rows.node(change.round, row);
      for (size_t c = 0; c < width; ++c) sum[c] += sign * static_cast<double>(value[c]);
    };
    add(change.before, -1);
    add(change.now, 1);
  }
  changes_.clear();
}

void GraphRows::reset(const Graph& graph, cost::CostModel& cost, double initial_us, agent::RowValues& rows) {
  *this = GraphRows();
  rounds_ = rows.network().shape.rounds;
  levels_ = static_cast<size_t>(rounds_) + 1;
  sums_.assign(static_cast<size_t>(rounds_) * 2 * static_cast<size_t>(rows.network().shape.width), 0.0);
  most_edge_rows_ = std::numeric_limits<size_t>::max();
  update(graph, graph.order(), cost, initial_us, rows);
  most_edge_rows_ = 4 * edge_rows_.size() + 4096;
}

void GraphRows::update(const Graph& graph, std::span<const NodeId> changed, cost::CostModel& cost, double initial_us,
                       agent::RowValues& rows) {
  if (edge_rows_.size() > most_edge_rows_) {
    reset(graph, cost, initial_us, rows);
    return;
  }
  const auto ids = std::max(static_cast<size_t>(graph.id_bound()), first_edge_.size());
  node_rows_.resize(ids * levels_, -1);
  first_edge_.resize(ids, 0);
  edge_count_.resize(ids, 0);
  is_active_.assign(ids, 0);
  active_.clear();
  for (const NodeId id : changed) activate(graph, id);
  // First all rooms, so that edges between changed nodes have theirs.
  for (const NodeId id : active_) {
    const size_t inputs = graph.node(id).inputs.size();
    if (edge_count_[static_cast<size_t>(id)] != inputs) place_edges(id, inputs);
  }
  for (const NodeId id : active_) number_features(graph, id, cost, initial_us, rows.table());
  for (int round = 1; round <= rounds_; ++round) number_round(graph, round, rows.table());
  rows.compute();
  add_sums(rows);
}

void GraphRows::pool(const agent::Network& network, std::vector<float>& pooled) const {
  const auto width = static_cast<size_t>(network.shape.width);
  pooled.resize(sums_.size());
  for (size_t part = 0; part < sums_.size() / width; ++part) {
    const int64_t count = part % 2 == 0 ? nodes_ : edges_;
    const double by = network.shape.mean_pooling && count > 0 ? 1.0 / static_cast<double>(count) : 1.0;
    for (size_t c = 0; c < width; ++c) pooled[part * width + c] = static_cast<float>(sums_[part * width + c] * by);
  }
}

}  // namespace rlgo::prior
