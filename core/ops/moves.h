// Kinds of operators.
#pragma once

#include "core/ops/op.h"

namespace rlgo::ops {

// Whether the operator moves elements and computes nothing, so that it means the same for all types.
bool moves_only(Op op);
// reduce_*: over `axes`, with `keepdims`.
bool is_reduction(Op op);
// Normalisations over axes of their input, with `eps`: all but batch_norm and lp_norm.
bool is_normalisation(Op op);

}  // namespace rlgo::ops
