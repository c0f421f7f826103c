// matmul(a[..,M,K], b[..,K,N], [bias]) -> [..,M,N]: NumPy matmul of ranks >= 2 with broadcast batch axes; the bias
// broadcasts to the output's shape and never enlarges it; an activation may be fused behind it.
#include "core/ops/families.h"

namespace rlgo::ops {
namespace {

Inferred infer_matmul(Inputs in, const Attrs& attrs) {
  if (!same_float(in) || !is_activation(attrs.word(Attr::act))) return std::nullopt;
  return shaped(Op::matmul, in[0].dtype, in, attrs);
}

Work work_matmul(Inputs in, const Attrs& attrs) {
  const auto out = *infer_matmul(in, attrs);
  const double per_element = 2.0 * static_cast<double>(in[0].shape.back()) + (in.size() == 3 ? 1.0 : 0.0) +
                             activation_flops(attrs.word(Attr::act));
  return moved(per_element * count(out[0]), in, out);
}

}  // namespace

OpSpec matmul_spec() {
  return {Op::matmul,   2,          3, false, false, {{Attr::act, std::string("none"), true, kActivations}},
          infer_matmul, work_matmul};
}

}  // namespace rlgo::ops
