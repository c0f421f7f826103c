// A trace as a script: the same rewrites again, without some of them.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/deadline.h"
#include "core/graph/graph.h"
#include "core/rules/rules.h"
#include "core/rules/trace.h"

namespace rlgo::rules {

// What a replay made.
struct Replayed {
  graph::Graph graph;
  Trace trace;                // the steps that were made, as replay() takes them (by Script's rules)
  std::vector<size_t> steps;  // which steps of the whole trace these are
  // Values of the unmodified graph, and what stands in their place now.
  std::vector<std::pair<graph::Value, graph::Value>> replaced;
};

// A trace states where a rewrite was made by counting matches, which holds only after all rewrites before it. Here a
// rewrite is known by the nodes that it matched, so that it can be made without the others. A rewrite that needs what
// one of those made is left out, too.
class Script {
 public:
  // Throws Error where a step of the trace does not apply, and here and later Stopped at the deadline.
  Script(graph::Graph graph, const std::shared_ptr<const RuleSet>& rules, const Trace& trace, Deadline deadline = {});
  size_t size() const { return steps_.size(); }
  const std::string& rule_name(size_t step) const { return rules_->name(steps_[step].rule); }
  int32_t rule(size_t step) const { return steps_[step].rule; }
  // Those steps with `keep`, in order; or those of these numbers.
  Replayed subset(const std::vector<bool>& keep) const;
  Replayed subset(std::span<const size_t> steps) const { return subset(kept(steps)); }
  Replayed prefix(size_t length) const;
  // All steps but those by these rules.
  Replayed without(const std::set<std::string>& rules) const;
  // The graph that those of `steps` before `step` make, and the step's match in it; nothing where it has none there.
  struct Place {
    graph::Graph graph;
    Match match;  // of rules(): the rules of the trace alone
  };
  std::optional<Place> place(std::span<const size_t> steps, size_t step) const;
  const std::shared_ptr<const RuleSet>& rules() const { return rules_; }
  // The last step of a prefix, and all earlier ones that it needs.
  std::vector<bool> needed_by(size_t step) const;

 private:
  // A node, whatever other rewrites were made: of the unmodified graph (step -1, `place` its id), or the place-th node
  // that a step made.
  struct Key {
    int32_t step = -1, place = 0;
    auto operator<=>(const Key&) const = default;
  };
  struct Step {
    int32_t rule = 0;  // of rules_
    std::vector<Key> nodes;
    std::vector<uint64_t> hashes;  // local hashes of the nodes, by which one that has no key here is known again
    int32_t match = 0;             // its number, where nothing is left out
    bool together = false;         // with the step before it
  };
  class Walk;
  std::vector<bool> kept(std::span<const size_t> steps) const;
  // The steps from the `first` on that are made together.
  size_t end_of_together(size_t first) const;
  void go(Walk& walk, const std::vector<bool>& keep, size_t end) const;

  graph::Graph graph_;
  std::shared_ptr<const RuleSet> rules_;  // those of the trace alone
  Deadline deadline_;
  std::vector<int32_t> rule_numbers_;  // of rules_, in the set that was given
  std::vector<Step> steps_;
};

}  // namespace rlgo::rules
