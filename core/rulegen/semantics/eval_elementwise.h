// Meaning of the operators that work on one element at a time, and of the fused activations.
#pragma once

#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "core/rulegen/semantics/eval_tensor.h"
#include "core/rulegen/semantics/ring_prime.h"

namespace rlgo::rulegen {

template <class R>  // elementwise maximum of two
typename R::Element larger(R& ring, const typename R::Element& a, const typename R::Element& b) {
  const std::array<typename R::Element, 2> items{a, b};
  return ring.maximum(items);
}
template <class R>  // elementwise minimum of two
typename R::Element smaller(R& ring, const typename R::Element& a, const typename R::Element& b) {
  const std::array<typename R::Element, 2> items{a, b};
  return ring.minimum(items);
}

// max(x, 0) + slope * min(x, 0)
template <class R>
typename R::Element sloped(R& ring, const typename R::Element& x, const typename R::Element& slope) {
  const auto below = smaller(ring, x, ring.zero());
  return ring.add(ring.sub(x, below), ring.mul(slope, below));
}

// max(low, min(high, x)); infinite bounds are none.
template <class R>
typename R::Element clamp(R& ring, typename R::Element x, double low, double high) {
  if (std::isfinite(high)) x = smaller(ring, x, ring.number(high));
  if (std::isfinite(low)) x = larger(ring, x, ring.number(low));
  return x;
}

template <class R>  // clip(alpha x + beta, 0, 1)
typename R::Element hard_sigmoid(R& ring, const typename R::Element& x, double alpha, double beta) {
  return clamp(ring, ring.add(ring.mul(ring.number(alpha), x), ring.number(beta)), 0, 1);
}

// x / 2 * (1 + erf(x / sqrt 2)), or with tanh: x / 2 * (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
template <class R>
typename R::Element gelu(R& ring, const typename R::Element& x, bool with_tanh) {
  typename R::Element inner;
  if (with_tanh) {
    const auto cube = ring.mul(ring.number(0.044715), ring.mul(x, ring.mul(x, x)));
    inner = ring.apply(Fn::tanh, ring.mul(ring.number(0.79788456080286535588), ring.add(x, cube)));
  } else {
    inner = ring.apply(Fn::erf, ring.mul(x, ring.number(0.70710678118654752440)));
  }
  return ring.mul(ring.mul(ring.ratio(1, 2), x), ring.add(ring.integer(1), inner));
}

// max(x, 0) + scale * (exp(min(x, 0) / divisor) - 1)
template <class R>
typename R::Element elu(R& ring, const typename R::Element& x, double scale, double divisor = 1) {
  const auto below = smaller(ring, x, ring.zero());
  const auto power = ring.apply(Fn::exp, divisor == 1 ? below : ring.div(below, ring.number(divisor)));
  return ring.add(ring.sub(x, below), ring.mul(ring.number(scale), ring.sub(power, ring.integer(1))));
}

// The activation words of conv2d and matmul.
template <class R>
typename R::Element activate(R& ring, const typename R::Element& x, std::string_view word) {
  if (word == "relu") return larger(ring, x, ring.zero());
  if (word == "sigmoid") return ring.apply(Fn::sigmoid, x);
  if (word == "tanh") return ring.apply(Fn::tanh, x);
  if (word == "gelu") return gelu(ring, x, false);
  if (word == "hard_swish") return ring.mul(x, hard_sigmoid(ring, x, 1.0 / 6, 0.5));
  return x;
}

// The ring's function that the operator is.
constexpr std::optional<Fn> function_of(ops::Op op) {
  switch (op) {
    case ops::Op::sigmoid:
      return Fn::sigmoid;
    case ops::Op::tanh:
      return Fn::tanh;
    case ops::Op::erf:
      return Fn::erf;
    case ops::Op::sqrt:
      return Fn::sqrt;
    case ops::Op::exp:
      return Fn::exp;
    case ops::Op::log:
      return Fn::log;
    case ops::Op::softplus:
      return Fn::softplus;
    case ops::Op::ceil:
      return Fn::ceil;
    case ops::Op::floor:
      return Fn::floor;
    case ops::Op::round:
      return Fn::round;
    case ops::Op::sign:
      return Fn::sign;
    case ops::Op::sin:
      return Fn::sin;
    case ops::Op::cos:
      return Fn::cos;
    default:
      return std::nullopt;
  }
}

template <class R>  // one input
typename R::Element eval_unary(R& ring, ops::Op op, const ops::Attrs& attrs, const typename R::Element& x) {
  using ops::Attr;
  using ops::Op;
  if (const auto fn = function_of(op)) return ring.apply(*fn, x);
  switch (op) {
    case Op::relu:
      return larger(ring, x, ring.zero());
    case Op::gelu:
      return gelu(ring, x, attrs.word(Attr::approximate) == "tanh");
    case Op::neg:
      return ring.neg(x);
    case Op::abs:
      return larger(ring, x, ring.neg(x));
    case Op::clip:
      return clamp(ring, x, attrs.f(Attr::min), attrs.f(Attr::max));
    case Op::leaky_relu:
      return sloped(ring, x, ring.number(attrs.f(Attr::alpha)));
    case Op::hard_sigmoid:
      return hard_sigmoid(ring, x, attrs.f(Attr::alpha), attrs.f(Attr::beta));
    case Op::elu:
      return elu(ring, x, attrs.f(Attr::alpha));
    case Op::selu:
      return ring.mul(ring.number(attrs.f(Attr::gamma)), elu(ring, x, attrs.f(Attr::alpha)));
    case Op::celu:
      return elu(ring, x, attrs.f(Attr::alpha), attrs.f(Attr::alpha));
    case Op::mish:
      return ring.mul(x, ring.apply(Fn::tanh, ring.apply(Fn::softplus, x)));
    case Op::swish:
      return ring.mul(x, ring.apply(Fn::sigmoid, ring.mul(ring.number(attrs.f(Attr::alpha)), x)));
    case Op::softsign:
      return ring.div(x, ring.add(ring.integer(1), larger(ring, x, ring.neg(x))));
    case Op::reciprocal:
      return ring.div(ring.integer(1), x);
    default:  // hard_swish
      return ring.mul(x, hard_sigmoid(ring, x, 1.0 / 6, 0.5));
  }
}

template <class R>  // two inputs, broadcast
typename R::Element eval_binary(R& ring, ops::Op op, const typename R::Element& a, const typename R::Element& b) {
  using ops::Op;
  switch (op) {
    case Op::add:
      return ring.add(a, b);
    case Op::sub:
      return ring.sub(a, b);
    case Op::mul:
      return ring.mul(a, b);
    case Op::div:
      return ring.div(a, b);
    case Op::min:
      return smaller(ring, a, b);
    case Op::max:
      return larger(ring, a, b);
    case Op::prelu:
      return sloped(ring, a, b);
    default:
      return ring.power(a, b);
  }
}

// NumPy broadcasting. Integers: the same but division, which rounds and is not offered.
template <class R>
bool eval_elementwise(Eval<R>& e, ops::Op op) {
  auto& out = e.make();
  const auto& a = e.in[0]->data;
  if (e.in.size() == 1) {
    for (size_t k = 0; k < a.size(); ++k) out.data[k] = eval_unary(e.ring, op, e.attrs, a[k]);
    return true;
  }
  if (op == ops::Op::div && !ops::is_float(e.in[0]->type.dtype)) return false;
  const auto& b = e.in[1]->data;
  if (e.shape(0) == e.shape(1)) {
    for (size_t k = 0; k < a.size(); ++k) out.data[k] = eval_binary(e.ring, op, a[k], b[k]);
    return true;
  }
  std::vector<size_t> second(out.data.size());
  walk(out.shape(), broadcast_steps(e.shape(1), out.shape()), [&](size_t k, size_t from) { second[k] = from; });
  walk(out.shape(), broadcast_steps(e.shape(0), out.shape()),
       [&](size_t k, size_t from) { out.data[k] = eval_binary(e.ring, op, a[from], b[second[k]]); });
  return true;
}

}  // namespace rlgo::rulegen
