// What makers of instances of a rule share, whatever chooses the rest: random ones (instance.h), bounded and wild ones
// (core/rulegen/check).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "core/base/rng.h"
#include "core/graph/editor.h"
#include "core/ops/op.h"
#include "core/rules/compiled.h"

namespace rlgo::rules {

// Which tensor variables expressions want constant or ask the value of (bit i: variable i), and the numbers in them.
struct Asked {
  std::vector<double> numbers;
  std::vector<int64_t> extents;  // N of dim(?x, k) == N
  std::vector<int64_t> sizes;    // such and others that meet a bound or a remainder: N of dim(?x, k) >= N
  uint32_t constant = 0, value = 0;
  uint32_t rising = 0;   // tensors whose start and step are asked for
  uint32_t varying = 0;  // ... of which it is asked along which axis they vary
  void look(const Expr& expr);

 private:
  void look_at_size(const Expr& expr);
};

// An operator with some types and attributes decided, others open.
struct Draft {
  ops::Op op = ops::Op::add;
  std::vector<std::optional<ops::TensorType>> types;  // of operands
  ops::Attrs attrs;
  std::map<ops::Attr, size_t> wanted_lengths;  // of lists that a pattern takes apart
  bool indices = false;                        // another node reads the output as indices
};
// How many axes its windows have: as many as the lists state that the pattern takes apart or gives, or as an operand
// has; 0 where nothing states it.
size_t window_axes(const Draft& draft);

// Attributes of a literal of indices. `rising`: by equal steps, from a number below `end` on. Else below `end`, and
// equal where they differ in other places than along `axis` (0 .. rank - 1).
ops::Attrs literal_of_indices(const ops::TensorType& type, bool rising, int64_t axis, int64_t end, Rng& rng);

// The outputs of an instance: all of the nodes that the rule replaces and, of the others, of those for which `also`
// returns true (asked once for each, in order).
void add_outputs(graph::Editor& editor, const CompiledRule& rule, std::span<const graph::NodeId> nodes,
                 const std::function<bool()>& also);

// Attributes that the nodes made so far have bound: by name, and as bundles.
class BoundAttributes {
 public:
  // Sets what is known of a node's attributes: fixed ones, bound names, lists of bound names and numbers, its bundle
  // less what the node mentions.
  void give(const LeftNode& left, ops::Attrs& attrs) const;
  // Binds the names and the bundle of a node that is complete; elements of a list that are bound already win.
  void bind(const LeftNode& left, ops::Attrs& attrs);

 private:
  std::map<int, ops::AttrValue> names_;
  std::map<int, ops::Attrs> bundles_;
};

}  // namespace rlgo::rules
