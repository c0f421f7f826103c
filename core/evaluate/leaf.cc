// input, weight and opaque nodes.
#include <cmath>

#include "core/base/hash.h"
#include "core/evaluate/kernels.h"
#include "core/evaluate/values.h"

namespace rlgo::evaluate {
namespace {

// A number that depends smoothly on every element of the float and integer inputs and on their order:
// sum over inputs i of <asinh(x_i), r_i> / sqrt(n_i), r_i seeded normal numbers. asinh keeps large integers apart.
double digest(const Call& call, uint64_t seed) {
  double sum = 0;
  for (size_t i = 0; i < call.in.size(); ++i) {
    const Tensor& x = call.in[i];
    const Tensor direction = seeded_normal({x.elements()}, hash_combine(seed, i));
    const auto* r = direction.data<double>();
    double product = 0;
    visit(x.dtype(), [&]<typename T>() {
      const T* elements = x.data<T>();
      for (int64_t k = 0; k < x.elements(); ++k) product += std::asinh(static_cast<double>(elements[k])) * r[k];
    });
    if (x.elements() > 0) sum += product / std::sqrt(static_cast<double>(x.elements()));
  }
  return sum;
}

}  // namespace

Tensors weight_kernel(const Call& call) {
  return {cast(Tensor::of(*call.info.blob), held(call.info.outputs[0].dtype, call.precision), call.run)};
}

Tensors input_kernel(const Call& call) {
  fail("internal: input '{}' has no computation (this is a bug of rlgo)", call.info.name);
}

// What import computed from weights alone is known. rlgo cannot compute others, so each stands for any deterministic
// function: float outputs are s + sin(digest of the inputs + s) / 2 with seeded normal numbers s by payload and output
// (the elements' phases differ, so some always move with the digest); integers and booleans are seeded alone.
Tensors opaque_kernel(const Call& call) {
  Tensors out;
  for (const auto& known : call.info.opaque->known)
    out.push_back(cast(Tensor::of(*known), held(known->type().dtype, call.precision), call.run));
  if (!out.empty()) return out;
  const uint64_t seed = call.info.opaque->hash();
  const double phase = digest(call, seed);
  for (size_t p = 0; p < call.info.outputs.size(); ++p) {
    const auto& type = call.info.outputs[p];
    const auto dtype = held(type.dtype, call.precision);
    const uint64_t output_seed = hash_combine(seed, ~p);
    if (ops::is_float(dtype)) {
      Tensor base = seeded_normal(type.shape, output_seed);
      for (double& x : std::span(base.data<double>(), static_cast<size_t>(base.elements())))
        x += 0.5 * std::sin(phase + x);
      out.push_back(cast(base, dtype, call.run));
    } else {
      const int64_t bound = p < call.index_bounds.size() ? call.index_bounds[p] : kIndexBound;
      out.push_back(cast(seeded_integers(type.shape, dtype == ops::DType::boolean ? 2 : bound, output_seed), dtype));
    }
  }
  return out;
}

}  // namespace rlgo::evaluate
