#include "core/search/region.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rlgo::search {

using graph::NodeId;

void Region::open(const graph::Graph& graph, const rules::Match& match, size_t size) {
  inside_.assign(static_cast<size_t>(graph.id_bound()), 0);
  queue_.clear();
  const auto add = [&](NodeId id) {
    const graph::Node& node = graph.node(id);
    if (inside_[static_cast<size_t>(id)] != 0 || node.constant || node.op() == ops::Op::input) return;
    inside_[static_cast<size_t>(id)] = 1;
    queue_.push_back(id);
  };
  for (const NodeId id : match.nodes) add(id);
  for (size_t k = 0; k < queue_.size() && queue_.size() < size; ++k) {
    const graph::Node& node = graph.node(queue_[k]);
    for (const graph::Value& v : node.inputs) {
      if (queue_.size() < size) add(v.node);
    }
    for (const graph::Use& use : node.uses) {
      if (queue_.size() < size) add(use.user);
    }
  }
}

void Region::add(const graph::Graph& graph, std::span<const NodeId> made) {
  inside_.resize(static_cast<size_t>(graph.id_bound()), 0);
  for (const NodeId id : made) inside_[static_cast<size_t>(id)] = 1;
}

bool Region::contains(const graph::Graph& graph, const rules::Match& match) const {
  return std::ranges::all_of(match.nodes, [&](NodeId id) {
    return (static_cast<size_t>(id) < inside_.size() && inside_[static_cast<size_t>(id)] != 0) ||
           graph.node(id).constant;
  });
}

size_t draw_kind(std::span<const Place> places, double tolerance_us, Rng& rng) {
  std::vector<size_t> order(places.size()), first;
  std::iota(order.begin(), order.end(), size_t{0});
  const auto key = [&](size_t k) {
    const double delta_us = places[k].move ? places[k].move->delta_us : 0;
    return std::pair(places[k].step.rule, std::round(delta_us / (tolerance_us + 1e-12)));
  };
  std::ranges::stable_sort(order, {}, key);
  for (size_t k = 0; k < order.size(); ++k) {
    if (k == 0 || key(order[k]) != key(order[k - 1])) first.push_back(k);
  }
  const size_t kind = rng.below(first.size());
  const size_t end = kind + 1 < first.size() ? first[kind + 1] : order.size();
  return order[first[kind] + rng.below(end - first[kind])];
}

std::optional<size_t> steepest(std::span<const Place> places, double tolerance_us,
                               const std::function<bool(size_t)>& allows) {
  std::optional<size_t> best;
  double least_us = -tolerance_us;
  for (size_t k = 0; k < places.size(); ++k) {
    const auto& move = places[k].move;
    if (!move || move->delta_us >= least_us || (allows && !allows(k))) continue;
    best = k;
    least_us = move->delta_us;
  }
  return best;
}

}  // namespace rlgo::search
