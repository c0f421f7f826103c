#include "core/nets/distinct.h"

#include <algorithm>

#include "core/base/error.h"

namespace rlgo::nets {
namespace {

using torch::Tensor;
using Ints = std::vector<int64_t>;

constexpr int kLongestChain = 64;  // sums that build on one another add up their rounding

Tensor to_tensor(const Ints& values, torch::Device device) {
  return torch::from_blob(const_cast<int64_t*>(values.data()), {static_cast<int64_t>(values.size())}, torch::kInt64)
      .to(device, torch::kInt64, /*non_blocking=*/false, /*copy=*/true);
}

// Some of a round's rows, in the order in which they were asked for first.
class Picked {
 public:
  explicit Picked(int32_t rows) : place_(static_cast<size_t>(rows), -1) {}
  // Place of a row among the picked ones.
  int64_t operator()(int32_t id) {
    int32_t& place = place_[static_cast<size_t>(id)];
    if (place < 0) {
      place = static_cast<int32_t>(ids_.size());
      ids_.push_back(id);
    }
    return place;
  }
  const std::vector<int32_t>& ids() const { return ids_; }
  int64_t size() const { return static_cast<int64_t>(ids_.size()); }

 private:
  std::vector<int32_t> place_, ids_;
};

struct Round {
  Picked nodes, edges;
};

// Also picks what the rows of the round are made of.
RoundRows make_round(const RowTable& table, int r, Round& before, Round& now, torch::Device device) {
  Ints node_before, in_edge, in_node, out_edge, out_node, edge_before, src, dst;
  for (const int32_t id : now.nodes.ids()) {
    const auto recipe = table.node(r, id);
    const auto place = static_cast<int64_t>(node_before.size());
    node_before.push_back(before.nodes(recipe.before));
    for (const int32_t e : recipe.in) in_edge.push_back(now.edges(e));
    for (const int32_t e : recipe.out) out_edge.push_back(now.edges(e));
    in_node.resize(in_edge.size(), place);
    out_node.resize(out_edge.size(), place);
  }
  for (const int32_t id : now.edges.ids()) {
    const auto recipe = table.edge(r, id);
    edge_before.push_back(before.edges(recipe.before));
    src.push_back(before.nodes(recipe.src));
    dst.push_back(before.nodes(recipe.dst));
  }
  RoundRows rows;
  rows.nodes = now.nodes.size();
  rows.edges = now.edges.size();
  for (auto& [to, from] : std::initializer_list<std::pair<Tensor*, const Ints*>>{{&rows.edge_before, &edge_before},
                                                                                 {&rows.edge_src, &src},
                                                                                 {&rows.edge_dst, &dst},
                                                                                 {&rows.node_before, &node_before},
                                                                                 {&rows.in_edge, &in_edge},
                                                                                 {&rows.in_node, &in_node},
                                                                                 {&rows.out_edge, &out_edge},
                                                                                 {&rows.out_node, &out_node}})
    *to = to_tensor(*from, device);
  return rows;
}

// How often each of a round's rows stands in each graph.
class Counter {
 public:
  Counter(int64_t rows, bool may_chain)
      : difference_(static_cast<size_t>(rows)), stamp_(static_cast<size_t>(rows)), may_chain_(may_chain) {}

  // The next graph's rows, each as often as it stands there.
  void add(std::span<const int64_t> graph) {
    restart();
    tally(graph, 1);
    tally(last_, -1);
    const auto changed = std::ranges::count_if(touched_, [&](int64_t row) { return difference(row) != 0; });
    const bool chain = may_chain_ && !chained_.empty() && length_ < kLongestChain && 2 * changed < std::ssize(graph);
    if (!chain) {
      restart();
      tally(graph, 1);
    }
    for (const int64_t row : touched_) {
      if (difference(row) == 0) continue;
      row_.push_back(row);
      count_.push_back(difference(row));
      sum_.push_back(std::ssize(chained_));
    }
    length_ = chain ? length_ + 1 : 0;
    chains_ |= chain;
    chained_.push_back(chain ? 1 : 0);
    begin_.push_back(std::ssize(row_));
    last_.assign(graph.begin(), graph.end());
  }

