#include "core/cost/tree_fit.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/base/rng.h"
#include "core/base/text.h"
#include "core/cost/boosted_trees.h"

namespace rlgo::cost {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// y = a step in x, plus 1 where the flag is set; "noise" explains nothing.
std::vector<TreeExample> steps(size_t count, uint64_t seed) {
  Rng rng({seed});
  std::vector<TreeExample> out;
  for (size_t i = 0; i < count; ++i) {
    const double x = rng.uniform(), noise = rng.normal();
    const bool flag = rng.below(2) == 0;
    out.push_back({{{"noise", noise}, {"x", x}}, (x > 0.4 ? 2.0 : 0.0) + (flag ? 1.0 : 0.0)});
    if (flag) out.back().features.emplace_back("flag", 1);
  }
  return out;
}

BoostedTrees read(const FittedTrees& fitted) {
  return {"features " + join(fitted.features, " ") + "\n" + join(fitted.lines, "\n") + "\n", "fitted"};
}

double mean_error(const BoostedTrees& trees, const std::vector<TreeExample>& examples) {
  double sum = 0;
  for (const auto& one : examples) sum += std::abs(trees(one.features) - one.target);
  return sum / static_cast<double>(examples.size());
}

TEST(FitTrees, FindStepsAndFlagsInExamplesThatTheyDidNotSee) {
  const auto fitted = fit_trees(steps(300, 1));
  EXPECT_EQ(fitted.lines.size(), 201);
  EXPECT_THAT(fitted.lines.front(), StartsWith("tree ="));
  EXPECT_LT(mean_error(read(fitted), steps(200, 2)), 0.1) << "a constant leaves about 0.9";
}

TEST(FitTrees, SplitHalfwayBetweenNeighboursAndKeepLeavesOfSomeSize) {
  std::vector<TreeExample> examples;
  for (int k = 0; k < 8; ++k) examples.push_back({{{"x", k < 4 ? 1.0 : 3.0}}, k < 4 ? -1.0 : 1.0});
  TreeFitOptions options{
      .trees = 1, .leaves = 7, .least = 4, .rate = 1, .huber = 0, .ridge = 0, .rows = 1, .columns = 1};
  const auto fitted = fit_trees(examples, options, {"first"});
  EXPECT_THAT(fitted.features, ElementsAre("first", "x"));
  EXPECT_THAT(fitted.lines, ElementsAre("tree =0", "tree 1 2 =-1 =1"));
  options.huber = 0.25;
  EXPECT_EQ(fit_trees(examples, options, {"first"}).lines.at(1), "tree 1 2 =-0.25 =0.25");
  examples[3].features[0].second = 3;  // 3 and 5 examples
  EXPECT_EQ(fit_trees(examples, options).lines.at(1), "tree =0");
}

TEST(FitTrees, AreTheSameForTheSameSeed) {
  const auto examples = steps(120, 3);
  EXPECT_EQ(fit_trees(examples).lines, fit_trees(examples).lines);
  EXPECT_NE(fit_trees(examples).lines, fit_trees(examples, {.seed = 1}).lines);
}

TEST(FitTrees, WithoutAnyFeatureAreTheMedian) {
  std::vector<TreeExample> examples(11);
  for (size_t k = 0; k < examples.size(); ++k) examples[k].target = static_cast<double>(k * k);
  EXPECT_THAT(fit_trees(examples).lines, ElementsAre("tree =25"));
}

TEST(FitTrees, RefuseWhatTheyCannotLearnFrom) {
  const auto reason = [](const std::vector<TreeExample>& examples) -> std::string {
    try {
      fit_trees(examples);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_THAT(reason(steps(9, 1)), HasSubstr("9 examples are too few to fit trees to: 10 at least"));
  auto wrong = steps(20, 1);
  wrong[7].target = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(reason(wrong), HasSubstr("a target that is not a number"));
  wrong = steps(20, 1);
  wrong[7].features[1].second = std::numeric_limits<double>::infinity();
  EXPECT_THAT(reason(wrong), HasSubstr("feature 'x' is not a number"));
}

}  // namespace
}  // namespace rlgo::cost
