// matmul(a[..,M,K], b[..,K,N], [bias]) -> [..,M,N]: NumPy matmul of ranks >= 2 with broadcast batch axes; the bias
// broadcasts to the output's shape and never enlarges it; an activation may be fused behind it.
#include "core/ops/families.h"

namespace rlgo::ops {
namespace {

Inferred infer_matmul(Inputs in, const Attrs& attrs) {
  const auto &a = in[0].shape, &b = in[1].shape;
  if (!same_float(in) || a.size() < 2 || b.size() < 2 || !is_activation(attrs.word(Attr::act))) return std::nullopt;
  if (a.back() != b[b.size() - 2]) return std::nullopt;
  auto out = broadcast(Shape(std::span(a.data(), a.size() - 2)), Shape(std::span(b.data(), b.size() - 2)));
  if (!out) return std::nullopt;
  out->push_back(a[a.size() - 2]);
  out->push_back(b.back());
  if (in.size() == 3 && broadcast(*out, in[2].shape) != out) return std::nullopt;
  return one(in[0].dtype, std::move(*out));
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
