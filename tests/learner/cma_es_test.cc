#include "learner/dream/cma_es.h"

#include <gtest/gtest.h>

namespace rlgo::learner {
namespace {

// Of a bowl 100 times steeper in every second direction. Deepest at (1, ..., 1).
double depth(std::span<const float> x) {
  double sum = 0;
  for (size_t d = 0; d < x.size(); ++d) sum -= (d % 2 == 0 ? 1 : 100) * (x[d] - 1) * (x[d] - 1);
  return sum;
}

void generation(SeparableCma& cma, std::vector<float>& mean, uint64_t seed) {
  std::vector<double> worth;
  for (size_t k = 0; k < cma.population(); ++k) worth.push_back(depth(cma.candidate(mean, seed, k)));
  cma.update(mean, seed, worth);
}

TEST(SeparableCma, FindsTheDeepestPointAndGoesOnFromACheckpoint) {
  SeparableCma cma(10, 0.3);
  EXPECT_EQ(cma.population(), 10u);
  std::vector<float> mean(10, 0);
  for (uint64_t seed = 0; seed < 150; ++seed) generation(cma, mean, seed);
  Checkpoint c;
  cma.store(c);
  SeparableCma resumed(10, 0.3), other(11, 0.3);
  resumed.restore(c);
  EXPECT_ANY_THROW(other.restore(c));
  auto again = mean;
  generation(cma, mean, 150);
  generation(resumed, again, 150);
  EXPECT_EQ(mean, again);
  for (uint64_t seed = 151; seed < 400; ++seed) generation(cma, mean, seed);
  EXPECT_GT(depth(mean), -1e-6);
  EXPECT_LT(cma.sigma(), 0.01);
}

}  // namespace
}  // namespace rlgo::learner
