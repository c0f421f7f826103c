// Where a rule may be applied at all. A proof is over real numbers, extents of at least 1 and the ranks and list
// lengths that were gone through (core/rulegen/prove/prove.h); the matcher keeps to that, whatever a rule's conditions
// state:
//   types      tensors of one floating-point type (indices of a gather apart); any type only for rules that move
//              elements and compute nothing, which hold for whatever the elements are
//   extents    at least 1, on both sides
//   windows    each window of a max_pool on either side covers an element: not padding alone, as where a dilation is
//              larger than the padded image
//   numbers    finite, but for the bounds of a clip: softmax(x + c) is softmax(x) unless c is -inf throughout. So a
//              rule reads nothing that may be infinite because a constant of the model is (graph::Node::infinities),
//              unless it only moves operators around
//   range      products, quotients and powers that the left side does not make are of constants, or lie between what it
//              makes (ranges.h): over the reals (x a) c is x (a c), in 32 bits a c may be infinite
//   reshapes   shapes with open items (-1: the rest, -2: as the input) are passed on, not computed with
//   ranks, lengths of lists, axes of windows   of proved rules: as the proof line states
#pragma once

#include "core/rules/binding.h"

namespace rlgo::rules {

struct Plan;

// Fills in CompiledRule::all_types, max_rank, max_list, all_windows, read_shapes, rearranges; the rest of the rule is
// complete.
void find_scope(CompiledRule& rule);

// Whether the left side has lists whose length is open: ?xs..., or a split of any number of parts.
bool has_lists(const CompiledRule& rule);

// Whether either side has convolutions or pools.
bool has_windows(const CompiledRule& rule);

// Whether what is bound lies within the rule's scope.
bool in_scope(const CompiledRule& rule, const graph::Graph& graph, const Binding& binding);
// Whether the rule may make a new node: extents of at least 1, no window of padding alone, as many axes of windows as
// it is proved for.
bool in_scope(const CompiledRule& rule, ops::Op op, std::span<const ops::TensorType* const> inputs,
              const ops::Attrs& attrs, const ops::Types& outputs);

}  // namespace rlgo::rules
