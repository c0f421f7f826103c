#include "core/ops/moves.h"

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
      return true;
    default:
      return false;
  }
}

bool is_reduction(Op op) {
  return (op >= Op::reduce_mean && op <= Op::reduce_max) || (op >= Op::reduce_min && op <= Op::reduce_log_sum_exp);
}

bool is_normalisation(Op op) {
  return op == Op::layer_norm || op == Op::instance_norm || op == Op::group_norm || op == Op::rms_norm;
}

}  // namespace rlgo::ops
