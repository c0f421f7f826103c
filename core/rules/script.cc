#include "core/rules/script.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "core/base/error.h"
#include "core/rules/together.h"

namespace rlgo::rules {

// One replay: the graph as it is now, and which of its nodes is which.
class Script::Walk {
 public:
  Walk(const graph::Graph& graph, std::shared_ptr<const RuleSet> rules, const Deadline& deadline)
      : rules_(std::move(rules)),
        deadline_(deadline),
        index_(index_of(graph)),
        trial_(graph),
        original_bound_(graph.id_bound()) {
    for (const auto id : graph.order()) keys_[id] = {-1, id};
  }
  size_t matches(int32_t rule) const { return index_.matches(rule).size(); }
  const Match& match(int32_t rule, int32_t location) const {
    return index_.matches(rule)[static_cast<size_t>(location)];
  }
  // What the match at `location` is known by later.
  Step describe(int32_t rule, int32_t location) const {
    Step step{rule, {}, {}, location};
    for (const auto id : index_.matches(rule)[static_cast<size_t>(location)].nodes) {
      step.nodes.push_back(keys_.at(id));
      step.hashes.push_back(trial_.graph().node(id).info->local_hash);
    }
    return step;
  }
  std::optional<int32_t> find(const Step& step) const {
    const auto matches = index_.matches(step.rule);
    const auto likely = static_cast<size_t>(step.match);
    if (likely < matches.size() && is(matches[likely], step)) return step.match;
    for (size_t k = 0; k < matches.size(); ++k) {
      if (is(matches[k], step)) return static_cast<int32_t>(k);
    }
    return std::nullopt;
  }
  struct Chosen {
    int32_t rule, location, number;  // of rules, match and step
  };
  // Several as one edit. False where they make a cycle.
  bool apply(std::span<const Chosen> some) {
    Together edit(index_, trial_);
    std::vector<std::pair<graph::NodeId, Chosen>> made;  // with the first id behind its nodes
    for (const Chosen& one : some) {
      if (edit.add(one.rule, one.location)) made.emplace_back(trial_.graph().id_bound(), one);
    }
    const graph::Delta& delta = trial_.apply();
    if (!trial_.keep()) return false;
    if (made.size() > 1)
      index_ = index_of(trial_.graph());
    else
      index_.update(trial_.graph(), delta);
    auto added = delta.added.begin();
    for (const auto& [end, one] : made) {
      for (int32_t place = 0; added != delta.added.end() && *added < end; ++added)
        keys_[*added] = {one.number, place++};
      out.trace.push_back({one.rule, one.number == made[0].second.number ? one.location : -1 - one.location});
      out.steps.push_back(static_cast<size_t>(one.number));
    }
    note(edit.replaced());
    return true;
  }
  Replayed finish() {
    out.graph = trial_.graph();
    std::erase_if(out.replaced, [&](const auto& pair) { return !out.graph.contains(pair.second.node); });
    return std::move(out);
  }

 private:
  MatchIndex index_of(const graph::Graph& graph) const {
    MatchIndex index(rules_, graph, [this] { return deadline_.over(); });
    if (!index.complete()) deadline_.check();
    return index;
  }
  bool is(const Match& match, const Step& step) const {
    if (match.nodes.size() != step.nodes.size()) return false;
    for (size_t k = 0; k < step.nodes.size(); ++k) {
      const Key key = keys_.at(match.nodes[k]);
      if (key == step.nodes[k]) continue;
      // Equal operators are one node: which step made it depends on what was made before.
      const bool both_made = key.step >= 0 && step.nodes[k].step >= 0;
      if (!both_made || trial_.graph().node(match.nodes[k]).info->local_hash != step.hashes[k]) return false;
    }
    return true;
  }
  void note(const Together::Replaced& replaced) {
    for (const auto& [from, to] : replaced) {
      auto stands = standing_.extract(from);
      if (from.node < original_bound_) out.replaced.emplace_back(from, to);
      auto& now = standing_[to];
      if (from.node < original_bound_) now.push_back(out.replaced.size() - 1);
      if (stands.empty()) continue;
      for (const size_t k : stands.mapped()) {
        out.replaced[k].second = to;
        now.push_back(k);
      }
    }
  }

 public:
  Replayed out;

