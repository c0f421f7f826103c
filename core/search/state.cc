#include "core/search/state.h"

#include <algorithm>

namespace rlgo::search {

rules::Trace to_trace(const Trail* trail) {
  rules::Trace trace;
  for (; trail != nullptr; trail = trail->before.get()) trace.push_back(trail->step);
  std::ranges::reverse(trace);
  return trace;
}

std::vector<rules::Rewrite> State::steps(int max_locations) const {
  std::vector<rules::Rewrite> steps;
  for (int32_t rule = 0; rule < index.rules().size(); ++rule) {
    const auto count = static_cast<int32_t>(std::min(index.matches(rule).size(), static_cast<size_t>(max_locations)));
    for (int32_t location = 0; location < count; ++location) steps.push_back({rule, location});
  }
  return steps;
}

int64_t State::bytes() const {
  const auto per_node = static_cast<int64_t>(sizeof(graph::Node) + 2 * sizeof(int32_t) + 3 * sizeof(uint64_t));
  return static_cast<int64_t>(sizeof(State)) + per_node * graph.id_bound() + int64_t{256} * index.rules().size();
}

double ThreadCost::op_us(const graph::Graph& graph, graph::NodeId id) {
  const graph::Node& node = graph.node(id);
  if (cost::is_free(node)) return 0;
  if (!is_local()) {
    const std::lock_guard lock(shared_.mutex);
    return shared_.model.op_us(graph, id);
  }
  const auto [at, is_new] = us_.try_emplace(node.info->signature_hash, 0.0);
  if (is_new) {
    const std::lock_guard lock(shared_.mutex);
    at->second = shared_.model.op_us(graph, id);
  }
  return at->second;
}

std::optional<State> follow(const State& from, const rules::Rewrite& step, cost::CostModel& cost) {
  graph::Editor editor(from.graph);
  graph::NameHash::Replaced replaced;
  from.index.edit(step.rule, step.location, editor, &replaced);
  graph::Delta delta;
  auto graph = editor.finish(&delta);
  if (!graph) return std::nullopt;
  const double delta_us = cost::delta_us(cost, from.graph, *graph, delta);
  rules::MatchIndex index = from.index;
  index.update(*graph, delta);
  graph::NameHash hash = from.hash;
  hash.advance(from.graph, *graph, delta, replaced);
  return State{std::move(*graph),       std::move(index), std::move(hash),
               from.cost_us + delta_us, from.depth + 1,   std::make_shared<const Trail>(Trail{from.trail, step})};
}

Child Evaluator::operator()(const rules::Rewrite& step) {
  replaced_.clear();
  from_.index.edit(step.rule, step.location, trial_.editor(), &replaced_);
  const graph::Delta& delta = trial_.apply();
  const Child child{step, from_.cost_us + cost::delta_us(cost_, from_.graph, trial_.graph(), delta),
                    hash_.after(from_.graph, trial_.graph(), delta, replaced_)};
  trial_.undo();
  return child;
}

}  // namespace rlgo::search
