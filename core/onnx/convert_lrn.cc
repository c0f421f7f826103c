// LRN as a convolution of squares: runtimes compute it channel by channel, in 10 to 17 times the time (ONNX Runtime).
#include <algorithm>

#include "core/onnx/constant.h"
#include "core/onnx/converters.h"

namespace rlgo::onnx_io {
namespace {

using ops::Attr;
using ops::Op;

// A kernel takes so many squared floats of the file.
constexpr int64_t kMostChannels = 512;

}  // namespace

// y = x / (bias + alpha / size * s)^beta, where s sums the squares of `size` channels around each.
bool convert_lrn(const OnnxNode& node, Maker& maker) {
  const auto& type = node.input_types[0];
  const int64_t size = node.i("size", 0);
  const double bias = node.f("bias", 1.0), alpha = node.f("alpha", 1e-4), beta = node.f("beta", 0.75);
  if (type.dtype != ops::DType::f32 || type.rank() < 3 || type.rank() > 5 || type.is_open(1) || size < 1) return false;
  // The sum is positive, so that every power of it is one.
  if (!(bias > 0) || !(alpha >= 0) || !(beta > 0)) return false;
  const int64_t channels = type.shape[1];
  if (channels < 1 || channels > kMostChannels) return false;
  const auto axes = static_cast<size_t>(type.rank() - 2);
  ops::Shape kernel(static_cast<size_t>(type.rank()), 1);
  kernel[0] = kernel[1] = channels;
  const double factor = alpha / static_cast<double>(size);
  std::string bytes;
  for (int64_t k = 0; k < channels * channels; ++k) {
    const int64_t distance = k % channels - k / channels;  // of the channel that is read
    bytes += element_bytes(type.dtype, distance >= -((size - 1) / 2) && distance <= size / 2 ? factor : 0.0);
  }
  const auto band = graph::Blob::bytes({type.dtype, kernel}, std::move(bytes));
  const auto fill = [&](const Ints& shape, double value) {
    const auto dtype = std::string(ops::name(type.dtype));
    return maker.op(Op::fill, {}, {{Attr::shape, shape}, {Attr::to, dtype}, {Attr::value, value}});
  };
  const graph::Value x = node.inputs[0];
  const graph::Value sums =
      maker.op(Op::conv2d, {maker.op(Op::mul, {x, x}), maker.weight("band", band), fill({channels}, bias)},
               {{Attr::pads, Ints(2 * axes, 0)}, {Attr::strides, Ints(axes, 1)}, {Attr::dilations, Ints(axes, 1)}});
  maker.out(Op::div, {x, maker.op(Op::pow, {sums, fill({}, beta)})});
  return true;
}

}  // namespace rlgo::onnx_io
