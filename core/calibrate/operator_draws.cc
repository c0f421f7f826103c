#include "core/calibrate/operator_draws.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/graph/editor.h"

namespace rlgo::calibrate {
namespace {

using graph::Editor;
using graph::Graph;
using graph::Value;
using ops::Attr;
using ops::Attrs;
using ops::DType;
using ops::Ints;
using ops::Op;
using ops::Shape;

// Even by the logarithm: as many between 8 and 16 as between 256 and 512.
int64_t between(Rng& rng, int64_t low, int64_t high) {
  const double log_size = std::log(low) + rng.uniform() * (std::log(high + 1) - std::log(low));
  return std::clamp(static_cast<int64_t>(std::exp(log_size)), low, high);
}
// Channels are whole multiples of 8 in most models.
int64_t channels(Rng& rng, int64_t high) { return 8 * between(rng, 1, high / 8); }
template <typename T>
T one_of(Rng& rng, std::initializer_list<T> of) {
  return of.begin()[rng.below(of.size())];
}

class Draft {
 public:
  Value input(Shape shape, DType dtype = DType::f32) {
    return editor_.add_input(fmt::format("x{}", inputs_++), ops::TensorType(dtype, std::move(shape)));
  }
  Value weight(Shape shape) {
    const ops::TensorType type(DType::f32, std::move(shape));
    ++weights_;
    return editor_.add_weight(fmt::format("c{}", weights_), graph::Blob::seeded(type, weights_, 0.1, 0));
  }
  Graph done(Op op, std::initializer_list<Value> inputs, const Attrs& attrs = {}) {
    return done(editor_.op(op, inputs, attrs));
  }
  Graph done(Value out) {
    editor_.add_output("y", out);
    return *editor_.finish();
  }
  Editor& editor() { return editor_; }

