// Inception v3 (Szegedy et al. 2015) in eval mode, as torchvision's inception_v3 without the auxiliary classifier.
#include "core/zoo/builder.h"

namespace rlgo::zoo {
namespace {

constexpr Pool kSame{.kernel = 3, .stride = 1, .pad = 1};
constexpr Pool kHalve{.kernel = 3, .stride = 2};

// Convolution, batch norm, relu.
Value unit(Builder& b, const std::string& name, Value x, const Conv& conv) {
  return b.relu(b.batch_norm(name + ".bn", b.conv(name + ".conv", x, conv), 1e-3));
}
Value unit1x1(Builder& b, const std::string& name, Value x, int64_t channels) {
  return unit(b, name, x, {.out_channels = channels});
}
Value unit3x3(Builder& b, const std::string& name, Value x, int64_t channels) {
  return unit(b, name, x, {.out_channels = channels, .kernel = {3, 3}, .pad = {1, 1}});
}
// 3x3, stride 2, no padding.
Value reduce3x3(Builder& b, const std::string& name, Value x, int64_t channels) {
  return unit(b, name, x, {.out_channels = channels, .kernel = {3, 3}, .stride = 2});
}
// 1 x n (wide) and n x 1 (tall) convolutions that keep height and width.
Value wide(Builder& b, const std::string& name, Value x, int64_t channels, int64_t n) {
  return unit(b, name, x, {.out_channels = channels, .kernel = {1, n}, .pad = {0, n / 2}});
}
Value tall(Builder& b, const std::string& name, Value x, int64_t channels, int64_t n) {
  return unit(b, name, x, {.out_channels = channels, .kernel = {n, 1}, .pad = {n / 2, 0}});
}

Value inception_a(Builder& b, const std::string& n, Value x, int64_t pool_channels) {
  const Value one = unit1x1(b, n + ".branch1x1", x, 64);
  Value five = unit1x1(b, n + ".branch5x5_1", x, 48);
  five = unit(b, n + ".branch5x5_2", five, {.out_channels = 64, .kernel = {5, 5}, .pad = {2, 2}});
  Value three = unit1x1(b, n + ".branch3x3dbl_1", x, 64);
  three = unit3x3(b, n + ".branch3x3dbl_2", three, 96);
  three = unit3x3(b, n + ".branch3x3dbl_3", three, 96);
  const Value pool = unit1x1(b, n + ".branch_pool", b.avg_pool(x, kSame), pool_channels);
  return b.concat(std::array{one, five, three, pool}, 1);
}

Value inception_b(Builder& b, const std::string& n, Value x) {
  const Value three = reduce3x3(b, n + ".branch3x3", x, 384);
  Value twice = unit1x1(b, n + ".branch3x3dbl_1", x, 64);
  twice = unit3x3(b, n + ".branch3x3dbl_2", twice, 96);
  twice = reduce3x3(b, n + ".branch3x3dbl_3", twice, 96);
  return b.concat(std::array{three, twice, b.max_pool(x, kHalve)}, 1);
}

Value inception_c(Builder& b, const std::string& n, Value x, int64_t channels) {
  const Value one = unit1x1(b, n + ".branch1x1", x, 192);
  Value seven = unit1x1(b, n + ".branch7x7_1", x, channels);
  seven = wide(b, n + ".branch7x7_2", seven, channels, 7);
  seven = tall(b, n + ".branch7x7_3", seven, 192, 7);
  Value twice = unit1x1(b, n + ".branch7x7dbl_1", x, channels);
  twice = tall(b, n + ".branch7x7dbl_2", twice, channels, 7);
  twice = wide(b, n + ".branch7x7dbl_3", twice, channels, 7);
  twice = tall(b, n + ".branch7x7dbl_4", twice, channels, 7);
  twice = wide(b, n + ".branch7x7dbl_5", twice, 192, 7);
  const Value pool = unit1x1(b, n + ".branch_pool", b.avg_pool(x, kSame), 192);
  return b.concat(std::array{one, seven, twice, pool}, 1);
}

Value inception_d(Builder& b, const std::string& n, Value x) {
  const Value three = reduce3x3(b, n + ".branch3x3_2", unit1x1(b, n + ".branch3x3_1", x, 192), 320);
  Value seven = unit1x1(b, n + ".branch7x7x3_1", x, 192);
  seven = wide(b, n + ".branch7x7x3_2", seven, 192, 7);
  seven = tall(b, n + ".branch7x7x3_3", seven, 192, 7);
  seven = reduce3x3(b, n + ".branch7x7x3_4", seven, 192);
  return b.concat(std::array{three, seven, b.max_pool(x, kHalve)}, 1);
}

// A 1x3 and a 3x1 convolution side by side.
Value cross(Builder& b, const std::string& n, Value x) {
  return b.concat(std::array{wide(b, n + "a", x, 384, 3), tall(b, n + "b", x, 384, 3)}, 1);
}

Value inception_e(Builder& b, const std::string& n, Value x) {
  const Value one = unit1x1(b, n + ".branch1x1", x, 320);
  const Value three = cross(b, n + ".branch3x3_2", unit1x1(b, n + ".branch3x3_1", x, 384));
  Value twice = unit1x1(b, n + ".branch3x3dbl_1", x, 448);
  twice = unit3x3(b, n + ".branch3x3dbl_2", twice, 384);
  twice = cross(b, n + ".branch3x3dbl_3", twice);
  const Value pool = unit1x1(b, n + ".branch_pool", b.avg_pool(x, kSame), 192);
  return b.concat(std::array{one, three, twice, pool}, 1);
}

}  // namespace

graph::Graph make_inception_v3(const ZooOptions& options) {
  refuse_option("layers", options.layers);
  refuse_option("sequence", options.sequence);
  const int64_t image = option_or("image", options.image, 299, 75, 4096);

  Builder b("inception_v3", options);
  Value x = b.input("input", ops::DType::f32, {batch_of(options), 3, image, image});
  x = reduce3x3(b, "Conv2d_1a_3x3", x, 32);
  x = unit(b, "Conv2d_2a_3x3", x, {.out_channels = 32, .kernel = {3, 3}});
  x = unit3x3(b, "Conv2d_2b_3x3", x, 64);
  x = b.max_pool(x, kHalve);
  x = unit1x1(b, "Conv2d_3b_1x1", x, 80);
  x = unit(b, "Conv2d_4a_3x3", x, {.out_channels = 192, .kernel = {3, 3}});
  x = b.max_pool(x, kHalve);
  x = inception_a(b, "Mixed_5b", x, 32);
  x = inception_a(b, "Mixed_5c", x, 64);
  x = inception_a(b, "Mixed_5d", x, 64);
  x = inception_b(b, "Mixed_6a", x);
  x = inception_c(b, "Mixed_6b", x, 128);
  x = inception_c(b, "Mixed_6c", x, 160);
  x = inception_c(b, "Mixed_6d", x, 160);
  x = inception_c(b, "Mixed_6e", x, 192);
  x = inception_d(b, "Mixed_7a", x);
  x = inception_e(b, "Mixed_7b", x);
  x = inception_e(b, "Mixed_7c", x);
  return b.finish("logits", b.linear("fc", b.flatten(b.global_avg_pool(x)), 1000));
}

}  // namespace rlgo::zoo
