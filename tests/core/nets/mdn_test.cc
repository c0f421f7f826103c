#include "core/nets/mdn.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/base/rng.h"

namespace rlgo::nets {
namespace {

Mixture two(double weight_of_first) {
  // Of N(-1, 0.5^2) and N(2, 0.25^2) in one dimension.
  return {torch::log(torch::tensor({{weight_of_first, 1 - weight_of_first}})), torch::tensor({{-1.0, 2.0}}),
          torch::log(torch::tensor({{0.5, 0.25}}))};
}

TEST(Mdn, DensityByHand) {
  const auto m = two(0.25);
  // N(0; -1, 0.5) = 0.107982, N(0; 2, 0.25) = 2.02e-14.
  EXPECT_NEAR(log_density(m, torch::tensor({0.0})).item<double>(), std::log(0.25 * 0.10798193), 1e-5);
  // N(2; 2, 0.25) = 1.595769
  EXPECT_NEAR(log_density(m, torch::tensor({2.0})).item<double>(), std::log(0.75 * 1.5957691), 1e-5);
}

TEST(Mdn, FarTargetsStayFinite) {
  EXPECT_TRUE(std::isfinite(log_density(two(0.5), torch::tensor({1e6})).item<double>()));
}

TEST(Mdn, GradientsAgreeWithDifferences) {
  torch::manual_seed(1);
  const auto raw = torch::randn({2, 3, 4, 3}, torch::kFloat64).requires_grad_(true);  // [B, Z, K, parts]
  const auto target = torch::randn({2, 3}, torch::kFloat64);
  const auto value = [&](const torch::Tensor& r) {
    return -log_density({r.select(-1, 0), r.select(-1, 1), floored_log_sigma(r.select(-1, 2), 0.01)}, target).mean();
  };
  value(raw).backward();
  const auto gradient = raw.grad().reshape(-1);
  for (int64_t i = 0; i < raw.numel(); i += 7) {
    const double h = 1e-6;
    auto up = raw.detach().clone().reshape(-1), down = up.clone();
    up[i] += h;
    down[i] -= h;
    const double numeric = (value(up.reshape(raw.sizes())) - value(down.reshape(raw.sizes()))).item<double>() / (2 * h);
    EXPECT_NEAR(gradient[i].item<double>(), numeric, 1e-7) << i;
  }
}

TEST(Mdn, SigmaHasAFloor) {
  EXPECT_GE(floored_log_sigma(torch::tensor({-100.0}), 0.01).item<double>(), std::log(0.01) - 1e-5);
  EXPECT_NEAR(floored_log_sigma(torch::tensor({1.0}), 0.01).item<double>(), 1.0, 0.01);
}

struct Drawn {
  double mean = 0, deviation = 0, fraction_below_zero = 0;
};
Drawn draw(const Mixture& m, double temperature, bool scale_noise, int64_t count = 40000) {
  Rng rng({7});
  auto uniforms = torch::empty({count, 1}), normals = torch::empty({count, 1});
  for (int64_t i = 0; i < count; ++i) {
    uniforms.data_ptr<float>()[i] = static_cast<float>(rng.uniform());
    normals.data_ptr<float>()[i] = static_cast<float>(rng.normal());
  }
  const Mixture many{m.logits.expand({count, 1, 2}), m.mean.expand({count, 1, 2}), m.log_sigma.expand({count, 1, 2})};
  const auto x = sample(many, uniforms, normals, temperature, scale_noise);
  return {x.mean().item<double>(), x.std().item<double>(), (x < 0).to(torch::kFloat64).mean().item<double>()};
}

TEST(Mdn, DrawsReproduceAKnownMixture) {
  const auto m = two(0.25);
  const auto drawn = draw(m, 1, true);
  EXPECT_NEAR(drawn.mean, 0.25 * -1 + 0.75 * 2, 0.03);
  // variance = sum w (s^2 + m^2) - mean^2 = .25 (1.25) + .75 (4.0625) - 1.5625
  EXPECT_NEAR(drawn.deviation, std::sqrt(0.3125 + 3.046875 - 1.5625), 0.03);
  EXPECT_NEAR(drawn.fraction_below_zero, 0.25 * 0.97725, 0.01);
}

// Weights go with w^(1/temperature): 0.25 : 0.75 becomes 1 : 9 at 1/2, and 1 : sqrt 3 at 2.
TEST(Mdn, TemperatureDividesTheLogits) {
  EXPECT_NEAR(draw(two(0.25), 0.5, false).fraction_below_zero, 0.1 * 0.97725, 0.01);
  EXPECT_NEAR(draw(two(0.25), 2.0, false).fraction_below_zero, 0.36603 * 0.97725, 0.01);
}

TEST(Mdn, TemperatureScalesTheNoiseOnDemand) {
  EXPECT_NEAR(draw(two(1.0), 4.0, false).deviation, 0.5, 0.02);
  EXPECT_NEAR(draw(two(1.0), 0.25, true).deviation, 0.25, 0.02);
}

TEST(Mdn, TemperatureZeroTakesTheLikeliestMean) {
  EXPECT_EQ(sample(two(0.25), {}, {}, 0, true).item<double>(), 2.0);
  EXPECT_EQ(sample(two(0.75), {}, {}, 0, true).item<double>(), -1.0);
  EXPECT_THROW(sample(two(0.5), {}, {}, -1, true), Error);
}

}  // namespace
}  // namespace rlgo::nets
