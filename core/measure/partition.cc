#include "core/measure/partition.h"

#include <algorithm>
#include <tuple>

#include "core/base/error.h"
#include "core/base/small_vector.h"
#include "core/cost/cost.h"
#include "core/measure/numbered.h"
#include "core/ops/moves.h"

namespace rlgo::measure {
namespace {

using graph::Graph;
using graph::kNoNode;
using graph::Node;
using graph::NodeId;
using graph::Use;
using graph::Value;
using ops::Attr;
using ops::Op;

constexpr int kLongestWalk = 8;        // steps along a chain when readers are looked for
constexpr size_t kMostReaders = 4;     // of a result that a chain reads several times
using Walk = SmallVector<NodeId, 10>;  // a node and what follows it

bool is_elementwise(Op op) { return ops::spec(op).elementwise; }
bool is_heavy(Op op) { return op == Op::conv2d || op == Op::matmul; }

bool reduces_last_axis(const Graph& graph, const Node& node) {
  const auto& axes = node.attrs().ints(Attr::axes);
  return axes.size() == 1 && axes[0] == graph.type(node.inputs[0]).rank() - 1 && node.attrs().i(Attr::keepdims) == 1;
}

bool is_follower(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (cost::is_free(node)) return false;
  const Op op = node.op();
  if (ops::is_reduction(op)) return reduces_last_axis(graph, node);
  return is_elementwise(op) || op == Op::batch_norm || ops::is_normalisation(op);
}

// Equal, but for the last axis where one of the two may be 1.
bool shapes_agree(const ops::TensorType& a, const ops::TensorType& b) {
  if (a.rank() != b.rank()) return false;
  const int rank = a.rank();
  for (int i = 0; i < rank; ++i) {
    if (a.shape[i] == b.shape[i]) continue;
    if (i != rank - 1 || (a.shape[i] != 1 && b.shape[i] != 1)) return false;
  }
  return true;
}

// Whether `next`, a follower that reads `id`, may join its group.
bool leads(const Graph& graph, NodeId id, NodeId next) {
  const Node& node = graph.node(id);
  if (cost::is_free(node) || node.info->outputs.size() != 1) return false;
  const Op op = node.op();
  const bool any = is_heavy(op) || is_elementwise(op) || op == Op::batch_norm ||
                   (ops::is_reduction(op) && reduces_last_axis(graph, node));
  if (!any) return false;
  if (ops::is_normalisation(graph.node(next).op()) && !is_elementwise(op)) return false;
  return shapes_agree(node.info->outputs[0], graph.node(next).info->outputs[0]);
}

// `first`, and one after the other the followers that alone read what came before.
Walk walk_from(const Graph& graph, NodeId first) {
  Walk path;
  path.push_back(first);
  for (int step = 0; step < kLongestWalk; ++step) {
    const NodeId last = path.back();
    const Node& node = graph.node(last);
    if (node.uses.size() != 1 || graph.is_output(last)) break;
    const NodeId next = node.uses[0].user;
    if (!is_follower(graph, next) || !leads(graph, last, next)) break;
    path.push_back(next);
  }
  return path;
}

// All readers of `id` are `first` and what follows that.
bool chain_reads_all(const Graph& graph, NodeId id, NodeId first) {
  const Node& node = graph.node(id);
  if (node.uses.size() > kMostReaders || graph.is_output(id)) return false;
  const Walk path = walk_from(graph, first);
  return std::all_of(node.uses.begin(), node.uses.end(),
                     [&](const Use& use) { return std::find(path.begin(), path.end(), use.user) != path.end(); });
}

bool swaps_last_two(const ops::Ints& perm) {
  const auto rank = static_cast<int64_t>(perm.size());
  if (rank < 2 || perm[static_cast<size_t>(rank - 1)] != rank - 2 || perm[static_cast<size_t>(rank - 2)] != rank - 1)
    return false;
  for (int64_t i = 0; i + 2 < rank; ++i) {
    if (perm[static_cast<size_t>(i)] != i) return false;
  }
  return true;
}

bool scales_by_number(const Graph& graph, const Node& node) {
  if (node.op() != Op::mul && node.op() != Op::div) return false;
  return std::any_of(node.inputs.begin(), node.inputs.end(), [&](const Value& in) {
    return graph.node(in.node).constant && graph.type(in).is_static() && graph.type(in).elements() == 1;
  });
}

// The convolution or matmul that alone reads a node which such kernels do on the way.
NodeId host_of(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  if (node.uses.size() != 1 || graph.is_output(id)) return kNoNode;
  const Use use = node.uses[0];
  const Op reader = graph.node(use.user).op();
  if (reader == Op::conv2d && use.input == 0 && node.op() == Op::pad) return use.user;
  if (reader != Op::matmul || use.input > 1) return kNoNode;
  const bool joins =
      node.op() == Op::transpose ? swaps_last_two(node.attrs().ints(Attr::perm)) : scales_by_number(graph, node);
  return joins ? use.user : kNoNode;
}

// Of the results that a follower reads, the one whose group it joins. The choice must not depend on the order of
// operands.
NodeId followed(const Graph& graph, NodeId id) {
  NodeId best = kNoNode;
  std::tuple<bool, bool, uint64_t> best_rank;
  for (const Value& in : graph.node(id).inputs) {
    const Node& node = graph.node(in.node);
    if (node.constant || !leads(graph, in.node, id)) continue;
    const bool alone = node.uses.size() == 1 && !graph.is_output(in.node);
    if (!alone && !chain_reads_all(graph, in.node, id)) continue;
    const std::tuple<bool, bool, uint64_t> rank{is_heavy(node.op()), alone, node.info->signature_hash};
    if (best != kNoNode && rank <= best_rank) continue;
    best = in.node;
    best_rank = rank;
  }
  return best;
}

// Nodes whose leader may be another one because of a change at `id`.
void add_uncertain(const Graph& graph, NodeId id, std::vector<NodeId>& out) {
  const auto add_readers = [&](NodeId of) {
    if (graph.node(of).constant) return;
    for (const Use& use : graph.node(of).uses) out.push_back(use.user);
  };
  out.push_back(id);
  add_readers(id);
  for (const Value& in : graph.node(id).inputs) add_readers(in.node);
  // Chains that lead here: code that reads what their nodes read may count on them (chain_reads_all).
  std::vector<std::pair<NodeId, int>> back = {{id, 0}};
  for (size_t i = 0; i < back.size(); ++i) {
    const auto [node, depth] = back[i];
    if (depth == kLongestWalk || !is_follower(graph, node)) continue;
    for (const Value& in : graph.node(node).inputs) {
      const Node& before = graph.node(in.node);
      if (before.constant || before.uses.size() != 1 || !is_follower(graph, in.node)) continue;
      for (const Value& read : before.inputs) add_readers(read.node);
      back.emplace_back(in.node, depth + 1);
    }
  }
}

// Appends `id` behind those of its inputs that are in the group. (The graph's own order is not asked: a graph that an
// edit is tried on has none.)
void order_after_inputs(const Graph& graph, const Numbered<NodeId>& group, NodeId id, std::vector<bool>& seen,
                        std::vector<NodeId>& out) {
  const auto is_new = [&](NodeId node) {
    const auto number = group.find(node);
    if (!number || seen[*number]) return false;
    seen[*number] = true;
    return true;
  };
  std::vector<std::pair<NodeId, size_t>> open;  // a node, and how many of its inputs were looked at
  if (is_new(id)) open.emplace_back(id, 0);
  while (!open.empty()) {
    auto& [node, next] = open.back();
    const auto& inputs = graph.node(node).inputs;
    if (next == inputs.size()) {
      out.push_back(node);
      open.pop_back();
    } else if (const NodeId before = inputs[next++].node; is_new(before)) {
      open.emplace_back(before, 0);
    }
  }
}

void sort_unique(std::vector<NodeId>& ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

}  // namespace

NodeId leader(const Graph& graph, NodeId id) {
  if (cost::is_free(graph.node(id))) return kNoNode;
  const NodeId before = is_follower(graph, id) ? followed(graph, id) : kNoNode;
  return before != kNoNode ? before : host_of(graph, id);
}

NodeId head(const Graph& graph, NodeId id) {
  // An edit that is only tried may have made a cycle; then any node of it will do.
  for (int steps = 0; steps < graph.id_bound(); ++steps) {
    const NodeId next = leader(graph, id);
    if (next == kNoNode) break;
    id = next;
  }
  return id;
}

std::vector<NodeId> members(const Graph& graph, NodeId head) {
  Numbered<NodeId> found;
  found.add(head);
  const auto add = [&](NodeId id, NodeId of) {
    if (!found.contains(id) && leader(graph, id) == of) found.add(id);
  };
  for (size_t i = 0; i < found.size(); ++i) {
    const NodeId id = found[i];
    for (const Use& use : graph.node(id).uses) add(use.user, id);
    if (!is_heavy(graph.node(id).op())) continue;
    for (const Value& in : graph.node(id).inputs) add(in.node, id);
  }
  std::vector<NodeId> ordered;
  std::vector<bool> seen(found.size(), false);
  for (size_t k = 0; k < found.size(); ++k) order_after_inputs(graph, found, found[k], seen, ordered);
  return ordered;
}

std::vector<NodeId> regrouped(const Graph& graph, std::span<const NodeId> changed) {
  std::vector<NodeId> uncertain;
  for (const NodeId id : changed) {
    if (!graph.node(id).constant) add_uncertain(graph, id, uncertain);
  }
  sort_unique(uncertain);
  // Where they join, and what they may have left.
  std::vector<NodeId> near = uncertain;
  for (const NodeId id : uncertain) {
    for (const Value& in : graph.node(id).inputs) near.push_back(in.node);
    for (const Use& use : graph.node(id).uses) near.push_back(use.user);
  }
  sort_unique(near);
  std::vector<NodeId> out;
  for (const NodeId id : near) {
    if (cost::is_free(graph.node(id))) continue;
    out.push_back(head(graph, id));
  }
  for (const NodeId id : uncertain) {
    if (!graph.node(id).constant) out.push_back(id);
  }
  sort_unique(out);
  return out;
}

}  // namespace rlgo::measure
