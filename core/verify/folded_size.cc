#include "core/verify/folded_size.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <vector>

#include "core/evaluate/constants.h"
#include "core/ops/folding.h"

namespace rlgo::verify {
namespace {

using graph::Graph;
using graph::NodeId;
using ops::Op;

constexpr int64_t kMostOfRewrites = 8;  // times the weights that rewrites compute from: Winograd's take up to 64 / 9
constexpr int kMostRounds = 64;

int64_t bytes_of(const Graph& graph, NodeId id) {
  int64_t sum = 0;
  for (const auto& type : graph.node(id).info->outputs) sum += type.is_static() ? type.bytes() : 0;
  return sum;
}

// Is written as an operator or as one number.
bool is_free(const graph::Node& node) { return node.op() == Op::fill || node.op() == Op::literal; }

class Plan {
 public:
  Plan(const Graph& graph, const std::unordered_set<NodeId>& left, NodeId first_new) : graph_(graph) {
    for (const NodeId id : graph.order()) {
      if (graph.node(id).constant && !left.contains(id)) order_.push_back(id);
    }
    for (const NodeId id : evaluate::read_constants(graph, left)) {
      if (graph.node(id).op() == Op::weight)
        weights_.insert(id);
      else
        write(id);
    }
    allow_new(first_new);
    may_go_ = values_;
    for (const NodeId id : cone(values_)) {
      if (graph.node(id).op() == Op::weight && !weights_.contains(id)) growth_ -= bytes_of(graph, id);
    }
  }

  std::unordered_set<NodeId> run() {
    for (int round = 0; growth_ > ops::kMostGrowthOfStep && !may_go_.empty(); ++round)
      unfold_some(round >= kMostRounds);
    return std::move(operators_);
  }

 private:
  // The node is written: a weight, or the value of an operator.
  void write(NodeId id) {
    if (is_free(graph_.node(id))) return;
    auto& written = graph_.node(id).op() == Op::weight ? weights_ : values_;
    if (written.insert(id).second) growth_ += bytes_of(graph_, id);
  }

  // The nodes and what they are computed from, until `enough` of these reports so.
  template <typename Enough>
  std::unordered_set<NodeId> cone(const std::unordered_set<NodeId>& of, const Enough& enough) const {
    std::unordered_set<NodeId> seen = of;
    std::vector<NodeId> waiting(of.begin(), of.end());
    while (!waiting.empty()) {
      const NodeId next = waiting.back();
      waiting.pop_back();
      if (enough(next)) break;
      for (const auto& input : graph_.node(next).inputs) {
        if (seen.insert(input.node).second) waiting.push_back(input.node);
      }
    }
    return seen;
  }
  std::unordered_set<NodeId> cone(const std::unordered_set<NodeId>& of) const {
    return cone(of, [](NodeId) { return false; });
  }

  bool is_within_bound(NodeId id) const {
    const int64_t needed = bytes_of(graph_, id) / kMostOfRewrites;
    int64_t weights = 0;
    cone({id}, [&](NodeId source) {
      if (graph_.node(source).op() == Op::weight) weights += bytes_of(graph_, source);
      return weights >= needed;
    });
    return weights >= needed;
  }

  // What rewrites made within its bound, and the weights for it, count neither before nor after.
  void allow_new(NodeId first_new) {
    std::unordered_set<NodeId> is_new, allowed;
    for (const NodeId id : order_) {
      const auto& inputs = graph_.node(id).inputs;
      if (id >= first_new || std::ranges::any_of(inputs, [&](const auto& in) { return is_new.contains(in.node); }))
        is_new.insert(id);
      if (is_new.contains(id) && values_.contains(id) && is_within_bound(id)) allowed.insert(id);
    }
    for (const NodeId id : cone(allowed)) {
      if (graph_.node(id).op() == Op::weight) weights_.insert(id);
    }
    for (const NodeId id : allowed) growth_ -= bytes_of(graph_, id);
    std::erase_if(values_, [&](NodeId id) { return allowed.contains(id); });
    written_ = std::move(allowed);
  }

