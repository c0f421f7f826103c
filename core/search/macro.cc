#include "core/search/macro.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

namespace rlgo::search {

using graph::NodeId;

std::optional<Taken> take(Walk& walk, size_t k) {
  const auto move = walk.places()[k].move;
  if (!walk.take(k)) return std::nullopt;
  return Taken{move, {walk.added().begin(), walk.added().end()}};
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
    if (static_cast<size_t>(ref.index) >= made.size()) return graph::kNoNode;  // its maker was left out
    return made[static_cast<size_t>(ref.index)];
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

bool MacroPlayer::take(size_t s) {
  const MacroStep& step = macro_[s];
  const auto places = walk_.places();
  const auto rule_of = [](const Place& place) { return place.step.rule; };
  const auto [first, last] = std::ranges::equal_range(places, step.rule, {}, rule_of);
  size_t best = places.size();
  int best_agreed = 0;
  double best_gap = 0;
  for (auto at = first; at != last; ++at) {
    if (!at->move || !std::isfinite(at->move->delta_us)) continue;
    const int agreed = agreement(step, *at->move->match);
    const double gap = std::abs(at->move->delta_us - step.delta_us);
    if (agreed < best_agreed || agreed <= 0 || (agreed == best_agreed && gap >= best_gap)) continue;
    best = static_cast<size_t>(at - places.begin());
    best_agreed = agreed;
    best_gap = gap;
  }
  return best < places.size() && take_at(s, best);
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

// The steps of `macro` from `first` on but [from, to), and those that need them; on a walk that stands before `first`.
std::vector<Taken> play_without(Walk& walk, const Macro& macro, size_t from, size_t to) {
  MacroPlayer player(walk, macro);
  player.play_in_place();
  for (size_t s = 0; s < macro.size(); ++s) {
    if (s < from || s >= to) player.take(s);
  }
  return player.taken();
}

}  // namespace

std::vector<Taken> minimise(Walk& walk, const Walk::Mark& start, std::vector<Taken> taken, double tolerance_us,
                            const std::function<bool()>& may_continue) {
  double cost_us = walk.cost_us();
  Walk::Mark end = walk.mark();
  size_t chunk = std::max<size_t>(1, taken.size() / 2);
  for (bool shorter = true; may_continue() && (chunk > 1 || shorter);) {
    shorter = false;
    for (size_t to = taken.size(); to > 0 && may_continue();) {
      const size_t from = to - std::min(chunk, to);
      walk.restore(start);
      std::vector<Taken> fewer = play_without(walk, to_macro(taken), from, to);
      if (fewer.size() < taken.size() && walk.cost_us() <= cost_us + tolerance_us) {
        taken = std::move(fewer);
        cost_us = std::min(cost_us, walk.cost_us());
        end = walk.mark();
        shorter = true;
      }
      to = std::min(from, taken.size());
    }
    shorter |= chunk > 1;
    chunk = std::max<size_t>(1, chunk / 2);
  }
  walk.restore(end);
  return taken;
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
