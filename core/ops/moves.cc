#include "core/ops/moves.h"

#include <algorithm>
#include <limits>

namespace rlgo::ops {

bool moves_only(Op op) {
  switch (op) {
    case Op::concat:
    case Op::split:
    case Op::transpose:
    case Op::reshape:
    case Op::slice:
    case Op::pad:
    case Op::gather:
    case Op::gather_elements:
    case Op::gather_nd:
    case Op::depth_to_space:
    case Op::space_to_depth:
      return true;
    default:
      return false;
  }
}

bool holds_places(Op op, size_t k) {
  switch (op) {
    case Op::gather:
    case Op::gather_elements:
    case Op::gather_nd:
    case Op::scatter_elements:
    case Op::scatter_nd:
      return k == 1;
    default:
      return false;
  }
}

int64_t places_end(Op op, const TensorType& x, const TensorType& places, const Attrs& attrs) {
  if (op != Op::gather_nd && op != Op::scatter_nd) return x.shape[attrs.i(Attr::axis)];
  const int64_t first = op == Op::gather_nd ? attrs.i(Attr::batch_dims) : 0;
  int64_t end = std::numeric_limits<int64_t>::max();
  for (int64_t d = first; d < first + places.shape[places.shape.size() - 1]; ++d) end = std::min(end, x.shape[d]);
  return end;
}

bool is_reduction(Op op) {
  return (op >= Op::reduce_mean && op <= Op::reduce_max) || (op >= Op::reduce_min && op <= Op::reduce_log_sum_exp);
}

bool is_normalisation(Op op) {
  return op == Op::layer_norm || op == Op::instance_norm || op == Op::group_norm || op == Op::rms_norm;
}

}  // namespace rlgo::ops
