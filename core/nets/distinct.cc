#include "core/nets/distinct.h"

#include <algorithm>

#include "core/base/error.h"

namespace rlgo::nets {
namespace {

using torch::Tensor;
constexpr int kLongestChain = 64;  // sums that build on one another add up their rounding

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
void add_round(const RowTable& table, int r, Round& before, Round& now, RoundRows& rows, IntArena& ints) {
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
  rows.nodes = now.nodes.size();
  rows.edges = now.edges.size();
  for (auto& [to, from] : std::initializer_list<std::pair<Tensor*, Ints*>>{{&rows.edge_before, &edge_before},
                                                                           {&rows.edge_src, &src},
                                                                           {&rows.edge_dst, &dst},
                                                                           {&rows.node_before, &node_before},
                                                                           {&rows.in_edge, &in_edge},
                                                                           {&rows.in_node, &in_node},
                                                                           {&rows.out_edge, &out_edge},
                                                                           {&rows.out_node, &out_node}})
    ints.add_values(to, std::move(*from));
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

  void finish(SparseCounts& to, IntArena& ints) {
    to.chains = chains_;
    for (auto& [part, from] : std::initializer_list<std::pair<Tensor*, Ints*>>{
             {&to.begin, &begin_}, {&to.row, &row_}, {&to.count, &count_}, {&to.chained, &chained_}, {&to.sum, &sum_}})
      ints.add_values(part, std::move(*from));
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

void add_features(const RowTable& table, const Round& first, DistinctRows& to, IntArena& ints, FloatArena& floats) {
  const auto node_columns = std::ssize(table.columns());
  Ints op;
  std::vector<float> nodes(static_cast<size_t>(first.nodes.size() * node_columns)),
      edges(static_cast<size_t>(first.edges.size() * table.edge_columns()));
  for (const int32_t id : first.nodes.ids()) {
    table.node_features(id, nodes.data() + std::ssize(op) * node_columns);
    op.push_back(table.node_op(id));
  }
  float* next = edges.data();
  for (const int32_t id : first.edges.ids()) {
    table.edge_features(id, next);
    next += table.edge_columns();
  }
  ints.add_values(&to.node_op, std::move(op));
  floats.add_values(&to.node_feat, std::move(nodes), {{first.nodes.size(), node_columns}});
  floats.add_values(&to.edge_feat, std::move(edges), {{first.edges.size(), table.edge_columns()}});
}

}  // namespace

Ints add_distinct(const RowTable& table, std::span<const RowIds* const> rows, bool may_chain, DistinctRows& to,
                  IntArena& ints, FloatArena& floats) {
  std::vector<Round> picked;
  for (int r = 0; r <= table.rounds(); ++r) picked.push_back({Picked(table.nodes(r)), Picked(table.edges(r))});
  Ints node_row, edge_row;
  std::vector<float> nodes_per_graph, edges_per_graph;
  for (const RowIds* graph : rows) {
    for (const int32_t id : graph->nodes) node_row.push_back(picked.back().nodes(id));
    for (const int32_t id : graph->edges) edge_row.push_back(picked.back().edges(id));
  }
  Counter nodes(picked.back().nodes.size(), may_chain), edges(picked.back().edges.size(), may_chain);
  std::span<const int64_t> node_rest(node_row), edge_rest(edge_row);
  for (const RowIds* graph : rows) {
    nodes.add(node_rest.first(graph->nodes.size()));
    edges.add(edge_rest.first(graph->edges.size()));
    node_rest = node_rest.subspan(graph->nodes.size());
    edge_rest = edge_rest.subspan(graph->edges.size());
    nodes_per_graph.push_back(static_cast<float>(graph->nodes.size()));
    edges_per_graph.push_back(static_cast<float>(graph->edges.size()));
  }
  nodes.finish(to.node_counts, ints);
  edges.finish(to.edge_counts, ints);
  floats.add_values(&to.nodes_per_graph, std::move(nodes_per_graph), {{std::ssize(rows), 1}});
  floats.add_values(&to.edges_per_graph, std::move(edges_per_graph), {{std::ssize(rows), 1}});
  to.rounds.resize(picked.size() - 1);
  for (size_t r = picked.size() - 1; r > 0; --r)
    add_round(table, static_cast<int>(r), picked[r - 1], picked[r], to.rounds[r - 1], ints);
  add_features(table, picked[0], to, ints, floats);
  return node_row;
}

void trace_last(DistinctRows& rows) {
  Tensor last_node, last_edge;  // undefined: as they are
  for (size_t r = rows.rounds.size(); r-- > 0;) {
    auto& round = rows.rounds[r];
    round.last_node = last_node;
    round.last_edge = last_edge;
    last_node = last_node.defined() ? round.node_before.index_select(0, last_node) : round.node_before;
    last_edge = last_edge.defined() ? round.edge_before.index_select(0, last_edge) : round.edge_before;
  }
}

}  // namespace rlgo::nets