 private:
  Editor editor_{"operator"};
  int inputs_ = 0;
  uint64_t weights_ = 0;
};

// Pictures of at most so many pixels in all channels.
Shape picture(Rng& rng, int64_t c, int64_t most = 1 << 21) {
  const auto high = static_cast<int64_t>(std::sqrt(static_cast<double>(most) / static_cast<double>(c)));
  const int64_t size = between(rng, 4, std::min<int64_t>(224, std::max<int64_t>(4, high)));
  return {1, c, size, size};
}

Graph conv(Rng& rng, int64_t kernel_h, int64_t kernel_w, int64_t c, int64_t out, int64_t group) {
  Draft d;
  const Value x = d.input(picture(rng, c)), w = d.weight({out, c / group, kernel_h, kernel_w});
  const int64_t stride = rng.below(4) == 0 ? 2 : 1, h = kernel_h / 2, v = kernel_w / 2;
  return d.done(Op::conv2d, {x, w, d.weight({out})},
                {{Attr::pads, Ints{h, v, h, v}}, {Attr::strides, Ints{stride, stride}}, {Attr::group, group}});
}
Graph conv_1x1(Rng& rng) { return conv(rng, 1, 1, channels(rng, 1024), channels(rng, 1024), 1); }
Graph conv_3x3(Rng& rng) {
  return conv(rng, 3, 3, one_of(rng, {int64_t{3}, channels(rng, 512)}), channels(rng, 512), 1);
}
Graph conv_other(Rng& rng) {
  const auto h = one_of<int64_t>(rng, {1, 5, 7}), w = h == 1 ? one_of<int64_t>(rng, {3, 7}) : h;
  return conv(rng, h, w, channels(rng, 256), channels(rng, 256), 1);
}
Graph conv_depthwise(Rng& rng) {
  const int64_t c = channels(rng, 1024), kernel = one_of<int64_t>(rng, {3, 5});
  return conv(rng, kernel, kernel, c, c, c);
}
Graph conv_grouped(Rng& rng) {
  const int64_t group = between(rng, 2, 32), each = between(rng, 4, 64);
  return conv(rng, 3, 3, group * each, group * each, group);
}
Graph conv_transpose(Rng& rng) {
  Draft d;
  const int64_t c = channels(rng, 256), out = channels(rng, 256);
  const Value x = d.input(picture(rng, c, 1 << 18));
  return d.done(Op::conv_transpose, {x, d.weight({c, out, 2, 2})}, {{Attr::strides, Ints{2, 2}}});
}

Graph matmul_by_weight(Rng& rng) {
  Draft d;
  const int64_t rows = between(rng, 1, 512), terms = between(rng, 16, 2048), columns = between(rng, 16, 2048);
  return d.done(Op::matmul, {d.input({1, rows, terms}), d.weight({terms, columns})});
}
Graph matmul_of_heads(Rng& rng) {
  Draft d;
  const int64_t heads = between(rng, 2, 16), rows = between(rng, 8, 256), terms = between(rng, 16, 128),
                columns = between(rng, 8, 256);
  return d.done(Op::matmul, {d.input({heads, rows, terms}), d.input({heads, terms, columns})});
}

Shape elements(Rng& rng) { return picture(rng, channels(rng, 1024)); }
Graph unary(Rng& rng) {
  Draft d;
  return d.done(one_of(rng, {Op::relu, Op::relu, Op::sigmoid, Op::tanh, Op::gelu, Op::erf, Op::sqrt}),
                {d.input(elements(rng))});
}
Graph binary(Rng& rng) {
  Draft d;
  const Shape shape = elements(rng);
  const Value other = rng.below(3) == 0 ? d.weight({shape[1], 1, 1}) : d.input(shape);
  return d.done(one_of(rng, {Op::add, Op::add, Op::mul, Op::sub, Op::div}), {d.input(shape), other});
}

Graph pool(Rng& rng) {
  Draft d;
  const Value x = d.input(elements(rng));
  const auto op = one_of(rng, {Op::max_pool, Op::avg_pool, Op::global_avg_pool});
  if (op == Op::global_avg_pool) return d.done(op, {x});
  const auto kernel = one_of<int64_t>(rng, {2, 3}), stride = one_of<int64_t>(rng, {1, 2});
  return d.done(op, {x}, {{Attr::kernel, Ints{kernel, kernel}}, {Attr::strides, Ints{stride, stride}}});
}
Graph reduce(Rng& rng) {
  Draft d;
  const Value x = d.input({1, between(rng, 8, 512), between(rng, 8, 1024)});
  return d.done(one_of(rng, {Op::reduce_mean, Op::reduce_sum, Op::reduce_max}), {x}, {{Attr::axes, Ints{2}}});
}
Graph softmax(Rng& rng) {
  Draft d;
  return d.done(Op::softmax, {d.input({between(rng, 1, 16), between(rng, 8, 256), between(rng, 8, 512)})},
                {{Attr::axis, int64_t{2}}});
}
Graph layer_norm(Rng& rng) {
  Draft d;
  const int64_t features = between(rng, 32, 2048);
  return d.done(Op::layer_norm,
                {d.input({1, between(rng, 1, 512), features}), d.weight({features}), d.weight({features})},
                {{Attr::axis, int64_t{2}}});
}

Graph transpose(Rng& rng) {
  Draft d;
  if (rng.below(2) == 0)
    return d.done(Op::transpose, {d.input({between(rng, 8, 1024), between(rng, 8, 1024)})}, {{Attr::perm, Ints{1, 0}}});
  const Value x = d.input({1, between(rng, 8, 256), between(rng, 2, 16), between(rng, 16, 64)});  // heads
  return d.done(Op::transpose, {x}, {{Attr::perm, one_of(rng, {Ints{0, 2, 1, 3}, Ints{0, 2, 3, 1}})}});
}
Graph gather(Rng& rng) {
  Draft d;
  const Value table = d.weight({between(rng, 128, 8192), between(rng, 32, 1024)});
  return d.done(Op::gather, {table, d.input({1, between(rng, 8, 512)}, DType::i64)}, {{Attr::axis, int64_t{0}}});
}
Graph slice(Rng& rng) {
  Draft d;
  const Shape shape = elements(rng);
  const int64_t axis = one_of<int64_t>(rng, {1, 2, 3});
  return d.done(
      Op::slice, {d.input(shape)},
      {{Attr::axes, Ints{axis}}, {Attr::starts, Ints{0}}, {Attr::ends, Ints{shape[axis] / 2}}, {Attr::steps, Ints{1}}});
}
Graph pad(Rng& rng) {
  Draft d;
  return d.done(Op::pad, {d.input(elements(rng))}, {{Attr::pads, Ints{0, 0, 1, 1, 0, 0, 1, 1}}});
}
Graph concat(Rng& rng) {
  Draft d;
  const Shape shape = elements(rng);
  std::vector<Value> parts;
  for (uint64_t k = 2 + rng.below(3); k > 0; --k) parts.push_back(d.input(shape));
  return d.done({d.editor().add(Op::concat, parts, {{Attr::axis, one_of<int64_t>(rng, {1, 3})}}), 0});
}
Graph split(Rng& rng) {
  Draft d;
  const Shape shape = elements(rng);
  const int64_t half = shape[1] / 2;
  return d.done(Op::split, {d.input(shape)}, {{Attr::axis, int64_t{1}}, {Attr::sizes, Ints{half, shape[1] - half}}});
}

}  // namespace

std::span<const OperatorDraw> operator_draws() {
  static const OperatorDraw kDraws[] = {
      conv_1x1, conv_3x3, conv_other, conv_depthwise, conv_grouped, conv_transpose, matmul_by_weight, matmul_of_heads,
      unary,    binary,   pool,       reduce,         softmax,      layer_norm,     transpose,        gather,
      slice,    pad,      concat,     split};
  return kDraws;
}

}  // namespace rlgo::calibrate
