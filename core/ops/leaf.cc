// Nodes without a computation that rlgo knows: their types come with the node, not from inference.
#include "core/ops/families.h"

namespace rlgo::ops {

OpSpec input_spec() { return {Op::input, 0, 0, false, false, {}, no_infer, no_work}; }
OpSpec weight_spec() { return {Op::weight, 0, 0, false, false, {}, no_infer, no_work}; }
OpSpec opaque_spec() { return {Op::opaque, 0, kAnyArity, false, false, {}, no_infer, no_work}; }

}  // namespace rlgo::ops
