#include "core/env/checkpoints.h"

#include <gtest/gtest.h>

#include "core/cost/analytic.h"
#include "core/zoo/zoo.h"
#include "tests/support/shipped_rules.h"

namespace rlgo::env {
namespace {

Checkpoint of_length(size_t length) {
  const auto model = std::make_shared<cost::AnalyticCost>();
  const graph::Graph graph = zoo::make("toy_conv");
  const search::State state{graph,  rules::MatchIndex(rules::shipped_rules(), graph), graph::NameHash(graph), 1, 0,
                            nullptr};
  const search::Walk walk(state, *model, *model, 200, {});
  return {walk.mark(), FeatureBuilder(model), rules::Trace(length), std::vector<double>(length)};
}

TEST(Checkpoints, ThoseGoThatWereNotAskedForTheLongest) {
  const int64_t each = of_length(100).bytes();
  ASSERT_EQ(of_length(200).bytes() - each, 100 * (sizeof(rules::Rewrite) + sizeof(double)));
  Checkpoints kept(3 * each);
  for (uint64_t key = 1; key <= 3; ++key) kept.keep(key, of_length(100));
  ASSERT_NE(kept.find(1), nullptr);
  kept.keep(4, of_length(100));
  EXPECT_EQ(kept.size(), 3u);
  EXPECT_NE(kept.find(1), nullptr);
  EXPECT_EQ(kept.find(2), nullptr);
  EXPECT_NE(kept.find(3), nullptr);
  kept.keep(3, of_length(7));  // is there
  EXPECT_EQ(kept.find(3)->rewrites.size(), 100u);
  kept.keep(5, of_length(100000));  // more than there is room for: the last one stays
  EXPECT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept.find(5)->rewrites.size(), 100000u);
  kept.keep(6, of_length(100));
  EXPECT_EQ(kept.find(5), nullptr);
  EXPECT_NE(kept.find(6), nullptr);
}

}  // namespace
}  // namespace rlgo::env
