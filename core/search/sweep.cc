#include <algorithm>
#include <limits>
#include <unordered_set>

#include "core/rules/together.h"
#include "core/search/context.h"

namespace rlgo::search {
namespace {

constexpr size_t kMany = 200;  // rewrites, that are made together; fewer are made one by one

// Where a match of another graph is found in this one; matches move when others come and go.
std::optional<rules::Rewrite> find(const rules::MatchIndex& index, const rules::Match& wanted) {
  std::optional<rules::Rewrite> found;
  const auto matches = index.matches(wanted.rule);
  for (size_t k = 0; k < matches.size(); ++k) {
    if (matches[k].nodes != wanted.nodes) continue;
    const bool same = matches[k].variables == wanted.variables;
    if (same || !found) found = rules::Rewrite{wanted.rule, static_cast<int32_t>(k)};
    if (same) break;
  }
  return found;
}

// All rewrites of a state, without hashes: that of a node with a long list takes as long as the list.
std::vector<Child> priced(Context& context, const State& state) {
  graph::Trial trial(state.graph);
  std::vector<Child> children;
  for (const rules::Rewrite& step : state.steps(std::numeric_limits<int>::max())) {
    if (!context.may_continue()) break;
    state.index.edit(step.rule, step.location, trial.editor());
    const double delta_us = cost::delta_us(context.thread_cost(0), state.graph, trial.graph(), trial.apply());
    trial.undo();
    children.push_back({step, state.cost_us + delta_us});
    ++context.counters().candidates;
  }
  if (context.options().progress) context.options().progress(context.counters(), context.best_us());
  return children;
}

// Rewrites of a state that lower its cost, the best first; of equals the first.
std::vector<Child> improving(const State& state, std::vector<Child> children, double tolerance_us) {
  std::erase_if(children, [&](const Child& child) { return child.cost_us >= state.cost_us - tolerance_us; });
  std::ranges::stable_sort(children, {}, &Child::cost_us);
  return children;
}

const rules::Match& match_of(const State& state, const Child& child) {
  return state.index.matches(child.step.rule)[static_cast<size_t>(child.step.location)];
}

// Those of them that share no node, the best first; in the order in which they may be made together.
std::vector<Child> apart(const State& state, std::span<const Child> wanted) {
  std::unordered_set<graph::NodeId> taken;
  std::vector<std::pair<int32_t, Child>> some;  // with the position of the last node
  for (const Child& child : wanted) {
    const auto& nodes = match_of(state, child).nodes;
    if (std::ranges::any_of(nodes, [&](graph::NodeId id) { return taken.contains(id); })) continue;
    int32_t last = 0;
    for (const graph::NodeId id : nodes) {
      if (!state.graph.node(id).constant) taken.insert(id);
      last = std::max(last, state.graph.position(id));
    }
    some.emplace_back(last, child);
  }
  std::ranges::stable_sort(some, std::greater(), [](const auto& one) { return one.first; });
  std::vector<Child> out;
  for (const auto& [last, child] : some) out.push_back(child);
  return out;
}

// Makes those that are apart as one edit. Null where they make a cycle, or gain less than half of what they do alone.
StatePtr follow_together(Context& context, const State& start, std::span<const Child> wanted) {
  graph::Trial trial(start.graph);
  rules::Together edit(start.index, trial);
  std::shared_ptr<const Trail> trail = start.trail;
  int made = 0;
  double gain_us = 0;
  for (const Child& child : apart(start, wanted)) {
    auto [rule, location] = child.step;
    if (!edit.add(rule, location)) continue;
    trail = std::make_shared<const Trail>(Trail{trail, {rule, made++ == 0 ? location : -1 - location}});
    gain_us += start.cost_us - child.cost_us;
  }
  trial.apply();
  if (made < 2 || !trial.keep()) return nullptr;
  const graph::Graph& graph = trial.graph();
  const double cost_us = cost::graph_cost(context.thread_cost(0), graph).runtime_us;
  if (cost_us > start.cost_us - gain_us / 2) return nullptr;
  context.counters().steps += made;
  auto state = std::make_shared<const State>(
      State{graph, rules::MatchIndex(context.problem().rules, graph, context.options().stop), graph::NameHash(graph),
            cost_us, start.depth + made, std::move(trail)});
  context.offer(*state);
  return state;
}

// Follows those that still lower the cost; what the first one does is known. Null where none could be followed. In
// place: a copy of the graph for each would take time by the square.
StatePtr follow_all(Context& context, const State& start, std::span<const Child> wanted) {
  std::vector<rules::Match> matches;
  for (const Child& child : wanted) matches.push_back(match_of(start, child));
  cost::CostModel& measured = context.problem().cost;
  Walk walk(start, context.thread_cost(0), measured, 0, nullptr);
  for (const rules::Match& match : matches) {
    if (walk.moves() > 0 && !context.may_continue()) break;
    const auto step = find(walk.matches(), match);
    if (!step) continue;
    const size_t unknown = measured.deferred();
    const auto still_pays = [&](const Move& move) {
      if (walk.moves() == 0) return true;
      ++context.counters().candidates;
      return measured.deferred() == unknown && move.delta_us < -context.tolerance_us();
    };
    if (walk.take(*step, still_pays)) ++context.counters().steps;
  }
  if (walk.moves() == 0) return nullptr;
  const Walk::Mark mark = walk.mark();
  context.offer(mark);
  return std::make_shared<const State>(State{mark.graph, mark.index, mark.hash, mark.cost_us, mark.depth, mark.trail});
}

}  // namespace

Result sweep(const Problem& problem, const Options& options) {
  Context context(problem, options);
  StatePtr state = context.start();
  const bool together = options.together && problem.cost.is_local();
  while (state && context.may_continue()) {
    const auto wanted =
        improving(*state, together ? priced(context, *state) : context.evaluate(state), context.tolerance_us());
    if (wanted.empty()) break;
    const bool gathers = problem.cost.defer();
    StatePtr next = together && wanted.size() >= kMany ? follow_together(context, *state, wanted) : nullptr;
    state = next ? std::move(next) : follow_all(context, *state, wanted);
    if (gathers) problem.cost.flush();
  }
  return context.finish();
}

}  // namespace rlgo::search