  // The least bytes with which each constant can be written, as far as it is not written yet.
  void find_least() {
    least_.clear();
    for (const NodeId id : order_) {
      const auto& node = graph_.node(id);
      const bool written = weights_.contains(id) || values_.contains(id) || written_.contains(id) ||
                           operators_.contains(id) || is_free(node);
      const int64_t own = bytes_of(graph_, id);
      least_[id] = written ? 0 : node.op() == Op::weight ? own : std::min(own, operands(id));
    }
  }

  int64_t operands(NodeId id) const {
    int64_t sum = 0;
    for (const auto& input : graph_.node(id).inputs) {
      const auto found = least_.find(input.node);
      if (found != least_.end() && !__builtin_add_overflow(sum, found->second, &sum)) continue;
      if (found != least_.end()) return std::numeric_limits<int64_t>::max();
    }
    return sum;
  }

  // Values with whose operators the file is smaller, those that save the most first; one at least.
  void unfold_some(bool all) {
    find_least();
    std::vector<std::pair<int64_t, NodeId>> saved;
    for (const NodeId id : may_go_) saved.emplace_back(bytes_of(graph_, id) - operands(id), id);
    std::ranges::sort(saved, [&](const auto& a, const auto& b) {
      if (a.first != b.first) return a.first > b.first;
      const int64_t one = bytes_of(graph_, a.second), other = bytes_of(graph_, b.second);
      return one != other ? one > other : graph_.position(a.second) < graph_.position(b.second);
    });
    bool first = true;
    for (const auto& [bytes, id] : saved) {
      if (growth_ <= ops::kMostGrowthOfStep || (bytes <= 0 && !first && !all)) return;
      first = false;
      may_go_.erase(id);
      values_.erase(id);
      growth_ -= bytes_of(graph_, id);
      become_operator(id);
    }
  }

  void become_operator(NodeId id) {
    std::vector<NodeId> waiting{id};
    while (!waiting.empty()) {
      const NodeId next = waiting.back();
      waiting.pop_back();
      if (!operators_.insert(next).second) continue;
      for (const auto& input : graph_.node(next).inputs) {
        const NodeId source = input.node;
        const bool known = operators_.contains(source) || written_.contains(source) || values_.contains(source) ||
                           !least_.contains(source);
        if (known || is_free(graph_.node(source))) continue;
        if (graph_.node(source).op() != Op::weight && operands(source) < bytes_of(graph_, source)) {
          waiting.push_back(source);
        } else {
          if (graph_.node(source).op() != Op::weight) may_go_.insert(source);
          write(source);
        }
      }
    }
  }

  const Graph& graph_;
  std::vector<NodeId> order_;                                // constant nodes
  std::unordered_set<NodeId> weights_, values_, operators_;  // how constants are written
  std::unordered_set<NodeId> written_;                       // values of rewrites: they are, too, and stay
  std::unordered_set<NodeId> may_go_;                        // of values_
  std::unordered_map<NodeId, int64_t> least_;
  int64_t growth_ = 0;
};

}  // namespace

std::unordered_set<NodeId> left_for_size(const Graph& graph, const std::unordered_set<NodeId>& left, NodeId first_new) {
  return Plan(graph, left, first_new).run();
}

std::unordered_set<NodeId> too_large(const Graph& graph) {
  std::unordered_set<NodeId> left;
  for (const NodeId id : graph.order()) {
    const auto& node = graph.node(id);
    if (!node.constant || node.op() == Op::weight) continue;
    int64_t operands = 0;
    bool of_left = false;
    for (const auto& input : node.inputs) {
      operands += graph.type(input).bytes();
      of_left = of_left || left.contains(input.node);
    }
    const int64_t bytes = bytes_of(graph, id);
    if (of_left || (!is_free(node) && bytes > ops::kMostFoldedBytes && bytes > 2 * operands)) left.insert(id);
  }
  return left;
}

}  // namespace rlgo::verify
