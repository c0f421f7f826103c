// Operators that compute nothing.
#pragma once

#include "core/ops/op.h"

namespace rlgo::ops {

// Whether the operator moves elements and computes nothing, so that it means the same for all types.
bool moves_only(Op op);

}  // namespace rlgo::ops
