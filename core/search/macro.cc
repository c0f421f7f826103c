#include "core/search/macro.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "core/base/error.h"
#include "core/rules/minimise.h"

namespace rlgo::search {

using graph::NodeId;

std::optional<Taken> take(Walk& walk, size_t k) {
  if (!walk.take(k)) return std::nullopt;
  const auto added = walk.added(), changed = walk.changed();
  Taken taken{walk.last(), {added.begin(), added.end()}, {changed.begin(), changed.end()}};
  // Constants last: where one is there already it is not made again, and the others keep their numbers.
  std::stable_partition(taken.added.begin(), taken.added.end(),
                        [&](NodeId id) { return !walk.graph().node(id).constant; });
  return taken;
}

std::optional<Taken> take(Walk& walk, const rules::Rewrite& rewrite) {
  const auto place = walk.find(rewrite);
  return place ? take(walk, *place) : std::nullopt;
}

std::vector<Taken> play_trace(Walk& walk, const rules::Trace& trace, const std::function<bool()>& may_continue) {
  std::vector<Taken> taken;
  for (size_t k = 0; k < trace.size() && (!may_continue || may_continue()); ++k) {
    auto made = take(walk, trace[k]);
    if (!made) fail("trace, step {}: rule {} does not apply at location {}", k + 1, trace[k].rule, trace[k].location);
    taken.push_back(std::move(*made));
  }
  return taken;
}

Macro to_macro(std::span<const Taken> taken) {
  std::unordered_map<NodeId, NodeRef> made;
  const auto ref = [&](NodeId id) {
    const auto known = made.find(id);
    return known == made.end() ? NodeRef{-1, id} : known->second;
  };
  Macro macro;
  for (size_t s = 0; s < taken.size(); ++s) {
    const rules::Match& match = *taken[s].move->match;
    MacroStep step{match.rule, {}, {}, taken[s].move->delta_us};
    for (const NodeId id : match.nodes) step.nodes.push_back(ref(id));
    for (const graph::Value& v : match.variables) step.variables.push_back({ref(v.node), v.port});
    macro.push_back(std::move(step));
    for (size_t k = 0; k < taken[s].added.size(); ++k) {
      made[taken[s].added[k]] = {static_cast<int32_t>(s), static_cast<int32_t>(k)};
    }
  }
  return macro;
}

std::optional<NodeId> MacroPlayer::resolve(const NodeRef& ref) const {
  if (ref.made_by >= 0) {
    const auto& made = made_[static_cast<size_t>(ref.made_by)];
    if (static_cast<size_t>(ref.index) < made.size()) return made[static_cast<size_t>(ref.index)];
    // Its maker was left out: what that would have replaced is still there.
    const auto& replaced = macro_[static_cast<size_t>(ref.made_by)].nodes;
    return replaced.empty() ? graph::kNoNode : resolve(replaced[0]).value_or(graph::kNoNode);
  }
  if (in_place_) return ref.index;
  for (const auto& [recorded, here] : bound_) {
    if (recorded == ref.index) return here;
  }
  return std::nullopt;
}

int MacroPlayer::agreement(const MacroStep& step, const rules::Match& match) const {
  if (match.nodes.size() != step.nodes.size() || match.variables.size() != step.variables.size()) return -1;
  int agreed = 0;
  for (size_t k = 0; k < step.nodes.size(); ++k) {
    const auto wanted = resolve(step.nodes[k]);
    if (wanted && *wanted != match.nodes[k]) return -1;
    agreed += wanted ? 2 : 0;
  }
  for (size_t k = 0; k < step.variables.size(); ++k) {
    const auto wanted = resolve(step.variables[k].node);
    const bool same = wanted && graph::Value{*wanted, step.variables[k].port} == match.variables[k];
    agreed += same ? 1 : 0;
  }
  return agreed;
}

void MacroPlayer::bind(const MacroStep& step, const rules::Match& match) {
  const auto add = [&](const NodeRef& ref, NodeId here) {
    if (ref.made_by < 0 && !resolve(ref)) bound_.emplace_back(ref.index, here);
  };
  for (size_t k = 0; k < step.nodes.size(); ++k) add(step.nodes[k], match.nodes[k]);
  for (size_t k = 0; k < step.variables.size(); ++k) add(step.variables[k].node, match.variables[k].node);
}

std::optional<size_t> MacroPlayer::find(size_t s) const {
  const MacroStep& step = macro_[s];
  const auto places = walk_.places();
  const auto rule_of = [](const Place& place) { return place.step.rule; };
  const auto first = std::ranges::lower_bound(places, step.rule, {}, rule_of);
  const auto last = std::ranges::upper_bound(places, step.rule, {}, rule_of);
  size_t best = places.size();
  int best_agreed = 0;
  double best_gap = 0;
  for (auto at = first; at != last; ++at) {
    if (!at->move || (walk_.evaluates() && !std::isfinite(at->move->delta_us))) continue;
    const int agreed = agreement(step, *at->move->match);
    const double gap = walk_.evaluates() ? std::abs(at->move->delta_us - step.delta_us) : 0;
    if (agreed < best_agreed || agreed <= 0 || (agreed == best_agreed && gap >= best_gap)) continue;
    best = static_cast<size_t>(at - places.begin());
    best_agreed = agreed;
    best_gap = gap;
  }
  if (best == places.size()) return std::nullopt;
  return best;
}

bool MacroPlayer::take(size_t s) {
  const auto place = find(s);
  return place && take_at(s, *place);
}

bool MacroPlayer::take_at(size_t s, size_t place) {
  auto taken = search::take(walk_, place);
  if (!taken) return false;
  if (!in_place_) bind(macro_[s], *taken->move->match);
  made_[s] = taken->added;
  taken_.push_back(std::move(*taken));
  return true;
}

namespace {

struct Played {
  std::vector<size_t> steps;  // that could be made
  std::vector<Taken> taken;
};
Played play(Walk& walk, const Walk::Mark& start, const Macro& macro, std::span<const size_t> steps) {
  walk.restore(start);
  MacroPlayer player(walk, macro);
  player.play_in_place();
  std::vector<size_t> made;
  for (const size_t s : steps) {
    if (player.take(s)) made.push_back(s);
  }
  return {std::move(made), player.taken()};
}

}  // namespace

std::vector<size_t> minimise(Walk& walk, const Walk::Mark& start, const Macro& macro, std::vector<size_t> steps,
                             Keep keep, double tolerance_us, const std::function<bool()>& may_continue) {
  steps = play(walk, start, macro, steps).steps;
  const double cost_us = walk.cost_us();
  const uint64_t hash = walk.hash();
  const auto attempt = [&](const std::vector<size_t>& rest) -> std::optional<std::vector<size_t>> {
    auto made = play(walk, start, macro, rest).steps;
    const bool good = keep == Keep::cost ? walk.cost_us() <= cost_us + tolerance_us : walk.hash() == hash;
    return good ? std::optional(std::move(made)) : std::nullopt;
  };
  const size_t half = std::max<size_t>(1, steps.size() / 2);
  steps = rules::minimise(std::move(steps), half, attempt, may_continue);
  return play(walk, start, macro, steps).steps;
}

std::vector<Taken> minimise(Walk& walk, const Walk::Mark& start, std::span<const Taken> taken, double tolerance_us,
                            const std::function<bool()>& may_continue) {
  const Macro macro = to_macro(taken);
  std::vector<size_t> steps(taken.size());
  std::iota(steps.begin(), steps.end(), size_t{0});
  steps = minimise(walk, start, macro, std::move(steps), Keep::cost, tolerance_us, may_continue);
  return play(walk, start, macro, steps).taken;
}

namespace {

// The steps from `first` on, each of them concerning a node of those before: the first of those that do. Not all of
// them where some stand alone.
std::vector<size_t> connected_order(const Macro& macro, const Walk::Mark& start, size_t first) {
  std::vector<size_t> order;
  std::vector<NodeRef> known;
  std::vector<uint8_t> done(macro.size(), 0);
  const auto is_there = [&](const NodeRef& ref) {
    return ref.made_by < 0 || done[static_cast<size_t>(ref.made_by)] != 0;
  };
  // What stands where a step that is not made yet would have put a node.
  const auto know = [&](NodeRef ref) {
    while (!is_there(ref) && !macro[static_cast<size_t>(ref.made_by)].nodes.empty())
      ref = macro[static_cast<size_t>(ref.made_by)].nodes[0];
    if (ref.made_by < 0 && !start.graph.node(ref.index).constant) known.push_back(ref);
  };
  const auto is_known = [&](const NodeRef& ref) {
    return ref.made_by >= 0 || std::ranges::find(known, ref) != known.end();
  };
  for (size_t s = first; s < macro.size();) {
    for (const NodeRef& ref : macro[s].nodes) know(ref);
    for (const ValueRef& v : macro[s].variables) know(v.node);
    done[s] = 1;
    order.push_back(s);
    const auto next = [&](const auto& is_near) {
      for (s = 0; s < macro.size(); ++s) {
        if (done[s] == 0 && std::ranges::all_of(macro[s].nodes, is_there) && is_near(macro[s])) return true;
      }
      return false;
    };
    if (next([&](const MacroStep& step) { return std::ranges::any_of(step.nodes, is_known); })) continue;
    next([&](const MacroStep& step) { return std::ranges::any_of(step.variables, is_known, &ValueRef::node); });
  }
  return order;
}

}  // namespace

Macro connected(Walk& walk, const Walk::Mark& start, std::span<const Taken> taken, double tolerance_us) {
  const Macro macro = to_macro(taken);
  const double cost_us = walk.cost_us();
  for (size_t first = 0; first < macro.size(); ++first) {
    const auto order = connected_order(macro, start, first);
    if (order.size() < macro.size()) continue;
    if (std::ranges::is_sorted(order)) return macro;
    const Walk::Mark here = walk.mark();
    const Played played = play(walk, start, macro, order);
    const bool same = played.steps.size() == macro.size() && std::abs(walk.cost_us() - cost_us) <= tolerance_us;
    walk.restore(here);
    if (same) return to_macro(played.taken);
  }
  return macro;
}

namespace {

// The next place for a macro's first rewrite that was not tried. Matches are held: so none takes another's address.
std::optional<size_t> next_place(const Walk& walk, const Macro& macro,
                                 std::unordered_set<std::shared_ptr<const rules::Match>>& tried) {
  const auto places = walk.places();
  for (size_t k = 0; k < places.size(); ++k) {
    if (places[k].step.rule != macro[0].rule || !places[k].move || !std::isfinite(places[k].move->delta_us)) continue;
    if (tried.insert(places[k].move->match).second) return k;
  }
  return std::nullopt;
}

}  // namespace

int spread(Walk& walk, const Macro& macro, double tolerance_us, const std::function<bool()>& may_continue) {
  int count = 0;
  if (macro.empty()) return count;
  Walk::Mark best = walk.mark();
  std::unordered_set<std::shared_ptr<const rules::Match>> tried;
  while (may_continue()) {
    const auto place = next_place(walk, macro, tried);
    if (!place) break;
    MacroPlayer player(walk, macro);
    bool made = player.take_at(0, *place);
    for (size_t s = 1; s < macro.size() && made; ++s) made = player.take(s);
    if (made && walk.cost_us() < best.cost_us - tolerance_us) {
      best = walk.mark();
      ++count;
    } else {
      walk.restore(best);
    }
  }
  return count;
}

}  // namespace rlgo::search
