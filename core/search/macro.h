// Rewrites that belong together, identified by the nodes that they concern: to be made again elsewhere, or without some
// of them.
#pragma once

#include <optional>
#include <vector>

#include "core/search/walk.h"

namespace rlgo::search {

// A node of the graph before the macro (made_by < 0), or the index-th that one of the macro's rewrites made.
struct NodeRef {
  int32_t made_by = -1;
  int32_t index = 0;  // made_by < 0: the node's id where the macro was recorded
  bool operator==(const NodeRef&) const = default;
};
struct ValueRef {
  NodeRef node;
  int32_t port = 0;
};
struct MacroStep {
  int32_t rule = 0;
  std::vector<NodeRef> nodes;  // of the match
  std::vector<ValueRef> variables;
  double delta_us = 0;  // where it was recorded
};
using Macro = std::vector<MacroStep>;

// A rewrite as it was made.
struct Taken {
  std::shared_ptr<const Move> move;
  std::vector<graph::NodeId> added, changed;  // Walk::added(), Walk::changed()
};
// Walk::take(k), noted. Nothing where that returns false.
std::optional<Taken> take(Walk& walk, size_t k);
// The same of the place where a rewrite stands now. Nothing where there is none.
std::optional<Taken> take(Walk& walk, const rules::Rewrite& rewrite);
// All rewrites of a trace, made from where the walk stands; fewer where `may_continue` returns false. Throws Error
// where one does not apply.
std::vector<Taken> play_trace(Walk& walk, const rules::Trace& trace, const std::function<bool()>& may_continue = {});
Macro to_macro(std::span<const Taken> taken);

// Makes the rewrites of a macro, one after the other, on a walk.
class MacroPlayer {
 public:
  MacroPlayer(Walk& walk, const Macro& macro) : walk_(walk), macro_(macro), made_(macro.size()) {}

  // What the macro was recorded on stands for itself: on the graph that it was recorded on.
  void play_in_place() { in_place_ = true; }
  // The place of the next rewrite. Nothing where no match fits.
  std::optional<size_t> find(size_t step) const;
  // The next rewrite; steps may be left out, in their order. False where no match fits, or it would make a cycle.
  bool take(size_t step);
  // The same, by places()[place].
  bool take_at(size_t step, size_t place);
  // The rewrites that were made.
  const std::vector<Taken>& taken() const { return taken_; }

 private:
  std::optional<graph::NodeId> resolve(const NodeRef& ref) const;
  // How many references of the step a place agrees with, -1 where it contradicts one.
  int agreement(const MacroStep& step, const rules::Match& match) const;
  void bind(const MacroStep& step, const rules::Match& match);

  Walk& walk_;
  const Macro& macro_;
  bool in_place_ = false;
  std::vector<std::pair<graph::NodeId, graph::NodeId>> bound_;  // (id where recorded, id here)
  std::vector<std::vector<graph::NodeId>> made_;                // by step
  std::vector<Taken> taken_;
};

// What is asked of a walk with fewer rewrites, against the one with all of them.
enum class Keep : uint8_t {
  cost,   // it costs no more
  graph,  // it ends at the same graph: asks for no costs
};
// Of the steps of a macro that was recorded from `start` those of which none can be left out. Steps that need a
// left-out one are left out with it. Leaves `walk` at their end. `may_continue` is asked now and then; where it states
// no, some that could be left out may remain.
std::vector<size_t> minimise(Walk& walk, const Walk::Mark& start, const Macro& macro, std::vector<size_t> steps,
                             Keep keep, double tolerance_us, const std::function<bool()>& may_continue);
// The same for all the rewrites that were taken from `start`, by cost.
std::vector<Taken> minimise(Walk& walk, const Walk::Mark& start, std::span<const Taken> taken, double tolerance_us,
                            const std::function<bool()>& may_continue);

// The rewrites that were taken from `start` as a macro each of whose steps concerns a node of those before it, so that
// it can be found elsewhere from where its first one fits. They change places for that where they may.
Macro connected(Walk& walk, const Walk::Mark& start, std::span<const Taken> taken, double tolerance_us);

// Makes the macro wherever that lowers the cost, each time from the graph that it led to, until no place is left that
// was not tried. Shows how often it did.
int spread(Walk& walk, const Macro& macro, double tolerance_us, const std::function<bool()>& may_continue);

}  // namespace rlgo::search
