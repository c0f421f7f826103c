#include "core/zoo/builder.h"

#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/base/hash.h"

namespace rlgo::zoo {

using ops::Attr;
using ops::Attrs;
using ops::Ints;
using ops::Op;
using ops::Shape;

Value Builder::input(std::string name, ops::DType dtype, Shape shape) {
  return editor_.add_input(std::move(name), ops::TensorType(dtype, std::move(shape)));
}

Value Builder::weight(const std::string& name, Shape shape, double scale, double mean) {
  const ops::TensorType type(ops::DType::f32, std::move(shape));
  return editor_.add_weight(name, graph::Blob::seeded(type, hash_string(name, seed_), scale, mean));
}

Value Builder::conv(const std::string& name, Value x, const Conv& conv) {
  const auto [height, width] = conv.kernel;
  const int64_t channels = shape(x)[1];
  const int64_t terms = channels / conv.group * height * width;
  const double scale = std::sqrt(2.0 / static_cast<double>(terms));
  const Value w = weight(name + ".weight", {conv.out_channels, channels / conv.group, height, width}, scale);
  const Ints pads{conv.pad[0], conv.pad[1], conv.pad[0] + conv.more_pad[0], conv.pad[1] + conv.more_pad[1]};
  const Attrs attrs{{Attr::pads, pads}, {Attr::strides, Ints{conv.stride, conv.stride}}, {Attr::group, conv.group}};
  if (!conv.bias) return op(Op::conv2d, {x, w}, attrs, name);
  return op(Op::conv2d, {x, w, weight(name + ".bias", {conv.out_channels}, 0.1)}, attrs, name);
}

Value Builder::batch_norm(const std::string& name, Value x, double eps, double gain) {
  const Shape channels{shape(x)[1]};
  const Value scale = weight(name + ".weight", channels, 0.1 * gain, gain);
  const Value bias = weight(name + ".bias", channels, 0.1);
  const Value mean = weight(name + ".running_mean", channels, 0.1);
  const std::string variance_name = name + ".running_var";
  // |Normal(0, 0.6)| + 0.5: mean 0.98, always positive.
  const auto variance =
      graph::Blob::seeded({ops::DType::f32, channels}, hash_string(variance_name, seed_), 0.6, 0.0, true);
  return op(Op::batch_norm, {x, scale, bias, mean, editor_.add_weight(variance_name, variance)}, {{Attr::eps, eps}},
            name);
}

namespace {
Attrs pool_attrs(const Pool& pool) {
  const int64_t end = pool.pad + pool.more_pad;
  return {{Attr::kernel, Ints{pool.kernel, pool.kernel}},
          {Attr::strides, Ints{pool.stride, pool.stride}},
          {Attr::pads, Ints{pool.pad, pool.pad, end, end}},
          {Attr::ceil_mode, int64_t{pool.ceil_mode}}};
}
}  // namespace

Value Builder::max_pool(Value x, const Pool& pool) { return op(Op::max_pool, {x}, pool_attrs(pool)); }
Value Builder::avg_pool(Value x, const Pool& pool, bool count_padding) {
  Attrs attrs = pool_attrs(pool);
  attrs.set(Attr::count_include_pad, int64_t{count_padding});
  return op(Op::avg_pool, {x}, attrs);
}
Value Builder::global_avg_pool(Value x) { return op(Op::global_avg_pool, {x}); }
Value Builder::flatten(Value x) {
  const Shape& from = shape(x);
  return op(Op::reshape, {x}, {{Attr::shape, Ints{from[0], from[1] * from[2] * from[3]}}});
}
Value Builder::relu(Value x) { return op(Op::relu, {x}); }
Value Builder::add(Value a, Value b) { return op(Op::add, {a, b}); }
Value Builder::concat(std::span<const Value> parts, int64_t axis) {
  return {editor_.add(Op::concat, parts, {{Attr::axis, axis}}), 0};
}

Value Builder::linear(const std::string& name, Value x, int64_t outputs) {
  const int64_t inputs = shape(x).back();
  const Value w = weight(name + ".weight", {inputs, outputs}, 1.0 / std::sqrt(static_cast<double>(inputs)));
  return op(Op::matmul, {x, w, weight(name + ".bias", {outputs}, 0.1)}, {}, name);
}

Value Builder::linear_add(const std::string& name, Value x, int64_t outputs, double gain) {
  const int64_t inputs = shape(x).back();
  const Value w = weight(name + ".weight", {inputs, outputs}, gain / std::sqrt(static_cast<double>(inputs)));
  const Value product = op(Op::matmul, {x, w}, {}, name);
  return add(product, weight(name + ".bias", {outputs}, 0.1 * gain));
}

Value Builder::layer_norm(const std::string& name, Value x, double eps) {
  const Shape features{shape(x).back()};
  const Value scale = weight(name + ".weight", features, 0.1, 1.0);
  const Value bias = weight(name + ".bias", features, 0.1);
  const auto axis = static_cast<int64_t>(shape(x).size()) - 1;
  return op(Op::layer_norm, {x, scale, bias}, {{Attr::axis, axis}, {Attr::eps, eps}}, name);
}

Value Builder::split_heads(Value x, int64_t heads, Ints perm) {
  const auto from = shape(x);
  const Value parts = op(Op::reshape, {x}, {{Attr::shape, Ints{from[0], from[1], heads, from[2] / heads}}});
  return op(Op::transpose, {parts}, {{Attr::perm, std::move(perm)}});
}

Value Builder::attention(Value q, Value k, Value v, std::optional<Value> mask) {
  const auto heads = shape(q);
  const double scale = 1.0 / std::sqrt(static_cast<double>(heads[3]));
  const Value factor = op(Op::fill, {}, {{Attr::shape, Ints{}}, {Attr::value, scale}});
  Value scores = op(Op::mul, {op(Op::matmul, {q, k}), factor});
  if (mask) {
    const double lowest = std::numeric_limits<float>::lowest();
    scores = op(Op::where, {*mask, scores, op(Op::fill, {}, {{Attr::shape, Ints{}}, {Attr::value, lowest}})});
  }
  const Value probabilities = op(Op::softmax, {scores}, {{Attr::axis, int64_t{3}}});
  const Value mixed = op(Op::transpose, {op(Op::matmul, {probabilities, v})}, {{Attr::perm, Ints{0, 2, 1, 3}}});
  return op(Op::reshape, {mixed}, {{Attr::shape, Ints{heads[0], heads[2], heads[1] * heads[3]}}});
}

graph::Graph Builder::finish(const std::string& output_name, Value output) {
  editor_.add_output(output_name, output);
  auto graph = editor_.finish();
  RLGO_CHECK(graph.has_value());
  return std::move(*graph);
}

int64_t option_or(const char* option, int64_t given, int64_t standard, int64_t least, int64_t most) {
  const int64_t value = given == 0 ? standard : given;
  if (value < least || value > most) fail("{} must be between {} and {}, not {}", option, least, most, value);
  return value;
}

void refuse_option(const char* option, int64_t given) {
  if (given != 0) fail("this model has no option '{}'", option);
}

int64_t batch_of(const ZooOptions& options) { return option_or("batch", options.batch, 1, 1, 65536); }

}  // namespace rlgo::zoo
