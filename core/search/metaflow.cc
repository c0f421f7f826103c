// MetaFlow (Jia et al., SysML 2019): backtracking inside each part of a split graph, then around each cut.
#include <algorithm>

#include "core/search/backtracking.h"
#include "core/search/flow_split.h"

namespace rlgo::search {
namespace {

using graph::NodeId;

constexpr size_t kLargestPart = 30;        // nodes, as published
constexpr int64_t kFirstExpansions = 300;  // of one part; then twice as many, as long as there is time
constexpr int kAroundCut = 4;              // nodes on each way from the cut

// Matches that have no node outside the region, but for nodes that were made since.
class Region {
 public:
  Region(const graph::Graph& graph, std::span<const NodeId> nodes) : inside_(static_cast<size_t>(graph.id_bound()), 0) {
    for (const NodeId id : graph.order()) inside_[static_cast<size_t>(id)] = graph.node(id).constant ? 1 : 0;
    for (const NodeId id : nodes) inside_[static_cast<size_t>(id)] = 1;
  }
  bool operator()(const rules::Match& match) const {
    return std::ranges::all_of(match.nodes, [&](NodeId id) {
      return static_cast<size_t>(id) >= inside_.size() || inside_[static_cast<size_t>(id)] != 0;
    });
  }

 private:
  std::vector<uint8_t> inside_;
};

// Live nodes near a cut.
std::vector<NodeId> around(const graph::Graph& graph, std::span<const NodeId> cut) {
  std::vector<uint8_t> seen(static_cast<size_t>(graph.id_bound()), 0);
  std::vector<NodeId> nodes, next;
  const auto add = [&](NodeId id) {
    if (!graph.contains(id) || graph.node(id).constant || seen[static_cast<size_t>(id)] != 0) return;
    seen[static_cast<size_t>(id)] = 1;
    nodes.push_back(id);
  };
  for (const NodeId id : cut) add(id);
  size_t first = 0;
  for (int distance = 0; distance < kAroundCut; ++distance) {
    const size_t last = nodes.size();
    for (; first < last; ++first) {
      const graph::Node& node = graph.node(nodes[first]);
      for (const graph::Value& v : node.inputs) add(v.node);
      for (const graph::Use& use : node.uses) add(use.user);
    }
  }
  return nodes;
}

class MetaFlow {
 public:
  explicit MetaFlow(Context& context) : context_(context), best_(context.start()) {}

  void run() {
    for (int64_t expansions = kFirstExpansions;; expansions *= 2) {
      exhausted_ = true;
      const FlowSplit split = flow_split(best_->graph, best_->index, kLargestPart);
      for (const auto& part : split.parts) {
        if (!search(part, expansions)) return;
      }
      for (const auto& cut : split.cuts) {
        if (!search(around(best_->graph, cut), expansions)) return;
      }
      if (context_.options().progress) context_.options().progress(context_.counters(), context_.best_us());
      if (exhausted_) return;
    }
  }

 private:
  // From the best graph so far; false where the search must end.
  bool search(std::span<const NodeId> nodes, int64_t expansions) {
    Backtracking part(context_, Region(best_->graph, nodes));
    const bool finished = part.run(best_, expansions);
    if (part.best() != best_) exhausted_ = false;
    best_ = part.best();
    if (finished) return true;
    exhausted_ = false;
    return context_.may_continue();
  }

  Context& context_;
  StatePtr best_;
  bool exhausted_ = true;  // no part has anything left to try
};

}  // namespace

Result metaflow(const Problem& problem, const Options& options) {
  Context context(problem, options);
  MetaFlow(context).run();
  return context.finish();
}

}  // namespace rlgo::search
