// Operators on one element (or the broadcast elements of two tensors) at a time, and the activations that conv2d and
// matmul may carry.
#include "core/ops/families.h"

namespace rlgo::ops {
namespace {

// [..] x [..] -> broadcast [..]; equal dtypes. The shapes of all such operators are those of add.
Inferred infer_numbers(Inputs in, const Attrs& attrs) {
  return same_dtype(in) && is_number(in[0].dtype) ? shaped(Op::add, in[0].dtype, in, attrs) : std::nullopt;
}

template <Op op>
Inferred infer_floats(Inputs in, const Attrs& attrs) {
  return same_float(in) ? shaped(op, in[0].dtype, in, attrs) : std::nullopt;
}

Inferred infer_unary(Inputs in, const Attrs&) {
  if (!is_float(in[0].dtype)) return std::nullopt;
  return one(in[0].dtype, in[0].shape);
}

constexpr std::string_view kGeluForms[] = {"none", "tanh"};
Inferred infer_gelu(Inputs in, const Attrs& attrs) {
  const bool known = std::ranges::find(kGeluForms, attrs.word(Attr::approximate)) != std::end(kGeluForms);
  return known ? infer_unary(in, attrs) : std::nullopt;
}

Inferred infer_celu(Inputs in, const Attrs& attrs) {
  return attrs.f(Attr::alpha) != 0 ? infer_unary(in, attrs) : std::nullopt;
}

// Floats have the dividend's sign alone.
Inferred infer_mod(Inputs in, const Attrs& attrs) {
  const int64_t fmod = attrs.i(Attr::fmod);
  return is_flag(fmod) && (fmod == 1 || !is_float(in[0].dtype)) ? infer_numbers(in, attrs) : std::nullopt;
}

Inferred infer_clip(Inputs in, const Attrs& attrs) {
  return attrs.f(Attr::min) <= attrs.f(Attr::max) ? infer_unary(in, attrs) : std::nullopt;
}

Work work_per_element(Inputs in, double flops_per_element) {
  const auto shape = in.size() == 2 ? *broadcast(in[0].shape, in[1].shape) : in[0].shape;
  const TensorType out(in[0].dtype, shape);
  return moved(flops_per_element * count(out), in, {out});
}
Work work_simple(Inputs in, const Attrs&) { return work_per_element(in, 1.0); }
Work work_transcendental(Inputs in, const Attrs&) { return work_per_element(in, kTranscendentalFlops); }
Work work_two_transcendental(Inputs in, const Attrs&) { return work_per_element(in, 2 * kTranscendentalFlops); }

OpSpec binary(Op op, bool commutative, decltype(OpSpec::infer) infer, decltype(OpSpec::work) work = work_simple) {
  return {op, 2, 2, commutative, true, {}, infer, work};
}
OpSpec unary(Op op, decltype(OpSpec::work) work, std::vector<AttrSpec> attrs = {},
             decltype(OpSpec::infer) infer = infer_unary) {
  return {op, 1, 1, false, true, std::move(attrs), infer, work};
}

constexpr double kInf = std::numeric_limits<double>::infinity();

}  // namespace

bool is_activation(std::string_view act) { return std::ranges::find(kActivations, act) != std::end(kActivations); }

double activation_flops(std::string_view act) {
  if (act == "none") return 0.0;
  return act == "relu" || act == "hard_swish" ? 1.0 : kTranscendentalFlops;
}

OpSpec add_spec() { return binary(Op::add, true, infer_numbers); }
OpSpec sub_spec() { return binary(Op::sub, false, infer_numbers); }
OpSpec mul_spec() { return binary(Op::mul, true, infer_numbers); }
// Integers: rounds towards zero, as ONNX.
OpSpec div_spec() { return binary(Op::div, false, infer_numbers); }
OpSpec min_spec() { return binary(Op::min, true, infer_numbers); }
OpSpec max_spec() { return binary(Op::max, true, infer_numbers); }
OpSpec pow_spec() { return binary(Op::pow, false, infer_floats<Op::pow>, work_transcendental); }

#define RLGO_FUNCTION(name, onnx, since, writer, work, value) \
  OpSpec name##_spec() { return unary(Op::name, work_##work); }
#include "core/ops/functions.def"
#undef RLGO_FUNCTION
OpSpec gelu_spec() {
  return unary(Op::gelu, work_transcendental, {{Attr::approximate, std::string("none"), true, kGeluForms}}, infer_gelu);
}
OpSpec clip_spec() { return unary(Op::clip, work_simple, {{Attr::max, kInf}, {Attr::min, -kInf}}, infer_clip); }
OpSpec leaky_relu_spec() { return unary(Op::leaky_relu, work_simple, {{Attr::alpha, 0.01}}); }
// (x, slope): x where it is positive, slope * x elsewhere; ONNX PRelu. The slopes broadcast to x, which keeps its
// shape.
OpSpec prelu_spec() { return binary(Op::prelu, false, infer_floats<Op::prelu>); }
// max(0, min(1, alpha * x + beta))
OpSpec hard_sigmoid_spec() { return unary(Op::hard_sigmoid, work_simple, {{Attr::alpha, 0.2}, {Attr::beta, 0.5}}); }

// max(x, 0) + alpha * (exp(min(x, 0)) - 1)
OpSpec elu_spec() { return unary(Op::elu, work_transcendental, {{Attr::alpha, 1.0}}); }
// gamma * elu(x); the defaults are ONNX's, single precision
OpSpec selu_spec() { return unary(Op::selu, work_transcendental, {{Attr::alpha, 1.6732632}, {Attr::gamma, 1.050701}}); }
// max(x, 0) + alpha * (exp(min(x, 0) / alpha) - 1), alpha not 0
OpSpec celu_spec() { return unary(Op::celu, work_transcendental, {{Attr::alpha, 1.0}}, infer_celu); }
// x * sigmoid(alpha * x)
OpSpec swish_spec() { return unary(Op::swish, work_transcendental, {{Attr::alpha, 1.0}}); }
// x where x > alpha, else 0
OpSpec thresholded_relu_spec() { return unary(Op::thresholded_relu, work_simple, {{Attr::alpha, 1.0}}); }
// The rest of a division: of the sign of the divisor (integers alone), with fmod of the dividend.
OpSpec mod_spec() { return {Op::mod, 2, 2, false, true, {{Attr::fmod, int64_t{0}}}, infer_mod, work_simple}; }

}  // namespace rlgo::ops