  SparseCounts finish(torch::Device device) const {
    return {to_tensor(begin_, device),   to_tensor(row_, device), to_tensor(count_, device),
            to_tensor(chained_, device), to_tensor(sum_, device), chains_};
  }

 private:
  int64_t& difference(int64_t row) { return difference_[static_cast<size_t>(row)]; }
  void restart() {
    ++now_;
    touched_.clear();
  }
  void tally(std::span<const int64_t> rows, int64_t by) {
    for (const int64_t row : rows) {
      int64_t& stamp = stamp_[static_cast<size_t>(row)];
      if (stamp != now_) {
        stamp = now_;
        difference(row) = 0;
        touched_.push_back(row);
      }
      difference(row) += by;
    }
  }

  Ints difference_, stamp_, touched_, last_, begin_ = {0}, row_, count_, chained_, sum_;
  int64_t now_ = 0;
  int length_ = 0;
  bool may_chain_, chains_ = false;
};

void add_features(const RowTable& table, const Round& first, torch::Device device, DistinctRows& to) {
  const auto node_columns = static_cast<int64_t>(table.columns().size());
  Ints op;
  auto node_feat = torch::empty({first.nodes.size(), node_columns});
  auto edge_feat = torch::empty({first.edges.size(), table.edge_columns()});
  for (const int32_t id : first.nodes.ids()) {
    table.node_features(id, node_feat.data_ptr<float>() + std::ssize(op) * node_columns);
    op.push_back(table.node_op(id));
  }
  float* next = edge_feat.data_ptr<float>();
  for (const int32_t id : first.edges.ids()) {
    table.edge_features(id, next);
    next += table.edge_columns();
  }
  to.node_op = to_tensor(op, device);
  to.node_feat = node_feat.to(device);
  to.edge_feat = edge_feat.to(device);
}

}  // namespace

Distinct find_distinct(const RowTable& table, std::span<const RowIds* const> rows, torch::Device device) {
  std::vector<Round> picked;
  for (int r = 0; r <= table.rounds(); ++r) picked.push_back({Picked(table.nodes(r)), Picked(table.edges(r))});
  Distinct result;
  Ints edge_row, nodes_per_graph, edges_per_graph;
  for (const RowIds* graph : rows) {
    for (const int32_t id : graph->nodes) result.node_row.push_back(picked.back().nodes(id));
    for (const int32_t id : graph->edges) edge_row.push_back(picked.back().edges(id));
  }
  Counter nodes(picked.back().nodes.size(), device.is_cpu()), edges(picked.back().edges.size(), device.is_cpu());
  std::span<const int64_t> node_rest(result.node_row), edge_rest(edge_row);
  for (const RowIds* graph : rows) {
    nodes.add(node_rest.first(graph->nodes.size()));
    edges.add(edge_rest.first(graph->edges.size()));
    node_rest = node_rest.subspan(graph->nodes.size());
    edge_rest = edge_rest.subspan(graph->edges.size());
    nodes_per_graph.push_back(std::ssize(graph->nodes));
    edges_per_graph.push_back(std::ssize(graph->edges));
  }
  auto& distinct = result.rows;
  distinct.node_counts = nodes.finish(device);
  distinct.edge_counts = edges.finish(device);
  distinct.nodes_per_graph = to_tensor(nodes_per_graph, device).to(torch::kFloat32).unsqueeze(1);
  distinct.edges_per_graph = to_tensor(edges_per_graph, device).to(torch::kFloat32).unsqueeze(1);
  distinct.rounds.resize(picked.size() - 1);
  Tensor last_node, last_edge;  // undefined: as they are
  for (size_t r = picked.size() - 1; r > 0; --r) {
    auto& round = distinct.rounds[r - 1];
    round = make_round(table, static_cast<int>(r), picked[r - 1], picked[r], device);
    round.last_node = last_node;
    round.last_edge = last_edge;
    last_node = last_node.defined() ? round.node_before.index_select(0, last_node) : round.node_before;
    last_edge = last_edge.defined() ? round.edge_before.index_select(0, last_edge) : round.edge_before;
  }
  add_features(table, picked[0], device, distinct);
  return result;
}

}  // namespace rlgo::nets
