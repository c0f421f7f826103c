// input, weight and opaque nodes.
#include <cmath>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/exec/kernels.h"
#include "core/exec/values.h"

namespace rlgo::exec {
namespace {

// A number that depends smoothly on every element of the float and integer inputs and on their order:
// sum over inputs i of <asinh(x_i), r_i> / sqrt(n_i), r_i seeded normal numbers. asinh keeps large integers apart.
at::Tensor digest(const Call& call, uint64_t seed) {
  at::Tensor sum = at::zeros({}, call.options(ops::DType::f32));
  for (size_t i = 0; i < call.in.size(); ++i) {
    const at::Tensor flat = call.in[i].reshape({-1}).to(sum.scalar_type()).asinh();
    if (flat.numel() == 0) continue;
    const at::Tensor direction = seeded_normal({flat.numel()}, hash_combine(seed, i)).to(sum.options());
    sum = sum + at::dot(flat, direction) / std::sqrt(static_cast<double>(flat.numel()));
  }
  return sum;
}

}  // namespace

Tensors input_kernel(const Call& call) {
  fail("internal: input '{}' has no computation (this is a bug of rlgo)", call.info.name);
}

Tensors weight_kernel(const Call& call) {
  const auto& type = call.info.outputs[0];
  return {to_tensor(*call.info.blob).to(call.options(type.dtype))};
}

// rlgo cannot compute it, so it stands for any deterministic function: float outputs are s + sin(digest of the inputs +
// s) / 2 with seeded normal numbers s by payload and output (the elements' phases differ, so some always move with the
// digest); integers and booleans are seeded alone.
Tensors opaque_kernel(const Call& call) {
  const uint64_t seed = call.info.opaque->hash();
  const at::Tensor phase = digest(call, seed);
  Tensors out;
  for (size_t p = 0; p < call.info.outputs.size(); ++p) {
    const auto& type = call.info.outputs[p];
    const uint64_t output_seed = hash_combine(seed, ~p);
    if (ops::is_float(type.dtype) || type.dtype == ops::DType::other) {
      const at::Tensor base = seeded_normal(sizes_of(type), output_seed).to(phase.options());
      out.push_back((base + 0.5 * at::sin(phase + base)).to(call.options(type.dtype)));
    } else {
      const int64_t bound = p < call.index_bounds.size() ? call.index_bounds[p] : kIndexBound;
      out.push_back(seeded_integers(sizes_of(type), type.dtype == ops::DType::boolean ? 2 : bound, output_seed)
                        .to(call.options(type.dtype)));
    }
  }
  return out;
}

}  // namespace rlgo::exec
