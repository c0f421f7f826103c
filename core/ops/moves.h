// Kinds of operators.
#pragma once

#include "core/ops/op.h"

namespace rlgo::ops {

// Whether the operator moves elements and computes nothing, so that it means the same for all types.
bool moves_only(Op op);
// Whether operand `k` of the operator holds places in operand 0.
bool holds_places(Op op, size_t k);
// The number below which places in operand 0 stay, whatever axis they count along; its own rows hold `attrs`.
int64_t places_end(Op op, const TensorType& x, const TensorType& places, const Attrs& attrs);
// reduce_*: over `axes`, with `keepdims`.
bool is_reduction(Op op);
// Normalisations over axes of their input, with `eps`: all but batch_norm and lp_norm.
bool is_normalisation(Op op);

}  // namespace rlgo::ops