 private:
  std::shared_ptr<const RuleSet> rules_;
  Deadline deadline_;
  MatchIndex index_;
  graph::Trial trial_;
  graph::NodeId original_bound_;
  std::map<graph::NodeId, Key> keys_;
  std::map<graph::Value, std::vector<size_t>> standing_;  // in out.replaced, by the new value
};

Script::Script(graph::Graph graph, const std::shared_ptr<const RuleSet>& rules, const Trace& trace, Deadline deadline)
    : graph_(std::move(graph)), deadline_(std::move(deadline)) {
  std::set<int32_t> used;
  for (const auto& step : trace) used.insert(step.rule);
  std::vector<std::string> names;
  std::map<int32_t, int32_t> number;
  for (const int32_t rule : used) {
    number[rule] = static_cast<int32_t>(names.size());
    names.push_back(rules->name(rule));
    rule_numbers_.push_back(rule);
  }
  if (names.empty()) return;
  rules_ = rules->subset(names);
  Walk walk(graph_, rules_, deadline_);
  for (size_t k = 0; k < trace.size();) {
    deadline_.check();
    std::vector<Walk::Chosen> chosen;
    for (const auto& one : made_together(trace, k)) {
      const int32_t rule = number[one.rule], match = match_of(one);
      const size_t step = k + chosen.size();
      if (static_cast<size_t>(match) >= walk.matches(rule))
        fail("trace, step {}: rule '{}' does not apply at location {}", step + 1, rules_->name(rule), match);
      steps_.push_back(walk.describe(rule, match));
      steps_.back().together = is_together(one);
      chosen.push_back({rule, match, static_cast<int32_t>(step)});
    }
    if (!walk.apply(chosen)) fail("trace, step {}: rule '{}' makes a cycle", k + 1, rules_->name(chosen[0].rule));
    k += chosen.size();
  }
}

size_t Script::end_of_together(size_t first) const {
  size_t end = first + 1;
  while (end < steps_.size() && steps_[end].together) ++end;
  return end;
}

// Those of the first `end` steps with `keep` that fit.
void Script::go(Walk& walk, const std::vector<bool>& keep, size_t end) const {
  for (size_t k = 0; k < end;) {
    deadline_.check();
    std::vector<Walk::Chosen> chosen;
    const size_t last = std::min(end, end_of_together(k));
    for (; k < last; ++k) {
      const auto location = keep[k] ? walk.find(steps_[k]) : std::nullopt;
      if (location) chosen.push_back({steps_[k].rule, *location, static_cast<int32_t>(k)});
    }
    if (!chosen.empty()) walk.apply(chosen);
  }
}

Replayed Script::subset(const std::vector<bool>& keep) const {
  RLGO_CHECK_EQ(keep.size(), steps_.size());
  if (steps_.empty()) return {graph_, {}, {}, {}};
  Walk walk(graph_, rules_, deadline_);
  go(walk, keep, steps_.size());
  Replayed out = walk.finish();
  for (auto& step : out.trace) step.rule = rule_numbers_[static_cast<size_t>(step.rule)];
  return out;
}

Replayed Script::prefix(size_t length) const {
  std::vector<bool> keep(steps_.size(), false);
  std::fill_n(keep.begin(), length, true);
  return subset(keep);
}

Replayed Script::without(const std::set<std::string>& rules) const {
  std::vector<bool> keep(steps_.size());
  for (size_t k = 0; k < keep.size(); ++k) keep[k] = !rules.contains(rule_name(k));
  return subset(keep);
}

std::vector<bool> Script::kept(std::span<const size_t> steps) const {
  std::vector<bool> keep(steps_.size(), false);
  for (const size_t step : steps) keep[step] = true;
  return keep;
}

std::optional<Script::Place> Script::place(std::span<const size_t> steps, size_t step) const {
  Walk walk(graph_, rules_, {});
  go(walk, kept(steps), step);
  const auto location = walk.find(steps_[step]);
  if (!location) return std::nullopt;
  const Match match = walk.match(steps_[step].rule, *location);
  return Place{walk.finish().graph, match};
}

std::vector<bool> Script::needed_by(size_t step) const {
  std::vector<bool> keep(steps_.size(), false);
  keep[step] = true;
  for (size_t k = step + 1; k-- > 0;) {
    if (!keep[k]) continue;
    for (const Key& key : steps_[k].nodes) {
      if (key.step >= 0) keep[static_cast<size_t>(key.step)] = true;
    }
  }
  return keep;
}

}  // namespace rlgo::rules
