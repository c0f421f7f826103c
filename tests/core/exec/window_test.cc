// conv2d and pooling against plain loops, over odd pads, strides, dilations, groups and ceil_mode.
#include <cmath>
#include <limits>

#include "tests/core/exec/calls.h"

namespace rlgo::exec {
namespace {

struct Windows {
  Ints kernel, strides{1, 1}, pads{0, 0, 0, 0}, dilations{1, 1};
  int64_t y(int64_t o, int64_t k) const { return o * strides[0] - pads[0] + k * dilations[0]; }
  int64_t x(int64_t o, int64_t k) const { return o * strides[1] - pads[1] + k * dilations[1]; }
};

double at_or(const at::Tensor& t, int64_t n, int64_t c, int64_t y, int64_t x, double outside) {
  if (y < 0 || x < 0 || y >= t.size(2) || x >= t.size(3)) return outside;
  return t[n][c][y][x].item<double>();
}

at::Tensor naive_conv(const at::Tensor& x, const at::Tensor& w, const at::Tensor& bias, const Windows& win,
                      int64_t group, const std::vector<int64_t>& out_shape) {
  at::Tensor out = at::zeros(out_shape, at::kDouble);
  const int64_t per_group = w.size(0) / group;
  for (int64_t n = 0; n < out.size(0); ++n)
    for (int64_t o = 0; o < out.size(1); ++o)
      for (int64_t i = 0; i < out.size(2); ++i)
        for (int64_t j = 0; j < out.size(3); ++j) {
          double sum = bias.defined() ? bias[o].item<double>() : 0.0;
          for (int64_t c = 0; c < w.size(1); ++c)
            for (int64_t a = 0; a < w.size(2); ++a)
              for (int64_t b = 0; b < w.size(3); ++b)
                sum += w[o][c][a][b].item<double>() *
                       at_or(x, n, o / per_group * w.size(1) + c, win.y(i, a), win.x(j, b), 0.0);
          out[n][o][i][j] = sum;
        }
  return out;
}

Attrs attrs_of(const Windows& win) {
  return {{Attr::strides, win.strides}, {Attr::pads, win.pads}, {Attr::dilations, win.dilations}};
}

TEST(ConvKernel, AgainstLoops) {
  const std::vector<Windows> cases{{{3, 3}, {1, 1}, {1, 1, 1, 1}},
                                   {{3, 2}, {2, 1}, {0, 1, 2, 0}},
                                   {{1, 1}},
                                   {{2, 3}, {1, 2}, {1, 0, 1, 2}, {2, 1}},
                                   {{3, 3}, {1, 1}, {4, 4, 4, 4}}};
  at::manual_seed(1);
  for (const auto& win : cases) {
    for (int64_t group : {1, 2}) {
      const auto x = at::randn({2, 4, 5, 6}), w = at::randn({6, 4 / group, win.kernel[0], win.kernel[1]}),
                 bias = at::randn({6});
      auto attrs = attrs_of(win);
      attrs.set(Attr::group, group);
      const auto out = call(Op::conv2d, {x, w, bias}, attrs);
      const auto expected = naive_conv(x, w, bias, win, group, out.sizes().vec());
      expect_near(out, expected, 1e-4);
      attrs.set(Attr::act, std::string("relu"));
      expect_near(call(Op::conv2d, {x, w, bias}, attrs), expected.clamp_min(0), 1e-4);
      attrs.set(Attr::act, std::string("none"));
      expect_near(call(Op::conv2d, {x, w}, attrs), expected - bias.reshape({1, 6, 1, 1}), 1e-4);
    }
  }
}

TEST(ConvKernel, ByHand) {
  const auto x = numbers({1, 2, 3, 4}, {1, 1, 2, 2}), w = numbers({1, 10}, {1, 1, 1, 2});
  expect_values(call(Op::conv2d, {x, w}), {21, 43});
  expect_values(call(Op::conv2d, {x, w}, {{Attr::pads, Ints{0, 0, 0, 1}}}), {21, 2, 43, 4});
}

TEST(ConvKernel, NoChannelsGiveTheBias) {
  const auto out = call(Op::conv2d, {at::zeros({1, 0, 2, 2}), at::zeros({2, 0, 1, 1}), numbers({-1, 3}, {2})},
                        {{Attr::act, std::string("relu")}});
  expect_values(out, {0, 0, 0, 0, 3, 3, 3, 3});
}

// ONNX MaxPool and AveragePool by their definition.
at::Tensor naive_pool(const at::Tensor& x, const Windows& win, bool mean, bool count_pad,
                      const std::vector<int64_t>& out_shape) {
  at::Tensor out = at::zeros(out_shape, at::kDouble);
  for (int64_t c = 0; c < out.size(1); ++c)
    for (int64_t i = 0; i < out.size(2); ++i)
      for (int64_t j = 0; j < out.size(3); ++j) {
        double sum = 0, largest = -std::numeric_limits<double>::infinity(), count = 0;
        for (int64_t a = 0; a < win.kernel[0]; ++a)
          for (int64_t b = 0; b < win.kernel[1]; ++b) {
            const int64_t y = win.y(i, a), z = win.x(j, b);
            const bool inside = y >= 0 && z >= 0 && y < x.size(2) && z < x.size(3);
            const bool in_padding = y < x.size(2) + win.pads[2] && z < x.size(3) + win.pads[3];
            if (inside) largest = std::max(largest, x[0][c][y][z].item<double>());
            sum += at_or(x, 0, c, y, z, 0.0);
            count += inside || (count_pad && in_padding);
          }
        out[0][c][i][j] = mean ? sum / count : largest;
      }
  return out;
}

TEST(PoolKernel, AgainstLoops) {
  const std::vector<Windows> cases{{{2, 2}, {2, 2}},
                                   {{3, 3}, {2, 2}, {1, 1, 1, 1}},
                                   {{3, 3}, {2, 2}, {0, 0, 1, 1}},
                                   {{3, 2}, {1, 3}, {2, 1, 0, 1}},
                                   {{3, 3}, {3, 2}, {2, 2, 2, 2}},
                                   {{1, 1}, {2, 2}},
                                   {{4, 2}, {3, 1}, {1, 0, 2, 1}}};
  at::manual_seed(2);
  for (const auto& win : cases) {
    for (int64_t round_up : {0, 1}) {
      const auto x = at::randn({1, 2, 6, 7});
      Attrs attrs{{Attr::kernel, win.kernel},
                  {Attr::strides, win.strides},
                  {Attr::pads, win.pads},
                  {Attr::ceil_mode, round_up}};
      const auto largest = call(Op::max_pool, {x}, attrs);
      expect_near(largest, naive_pool(x, win, false, false, largest.sizes().vec()));
      for (int64_t count_pad : {0, 1}) {
        attrs.set(Attr::count_include_pad, count_pad);
        const auto mean = call(Op::avg_pool, {x}, attrs);
        expect_near(mean, naive_pool(x, win, true, count_pad == 1, mean.sizes().vec()), 1e-5);
      }
    }
  }
}

TEST(PoolKernel, DilatedMax) {
  const Windows win{{2, 2}, {1, 2}, {1, 0, 0, 1}, {3, 2}};
  const auto x = at::randn({1, 2, 6, 7});
  const auto out = call(Op::max_pool, {x},
                        {{Attr::kernel, win.kernel},
                         {Attr::strides, win.strides},
                         {Attr::pads, win.pads},
                         {Attr::dilations, win.dilations}});
  expect_near(out, naive_pool(x, win, false, false, out.sizes().vec()));
}

TEST(PoolKernel, ByHand) {
  const auto x = numbers({1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 1, 3, 3});
  const Attrs base{{Attr::kernel, Ints{2, 2}}, {Attr::strides, Ints{2, 2}}, {Attr::ceil_mode, int64_t{1}}};
  expect_values(call(Op::max_pool, {x}, base), {5, 6, 8, 9});
  expect_values(call(Op::avg_pool, {x}, base), {3, 4.5, 7.5, 9});
  expect_values(call(Op::global_avg_pool, {x}), {5});
}

}  // namespace
}  // namespace rlgo::exec
