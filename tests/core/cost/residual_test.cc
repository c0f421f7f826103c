// Residuals that were planted are found again, and what is uncertain is reported as such.
#include "core/cost/residual.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/error.h"
#include "core/base/rng.h"

namespace rlgo::cost {
namespace {

// value = 0.4 a - 0.2 b + noise; c states nothing.
std::vector<ResidualExample> planted(size_t count, double noise = 0.001) {
  Rng rng({7});
  std::vector<ResidualExample> out;
  for (size_t k = 0; k < count; ++k) {
    Features x = {{"a", rng.normal() * 0.1}, {"b", rng.normal() * 0.1}, {"c", rng.normal() * 0.1}};
    const double value = 0.4 * x["a"] - 0.2 * x["b"] + noise * rng.normal();
    out.push_back({std::move(x), value});
  }
  return out;
}

TEST(Residual, FindsPlantedWeights) {
  const auto weights = Residual(planted(40)).mean();
  EXPECT_NEAR(weights("a"), 0.4, 0.02);
  EXPECT_NEAR(weights("b"), -0.2, 0.02);
  EXPECT_NEAR(weights("c"), 0.0, 0.02);
  EXPECT_EQ(weights("never seen"), 0.0);
}

TEST(Residual, PredictsByTheWeightsThatItReports) {
  const Residual residual(planted(40));
  const auto weights = residual.mean();
  const double expected = 0.3 * weights("a") + 0.1 * weights("b");
  EXPECT_NEAR(residual.predict({{"a", 0.3}, {"b", 0.1}}).mean, expected, 1e-9);
}

TEST(Residual, WithoutExamplesEverythingIsUncertainButNothingAtAll) {
  const Residual residual;
  EXPECT_EQ(residual.predict({{"a", 1}}).mean, 0);
  EXPECT_GT(residual.predict({{"a", 1}}).deviation, 0.1);
  EXPECT_EQ(residual.predict({}).deviation, 0);
}

TEST(Residual, UncertaintyShrinksWithExamplesWhereTheyAre) {
  const Features seen = {{"a", 0.1}}, unseen = {{"d", 0.1}};
  const Residual few(planted(3)), many(planted(40));
  EXPECT_LT(few.predict(seen).deviation, Residual().predict(seen).deviation);
  EXPECT_LT(many.predict(seen).deviation, 0.5 * few.predict(seen).deviation);
  EXPECT_GT(many.predict(unseen).deviation, 10 * many.predict(seen).deviation);
}

TEST(Residual, OwnFeaturesHoldForWhatTheyNameAlone) {
  const std::vector<ResidualExample> examples = {{{{"#0a", 0.2}}, 0.1}, {{{"#0b", 0.2}}, 0.0}};
  const Residual residual(examples);
  EXPECT_GT(residual.predict({{"#0a", 0.2}}).mean, 0.05);
  EXPECT_EQ(residual.predict({{"#0c", 0.2}}).mean, 0);
}

TEST(Residual, DrawsSpreadAsItsUncertaintyStates) {
  const Residual residual(planted(5, 0.02));
  const Features x = {{"a", 0.2}, {"d", 0.1}};
  double sum = 0, squares = 0;
  constexpr int kDraws = 4000;
  for (uint64_t seed = 0; seed < kDraws; ++seed) {
    const auto weights = residual.draw(seed);
    const double value = 0.2 * weights("a") + 0.1 * weights("d");
    sum += value, squares += value * value;
  }
  const auto expected = residual.predict(x);
  EXPECT_NEAR(sum / kDraws, expected.mean, 0.1 * expected.deviation);
  EXPECT_NEAR(std::sqrt(squares / kDraws - std::pow(sum / kDraws, 2)), expected.deviation, 0.1 * expected.deviation);
}

TEST(Residual, DrawsAreEqualForEqualSeeds) {
  const Residual residual(planted(5));
  EXPECT_EQ(residual.draw(3)("d"), residual.draw(3)("d"));
  EXPECT_NE(residual.draw(3)("d"), residual.draw(4)("d"));
}

// Of one left-out example the error is what a fit to the others with the same deviations makes.
TEST(Residual, LeftOutErrorIsNearTheNoise) {
  std::vector<size_t> all(40);
  std::iota(all.begin(), all.end(), 0);
  const Residual residual(planted(40, 0.01));
  EXPECT_GT(residual.left_out_error(all), 0.005);
  EXPECT_LT(residual.left_out_error(all), 0.02);
  EXPECT_EQ(residual.left_out_error({}), 0);
}

TEST(Residual, NumbersMustBeFinite) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<ResidualExample> feature = {{{{"a", nan}}, 1}}, value = {{{{"a", 1}}, nan}};
  EXPECT_THROW(Residual{feature}, Error);
  EXPECT_THROW(Residual{value}, Error);
}

}  // namespace
}  // namespace rlgo::cost
