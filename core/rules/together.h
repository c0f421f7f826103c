// Many rewrites of one graph as one edit: ordering the nodes, and finding matches again, then take time once, not once
// for each.
#pragma once

#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/graph/trial.h"
#include "core/rules/trace.h"

namespace rlgo::rules {

// Of a trace: the rewrite is made together with the one before it. Its location is -1 - k for the k-th match of the
// graph in which the first of these was found.
inline bool is_together(const Rewrite& rewrite) { return rewrite.location < 0; }
// Number of the match.
inline int32_t match_of(const Rewrite& rewrite) {
  return is_together(rewrite) ? -1 - rewrite.location : rewrite.location;
}
// The rewrites from the `first` on that are made together; that one alone where it is so. Throws Error where the first
// is made together with those before it.
std::span<const Rewrite> made_together(std::span<const Rewrite> trace, size_t first);
// Whether any are.
bool any_together(std::span<const Rewrite> trace);

// Draws matches of one graph into one edit of it. None may read what one before it replaces, so those whose nodes stand
// last come first.
class Together {
 public:
  using Replaced = std::vector<std::pair<graph::Value, graph::Value>>;
  // Refers to both. The index is that of the trial's graph, on which no edit has begun.
  Together(const MatchIndex& index, graph::Trial& trial) : index_(index), trial_(trial) {}
  // False, and nothing is drawn, where one before it took a node of the match, or replaced what that reads.
  bool add(int rule, int match);
  // By all so far: values of the graph, and what stands in their place.
  const Replaced& replaced() const { return replaced_; }

 private:
  const MatchIndex& index_;
  graph::Trial& trial_;
  Replaced replaced_;
  std::unordered_set<graph::NodeId> taken_, gone_;  // nodes of matches; of values that were replaced
};

}  // namespace rlgo::rules
