// A hash of graphs that are made from one another by equivalent rewrites, at a cost that depends on the rewrite alone.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "core/graph/graph.h"

namespace rlgo::graph {

// Graph::hash() hashes a value by all that it is computed from, so a rewrite changes the hash of everything behind it.
// Here a value has the name of what it computes, and keeps it when another computation takes its place: only the nodes
// at the place of the rewrite change. The hash is the sum over live nodes of (operator, names of outputs, names and
// operators of inputs); names of other new values are made of their operator and their inputs' names.
//
// Equal hashes: equal graphs (but for chance, 2^-64), as long as the rewrites are equivalences. Equal graphs mostly
// have equal hashes, always where rewrites at different places were made in another order; the exception are equal
// graphs on ways that name an inner value differently.
class NameHash {
 public:
  // Graphs made from `graph`, by calls of advance() on copies of this, can be distinguished.
  explicit NameHash(const Graph& graph);

  uint64_t value() const { return sum_ + outputs_; }
  // From an edit of `before`, the current graph: `replaced` holds pairs (old value, value in its place).
  using Replaced = std::vector<std::pair<Value, Value>>;
  // value() of the edited graph.
  uint64_t after(const Graph& before, const Graph& now, const Delta& delta, const Replaced& replaced);
  // Makes `now` the current graph.
  void advance(const Graph& before, const Graph& now, const Delta& delta, const Replaced& replaced);
  // The same for an edit in place (Trial), where the graph before is gone. `rewired`: old nodes with other inputs.
  // difference() is what the edit adds to value(), which depends on the place of the edit alone.
  uint64_t difference(const Graph& now, const Delta& delta, std::span<const NodeId> rewired, const Replaced& replaced);
  void advance(const Graph& now, const Delta& delta, std::span<const NodeId> rewired, const Replaced& replaced);

 private:
  using Alias = std::pair<Value, uint64_t>;
  uint64_t name(Value value) const;
  uint64_t node_hash(const Graph& graph, NodeId id) const;
  uint64_t outputs_hash(const Graph& graph) const;
  uint64_t made_name(const Graph& graph, NodeId id) const;
  void name_new(const Graph& now, const Delta& delta, const Replaced& replaced);
  uint64_t edited_sum(const Graph& now, const Delta& delta, std::span<const NodeId> rewired) const;

  std::vector<uint64_t> names_;   // by node: of port 0
  std::vector<uint64_t> hashes_;  // by node: of live nodes, what they add to the sum
  std::vector<Alias> aliases_;    // of other ports that took the place of another value
  uint64_t sum_ = 0;
  uint64_t outputs_ = 0;
};

}  // namespace rlgo::graph
