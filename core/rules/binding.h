// What the names of a rule stand for in one match, and the evaluation of expressions under it.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "core/graph/graph.h"
#include "core/rules/compiled.h"
#include "core/rules/value.h"

namespace rlgo::rules {

struct Binding {
  // A slot counts only where its bit in the mask is set, so backtracking is restoring the masks.
  struct Masks {
    uint32_t nodes = 0, tensors = 0, sequences = 0, attributes = 0, bundles = 0;
  };
  struct AttrSlot {
    const ops::AttrValue* attr = nullptr;  // of a node, or null: then `own`
    Val own;
  };
  struct BundleSlot {
    const ops::Attrs* attrs = nullptr;
    const LeftNode* pattern = nullptr;  // whose mentioned attributes are left out
  };
  Masks masks;
  std::array<graph::NodeId, kMaxNodes> nodes{};
  std::array<graph::Value, kMaxTensors> tensors{};
  std::array<SmallVector<graph::Value, 4>, kMaxSequences> sequences;
  std::array<AttrSlot, kMaxAttributes> attributes;
  std::array<BundleSlot, kMaxBundles> bundles;
  // Room of would_cycle(): by node id, the number of the walk that saw it last.
  std::vector<uint32_t> seen;
  uint32_t walk = 0;
};

// Attributes of a node that its pattern takes by ..?A.
bool in_bundle(const LeftNode& pattern, ops::Attr key);
bool equal_bundles(const Binding::BundleSlot& a, const Binding::BundleSlot& b);

// Whether a reshape's attribute `shape` refers to its input (kSameExtent, kRestExtent).
bool refers_to_input(const graph::Node& node);
// An attribute as rules see it: of such a reshape, the extents that it makes.
Val attribute_of(const graph::Node& node, const ops::AttrValue& held, ops::Attr key);

// The number that all elements of a constant are: fills, and weights of one element whose contents are here.
std::optional<double> uniform_value(const graph::Graph& graph, graph::Value value);

// Everything an expression may look at.
struct Scope {
  const CompiledRule& rule;
  const graph::Graph& graph;
  const Binding& binding;
  // Output types of the right nodes made so far: right_types[node][port]; of a mapped node, [node][round].
  const std::vector<ops::Types>* right_types = nullptr;
  int round = -1;  // inside a mapped term: which element sequences stand for
};
Val evaluate(const Expr& expr, const Scope& scope);

// What matchers of graphs and of e-graphs share. Each changes slots that are not bound yet; what was bound before a
// failure stays bound, so that the caller restores the masks.
// A node's attributes: those that the pattern fixes, names, lists and its bundle. Not the operator, not the inputs.
bool bind_attributes(const LeftNode& pattern, const graph::Node& node, Binding& binding);
// Whether a node may stand for the pattern node at all: its operator, unless no rewrite may replace it, or it is worked
// out from constants and the rule is not for these.
inline bool may_stand_for(const CompiledRule& rule, const LeftNode& pattern, const graph::Node& node) {
  if (node.op() != pattern.op || node.info->fixed) return false;
  return !pattern.replaced || !node.constant || rule.of_constants;
}
// An input that is a tensor variable or a number.
bool bind_input(const CompiledRule& rule, const graph::Graph& graph, const Operand& operand, graph::Value value,
                Binding& binding);
// Binds the pattern node; false where it or the graph's node is bound to another already.
bool bind_node(const CompiledRule& rule, int pattern, graph::NodeId id, Binding& binding);
// Of a sequence that is bound: its length where the inputs begin with it, else nothing.
std::optional<size_t> bound_length(const Binding& binding, int sequence, std::span<const graph::Value> inputs);
// Whether attributes that are expressions over the whole left side (CompiledRule::deferred) are what these state.
bool deferred_tests_hold(const Scope& scope);
// Whether the rule's conditions hold, as `holds` judges each; names of `let` are bound in turn.
template <typename Holds>
bool conditions_hold(const Scope& scope, Binding& binding, Holds holds) {
  for (const auto& condition : scope.rule.conditions) {
    if (condition.let < 0) {
      if (!holds(condition.expr)) return false;
      continue;
    }
    binding.attributes[condition.let] = {nullptr, evaluate(condition.expr, scope)};
    binding.masks.attributes |= 1u << condition.let;
  }
  return true;
}

}  // namespace rlgo::rules
