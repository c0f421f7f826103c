// Reads rule files. The language:
//
//   # comment
//   rule NAME                                     lower case, digits and '-'
//     tags fuse conv                              optional: groups for selection
//     proof tested                                optional: unproved (default) | tested | proved for SCOPE: AXIOM ...
//                                                 (SCOPE: ProofScope in ast.h)
//     before ?a ?b                                optional: only where node ?a stands before ?b in topological order
//     ?c = (conv2d ?x ?w ?b... act=none ..?A)     left side: one or more named nodes, nested terms
//     ?y = (relu ?c)
//     when uses(?c) == 1 and rank(?x) == 4        conditions; several `when` are all demanded
//     pays dim(?x, 1) >= 16                       where applying it may pay: demanded, but by no check of the rule
//     let ?k = dim(?w, 0)                         names a number, list or word
//     => ?y = (conv2d ?x ?w ?b... act=relu ..?A)  right side: what replaces nodes of the left side
//
// Operands: ?x one tensor; ?s.1 output 1 of split ?s; ?xs... any number of tensors (none included); ?s... all outputs
//   of split ?s in order; (op ...) a nested term; a number or {expression}: a scalar constant (left: a constant whose
//   elements all are that number). On the right (op ... ?xs ...)... makes one node for each element of ?xs (of the
//   outputs of a split ?s); several sequences inside go in step and must be equally long.
// Attributes follow the operands: key=EXPR. On the left a name ?k not seen before is bound, a list of names
//   pads=[?t, ?l, 0, 0] is taken apart, anything else must be equal. An attribute that the left side does not mention
//   must have the operator's default, unless ..?A is there: it takes all that are not mentioned. On the right ..?A
//   gives them back (those that the new operator knows), mentioned ones win, others are defaults.
// Equations on the right: ?y = operand replaces ?y of the left side; ?s.0 = ... one output of a split; ?s... = ?t...
//   all outputs; a new name is a new node. Left nodes that are not replaced stay where something else reads them, and
//   may be read on the right. Different nodes of the left side match different nodes of the graph; a nested term that
//   stands there twice is one node, as graphs hold equal nodes once. Operands of commutative operators match both ways.
// Expressions: integers, reals, inf, words, [lists], ?names, + - * / % (lists: element by element; / of integers rounds
//   down), == != < <= > >=, and or not, l[i] (i < 0 counts from the end), functions (value.cc lists them). A condition
//   that has no value (index out of range, dim of a missing axis, value(?c) unknown) does not hold.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/rules/ast.h"

namespace rlgo::rules {

// Throws Error "FILE:LINE: reason".
std::vector<RuleText> parse_rules(std::string_view text, const std::string& file_name);

}  // namespace rlgo::rules
