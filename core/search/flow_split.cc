#include "core/search/flow_split.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <unordered_map>

namespace rlgo::search {
namespace {

using graph::NodeId;

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max() / 4;

// Maximum flow by shortest paths (Edmonds and Karp 1972).
class Flow {
 public:
  explicit Flow(size_t vertices) : out_(vertices) {}
  void add(size_t from, size_t to, int64_t capacity) {
    out_[from].push_back(edges_.size());
    edges_.push_back({to, capacity});
    out_[to].push_back(edges_.size());
    edges_.push_back({from, 0});
  }
  // Which vertices lie on the source's side of a minimum cut.
  std::vector<bool> cut(size_t source, size_t sink) {
    for (;;) {
      std::vector<size_t> by(out_.size(), SIZE_MAX);
      std::vector<bool> seen(out_.size(), false);
      std::queue<size_t> queue;
      queue.push(source);
      seen[source] = true;
      while (!queue.empty()) {
        const size_t at = queue.front();
        queue.pop();
        for (const size_t e : out_[at]) {
          if (edges_[e].left == 0 || seen[edges_[e].to]) continue;
          seen[edges_[e].to] = true;
          by[edges_[e].to] = e;
          queue.push(edges_[e].to);
        }
      }
      if (!seen[sink]) return seen;
      int64_t amount = kNoLimit;
      for (size_t v = sink; v != source; v = edges_[by[v] ^ 1].to) amount = std::min(amount, edges_[by[v]].left);
      if (amount == kNoLimit) return seen;  // source and sink touch: there is no cut between them
      for (size_t v = sink; v != source; v = edges_[by[v] ^ 1].to) {
        edges_[by[v]].left -= amount;
        edges_[by[v] ^ 1].left += amount;
      }
    }
  }

 private:
  struct Edge {
    size_t to = 0;
    int64_t left = 0;  // capacity that is not used
  };
  std::vector<Edge> edges_;  // each followed by its reverse
  std::vector<std::vector<size_t>> out_;
};

// Matches that a cut at the node takes apart: some node of theirs feeds it, and it feeds one.
std::vector<int64_t> weigh(const graph::Graph& graph, const rules::MatchIndex& matches) {
  std::vector<int64_t> weight(static_cast<size_t>(graph.id_bound()), 1);
  for (int rule = 0; rule < matches.rules().size(); ++rule) {
    for (const rules::Match& match : matches.matches(rule)) {
      const auto has = [&](NodeId id) { return std::ranges::find(match.nodes, id) != match.nodes.end(); };
      for (const NodeId id : match.nodes) {
        const graph::Node& node = graph.node(id);
        const bool before = std::ranges::any_of(node.inputs, [&](const graph::Value& v) { return has(v.node); });
        const bool behind = std::ranges::any_of(node.uses, [&](const graph::Use& use) { return has(use.user); });
        if (before && behind) ++weight[static_cast<size_t>(id)];
      }
    }
  }
  return weight;
}

class Splitter {
 public:
  Splitter(const graph::Graph& graph, const rules::MatchIndex& matches, size_t largest)
      : graph_(graph), weight_(weigh(graph, matches)), largest_(largest) {}

  void split(std::vector<NodeId> nodes) {
    if (nodes.size() <= largest_) {
      if (!nodes.empty()) found.parts.push_back(std::move(nodes));
      return;
    }
    const std::vector<bool> source_side = cut(nodes);
    std::vector<NodeId> first, second, between;
    for (size_t k = 0; k < nodes.size(); ++k) {
      (source_side[2 * k] ? first : second).push_back(nodes[k]);
      if (source_side[2 * k] && !source_side[2 * k + 1]) between.push_back(nodes[k]);
    }
    if (first.size() == nodes.size() || second.size() == nodes.size()) {  // no cut: halves
      first.assign(nodes.begin(), nodes.begin() + static_cast<ptrdiff_t>(nodes.size() / 2));
      second.assign(nodes.begin() + static_cast<ptrdiff_t>(nodes.size() / 2), nodes.end());
      between = {first.back()};
    }
    split(std::move(first));
    found.cuts.push_back(std::move(between));
    split(std::move(second));
  }

  FlowSplit found;

 private:
  // A node is two vertices, in and out, so that cutting it is cutting an edge.
  std::vector<bool> cut(std::span<const NodeId> nodes) const {
    const size_t source = 2 * nodes.size(), sink = source + 1, quarter = nodes.size() / 4;
    Flow flow(sink + 1);
    std::unordered_map<NodeId, size_t> place;
    for (size_t k = 0; k < nodes.size(); ++k) place[nodes[k]] = k;
    for (size_t k = 0; k < nodes.size(); ++k) {
      const bool middle = k >= quarter && k < nodes.size() - quarter;
      flow.add(2 * k, 2 * k + 1, middle ? weight_[static_cast<size_t>(nodes[k])] : kNoLimit);
      if (k < quarter) flow.add(source, 2 * k, kNoLimit);
      if (k >= nodes.size() - quarter) flow.add(2 * k + 1, sink, kNoLimit);
      for (const graph::Value& v : graph_.node(nodes[k]).inputs) {
        const auto maker = place.find(v.node);
        if (maker != place.end()) flow.add(2 * maker->second + 1, 2 * k, kNoLimit);
      }
    }
    return flow.cut(source, sink);
  }

  const graph::Graph& graph_;
  std::vector<int64_t> weight_;
  size_t largest_;
};

}  // namespace

FlowSplit flow_split(const graph::Graph& graph, const rules::MatchIndex& matches, size_t largest) {
  std::vector<NodeId> nodes;
  for (const NodeId id : graph.order()) {
    if (!graph.node(id).constant && graph.node(id).op() != ops::Op::input) nodes.push_back(id);
  }
  Splitter splitter(graph, matches, largest);
  splitter.split(std::move(nodes));
  return std::move(splitter.found);
}

}  // namespace rlgo::search
