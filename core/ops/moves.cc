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

}  // namespace rlgo::ops
