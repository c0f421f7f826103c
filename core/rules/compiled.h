// A rule ready to run: names are numbers, attributes are checked against the operators, visiting orders are made.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/ops/op.h"
#include "core/rules/ast.h"
#include "core/rules/rules.h"

namespace rlgo::rules {

class RangeCondition;  // core/rules/ranges.h

// Sizes of one rule, checked by compile(): they bound the fixed arrays of Binding.
constexpr int kMaxNodes = 16;
constexpr int kMaxTensors = 24;
constexpr int kMaxSequences = 8;
constexpr int kMaxAttributes = 32;
constexpr int kMaxBundles = 8;
constexpr int kNoLimit = 1 << 30;  // of CompiledRule::max_rank, max_list

struct Operand {
  enum class Kind : uint8_t { tensor, sequence, left, right, scalar };  // see `index`
  Kind kind = Kind::tensor;
  int32_t index = 0;     // tensor, sequence, left node, right node; scalar: CompiledRule::scalars
  int32_t port = 0;      // left, right
  bool spread = false;   // all elements of a sequence, all outputs of a node, all nodes of a mapped term
  bool element = false;  // inside a mapped term: the element (output, node) of this round
};

// A list on the left side taken apart, or a plain name: each item binds an attribute slot or must be a number.
struct AttrItem {
  int32_t slot = -1;
  int64_t number = 0;
};
struct AttrTest {
  ops::Attr key;
  bool is_list = false;
  std::vector<AttrItem> items;  // one with a slot where !is_list
};

struct LeftNode {
  ops::Op op = ops::Op::add;
  std::string name;  // "" for nested terms
  std::vector<Operand> operands;
  bool spread = false;       // some operand is a spread
  bool commutative = false;  // two single operands, either way
  bool several_outputs = false;
  bool replaced = false;
  std::vector<std::pair<ops::Attr, ops::AttrValue>> fixed;  // literals, and defaults of what is not mentioned
  std::vector<AttrTest> tests;
  int32_t bundle = -1;
  std::vector<ops::Attr> mentioned;
};

// Node attribute that must equal an expression over what the whole left side binds.
struct DeferredTest {
  int32_t node = 0;
  ops::Attr key;
  Expr expr;
};

struct RightAttr {
  ops::Attr key;
  ops::AttrValue fallback;  // shows the kind
  Expr expr;
};
struct RightNode {
  ops::Op op = ops::Op::add;
  std::vector<Operand> operands;
  bool mapped = false;  // made once for each element of its sequences
  bool several_outputs = false;
  ops::Attrs defaults;  // of optional attributes
  std::vector<RightAttr> attrs;
  int32_t bundle = -1;
};

struct Replacement {
  int32_t left = 0;
  int32_t port = 0;  // -1: all outputs
  Operand with;
  // What the new value is computed from; bit sets.
  uint32_t tensors = 0, sequences = 0, left_nodes = 0;
};

struct CompiledCondition {
  int32_t let = -1;  // attribute slot, -1 for a condition
  Expr expr;
  bool pays = false;  // see Condition
};

// One move of the matcher. via < 0: the node is known already (it is the anchor, or an operand of an earlier node);
// otherwise it is looked for among the readers of its own operand number `via`.
struct MatchStep {
  int32_t node = 0;
  int32_t via = -1;
};

class CompiledRule {  // tables of one rule
 public:
  RuleText text;
  uint64_t hash = 0;
  Proof proof = Proof::unproved;  // what rlgo itself knows of it, whatever the text states (shipped_proofs.h)
  std::vector<LeftNode> left;     // [0] is the first root
  std::vector<DeferredTest> deferred;
  std::vector<CompiledCondition> conditions;
  std::vector<RightNode> right;  // operands come before their readers
  std::vector<Replacement> replacements;
  std::vector<Expr> scalars;
  std::vector<std::string> tensors, sequences, attributes, bundles;  // names
  std::vector<Slot> variables;  // tensors and sequences in the order of their first use: Match::variables
  std::vector<std::vector<MatchStep>> programs;  // one per left node, which is its anchor
  int32_t before_first = -1, before_second = -1;
  // Where it may be applied: of a proof, or what every rule must keep to (proof_scope.h).
  bool all_types = false;  // moves elements, computes nothing; else: tensors of one floating-point type
  int max_rank = kNoLimit, max_list = kNoLimit;
  bool all_windows = true;   // convolutions and pools with one to three spatial axes; else with two
  uint32_t read_shapes = 0;  // attributes bound to the shape of a reshape that more is done with than passing on
  // Moves operators around and neither makes, drops nor doubles one, nor what they read: right for infinite numbers,
  // too. Others are applied to finite ones only.
  bool rearranges = false;
  bool of_constants = false;  // tag `constants`: also replaces what depends on weights alone (axioms)
  // A new value reads something that need not stand before all roots: cycles are possible.
  bool may_cycle = false;
  // Tensors, sequences, left nodes that every root depends on anyway.
  uint32_t safe_tensors = 0, safe_sequences = 0, safe_left = 0;
  // What keeps products in range (ranges.h); null: nothing is asked. Of rules of a RuleSet only.
  std::shared_ptr<RangeCondition> ranges;
};

// Throws Error "FILE:LINE: rule 'NAME': reason".
CompiledRule compile(RuleText text);

}  // namespace rlgo::rules
