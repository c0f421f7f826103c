// input, weight and opaque nodes.
#include "core/base/error.h"
#include "core/evaluate/kernels.h"
#include "core/exec/kernels.h"

namespace rlgo::exec {

Tensors input_kernel(const Call& call) {
  fail("internal: input '{}' has no computation (this is a bug of rlgo)", call.info.name);
}

Tensors weight_kernel(const Call& call) {
  const auto& type = call.info.outputs[0];
  return {to_tensor(*call.info.blob).to(call.options(type.dtype))};
}

// The synthetic function that core/evaluate puts in its place.
Tensors opaque_kernel(const Call& call) {
  evaluate::Tensors in;
  for (const auto& tensor : call.in) in.push_back(from_torch(tensor));
  const auto precision = call.precision == Precision::f64 ? evaluate::Precision::f64 : evaluate::Precision::native;
  Tensors out;
  for (const auto& tensor :
       evaluate::run_kernel({.in = in, .info = call.info, .precision = precision, .index_bounds = call.index_bounds}))
    out.push_back(to_torch(tensor).to(call.device));
  return out;
}

}  // namespace rlgo::exec
