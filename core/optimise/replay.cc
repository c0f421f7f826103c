#include "core/optimise/replay.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "core/base/error.h"
#include "core/graph/trial.h"

namespace rlgo::optimise {

// One replay: the graph as it is now, and which of its nodes is which.
class Replay::Walk {
 public:
  Walk(const graph::Graph& graph, std::shared_ptr<const rules::RuleSet> rules, const Deadline& deadline)
      : rules_(rules),
        index_(std::move(rules), graph, [&deadline] { return deadline.over(); }),
        trial_(graph),
        original_bound_(graph.id_bound()) {
    if (!index_.complete()) deadline.check();
    for (const auto id : graph.order()) keys_[id] = {-1, id};
  }
  size_t matches(int32_t rule) const { return index_.matches(rule).size(); }
  const rules::Match& match(int32_t rule, int32_t location) const {
    return index_.matches(rule)[static_cast<size_t>(location)];
  }
  // What the match at `location` is known by later.
  Step describe(int32_t rule, int32_t location) const {
    Step step{rule, {}, {}};
    for (const auto id : index_.matches(rule)[static_cast<size_t>(location)].nodes) {
      step.nodes.push_back(keys_.at(id));
      step.hashes.push_back(trial_.graph().node(id).info->local_hash);
    }
    return step;
  }
  std::optional<int32_t> find(const Step& step) const {
    const auto matches = index_.matches(step.rule);
    for (size_t k = 0; k < matches.size(); ++k) {
      if (is(matches[k], step)) return static_cast<int32_t>(k);
    }
    return std::nullopt;
  }
  // False where the rewrite makes a cycle.
  bool apply(int32_t rule, int32_t location, int32_t number) {
    std::vector<std::pair<graph::Value, graph::Value>> replaced;
    index_.edit(rule, location, trial_.editor(), &replaced);
    const graph::Delta& delta = trial_.settle();
    if (!trial_.keep()) return false;
    index_.update(trial_.graph(), delta);
    int32_t place = 0;
    for (const auto id : delta.added) keys_[id] = {number, place++};
    note(replaced);
    out.trace.push_back({rule, location});
    out.steps.push_back(static_cast<size_t>(number));
    return true;
  }
  Replayed finish() {
    out.graph = trial_.graph();
    std::erase_if(out.replaced, [&](const auto& pair) { return !out.graph.contains(pair.second.node); });
    return std::move(out);
  }

 private:
  bool is(const rules::Match& match, const Step& step) const {
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
  void note(const std::vector<std::pair<graph::Value, graph::Value>>& replaced) {
    for (const auto& [from, to] : replaced) {
      for (auto& pair : out.replaced) {
        if (pair.second == from) pair.second = to;
      }
      if (from.node < original_bound_) out.replaced.emplace_back(from, to);
    }
  }

 public:
  Replayed out;

 private:
  std::shared_ptr<const rules::RuleSet> rules_;
  rules::MatchIndex index_;
  graph::Trial trial_;
  graph::NodeId original_bound_;
  std::map<graph::NodeId, Key> keys_;
};

Replay::Replay(graph::Graph graph, const std::shared_ptr<const rules::RuleSet>& rules, const rules::Trace& trace,
               Deadline deadline)
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
  for (size_t k = 0; k < trace.size(); ++k) {
    deadline_.check();
    const int32_t rule = number[trace[k].rule], location = trace[k].location;
    if (location < 0 || static_cast<size_t>(location) >= walk.matches(rule))
      fail("trace, step {}: rule '{}' does not apply at location {}", k + 1, rules_->name(rule), location);
    steps_.push_back(walk.describe(rule, location));
    if (!walk.apply(rule, location, static_cast<int32_t>(k)))
      fail("trace, step {}: rule '{}' makes a cycle", k + 1, rules_->name(rule));
  }
}

Replayed Replay::run(const std::vector<bool>& keep) const {
  RLGO_CHECK_EQ(keep.size(), steps_.size());
  if (steps_.empty()) return {graph_, {}, {}, {}};
  Walk walk(graph_, rules_, deadline_);
  for (size_t k = 0; k < steps_.size(); ++k) {
    deadline_.check();
    if (!keep[k]) continue;
    if (const auto location = walk.find(steps_[k])) walk.apply(steps_[k].rule, *location, static_cast<int32_t>(k));
  }
  Replayed out = walk.finish();
  for (auto& step : out.trace) step.rule = rule_numbers_[static_cast<size_t>(step.rule)];
  return out;
}

Replayed Replay::prefix(size_t length) const {
  std::vector<bool> keep(steps_.size(), false);
  std::fill_n(keep.begin(), length, true);
  return run(keep);
}

Replayed Replay::without(const std::set<std::string>& rules) const {
  std::vector<bool> keep(steps_.size());
  for (size_t k = 0; k < keep.size(); ++k) keep[k] = !rules.contains(rule_name(k));
  return run(keep);
}

std::optional<Replay::Place> Replay::place(const std::vector<bool>& keep, size_t step) const {
  Walk walk(graph_, rules_, {});
  for (size_t k = 0; k < step; ++k) {
    if (!keep[k]) continue;
    if (const auto location = walk.find(steps_[k])) walk.apply(steps_[k].rule, *location, static_cast<int32_t>(k));
  }
  const auto location = walk.find(steps_[step]);
  if (!location) return std::nullopt;
  const rules::Match match = walk.match(steps_[step].rule, *location);
  return Place{walk.finish().graph, match};
}

std::vector<bool> Replay::needed_by(size_t step) const {
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

}  // namespace rlgo::optimise
