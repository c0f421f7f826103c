// Delta debugging (Zeller and Hildebrandt 2002), in parts: rewrites that neither read nor change what others change
// cannot make a difference to these, so each such part is minimised alone, on the unmodified graph.
#include "core/search/trace.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "core/base/error.h"
#include "core/rules/together.h"
#include "core/search/macro.h"

namespace rlgo::search {
namespace {

using graph::NodeId;

constexpr int64_t kMostMoves = 200'000;  // seconds; then what is left stays

// Numbers of the rewrites, by part: two share a part where one changes a node that the other reads or changes.
std::vector<std::vector<size_t>> parts_of(std::span<const Taken> taken) {
  std::vector<size_t> part(taken.size());
  std::iota(part.begin(), part.end(), size_t{0});
  const auto root = [&](size_t k) {
    while (part[k] != k) k = part[k] = part[part[k]];
    return k;
  };
  std::map<NodeId, size_t> changed;  // a rewrite that changes the node
  for (size_t k = 0; k < taken.size(); ++k) {
    for (const NodeId id : taken[k].changed) part[root(k)] = root(changed.try_emplace(id, k).first->second);
  }
  for (size_t k = 0; k < taken.size(); ++k) {
    for (const NodeId id : taken[k].move->reads) {
      const auto by = changed.find(id);
      if (by != changed.end()) part[root(k)] = root(by->second);
    }
  }
  std::map<size_t, std::vector<size_t>> parts;
  for (size_t k = 0; k < taken.size(); ++k) parts[root(k)].push_back(k);
  std::vector<std::vector<size_t>> out;
  for (auto& [first, steps] : parts) out.push_back(std::move(steps));
  return out;
}

}  // namespace

MinimalTrace minimal_trace(const Problem& problem, const rules::Trace& trace, int max_locations,
                           const std::function<bool()>& stop) {
  if (rules::any_together(trace)) return {trace, false};
  const double before_us = cost::graph_cost(problem.cost, problem.graph).runtime_us;
  const State start{problem.graph,
                    rules::MatchIndex(problem.rules, problem.graph, stop),
                    graph::NameHash(problem.graph),
                    before_us,
                    0,
                    nullptr};
  if (!start.index.complete()) return {trace, false};
  const Keep keep = problem.cost.is_local() ? Keep::cost : Keep::graph;
  // Searches follow matches that moved beyond the limit: what the trace itself holds is always within reach.
  for (const auto& rewrite : trace) max_locations = std::max(max_locations, rewrite.location + 1);
  Walk walk(start, problem.cost, problem.cost, max_locations, nullptr);
  bool complete = true;
  const auto may_continue = [&] {
    complete = complete && walk.moves() < kMostMoves && !(stop && stop());
    return complete;
  };
  const Walk::Mark mark = walk.mark();
  const std::vector<Taken> taken = play_trace(walk, trace, may_continue);
  if (taken.size() < trace.size()) return {trace, false};
  const double cost_us = walk.cost_us(), tolerance_us = 1e-9 * before_us;
  const uint64_t hash = walk.hash();
  const Macro macro = to_macro(taken);

  std::vector<size_t> steps;
  for (auto& part : parts_of(taken)) {
    const auto kept = minimise(walk, mark, macro, std::move(part), keep, tolerance_us, may_continue);
    steps.insert(steps.end(), kept.begin(), kept.end());
  }
  std::ranges::sort(steps);
  const auto holds = [&] {
    return keep == Keep::graph ? walk.hash() == hash : walk.cost_us() <= cost_us + tolerance_us;
  };
  walk.restore(mark);
  MacroPlayer player(walk, macro);
  player.play_in_place();
  bool all = true;
  for (const size_t s : steps) all = player.take(s) && all;
  if (!all || !holds()) return {trace, false};
  return {to_trace(walk.trail().get()), complete};
}

}  // namespace rlgo::search
