#include "core/exec/kernels.h"

namespace rlgo::exec {

Tensors equal_kernel(const Call& call) { return {at::eq(call.in[0], call.in[1])}; }
Tensors less_kernel(const Call& call) { return {at::lt(call.in[0], call.in[1])}; }
Tensors less_equal_kernel(const Call& call) { return {at::le(call.in[0], call.in[1])}; }
Tensors logical_and_kernel(const Call& call) { return {at::logical_and(call.in[0], call.in[1])}; }
Tensors logical_or_kernel(const Call& call) { return {at::logical_or(call.in[0], call.in[1])}; }
Tensors logical_not_kernel(const Call& call) { return {at::logical_not(call.in[0])}; }
Tensors where_kernel(const Call& call) { return {at::where(call.in[0], call.in[1], call.in[2])}; }

}  // namespace rlgo::exec
