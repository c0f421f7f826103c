// Matches and the steps to find them grow like the graph, not like its square.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/rules/rules.h"
#include "core/zoo/growth.h"
#include "tests/support/shipped_rules.h"

namespace rlgo::rules {
namespace {

constexpr const char* kMerge = R"(
rule merge
  before ?a ?b
  ?a = (matmul ?x ?u)
  ?b = (matmul ?x ?v)
  => ?s = (split (matmul ?x (concat ?u ?v axis=1)) axis=1 sizes=[dim(?u, 1), dim(?v, 1)])
     ?a = ?s.0
     ?b = ?s.1
)";
constexpr const char* kJoin = R"(
rule join
  ?y = (concat ?a... (relu ?p) (relu ?q) ?b... axis=?k)
  => ?y = (concat ?a... (relu (concat ?p ?q axis=?k)) ?b... axis=?k)
)";

// `products` of one input, each with a relu, joined.
graph::Graph wide(int products) { return zoo::make_growth("wide", 2 * products); }

int64_t count(const graph::Graph& graph, ops::Op op) {
  return std::ranges::count_if(graph.order(), [&](auto id) { return graph.node(id).op() == op; });
}

// Makes the first match until there is none.
graph::Graph rewritten(const char* text, graph::Graph graph) {
  const auto rules = RuleSet::parse(text, "test");
  MatchIndex index(rules, graph);
  while (index.total() > 0) {
    auto next = apply(*rules, index.matches(0)[0], graph);
    graph = std::move(next.value().graph);
    index.update(graph, next->delta);
  }
  return graph;
}

TEST(Growth, SixtyFourReadersOfOneValueArePairedEachWithEach) {
  EXPECT_EQ(MatchIndex(RuleSet::parse(kMerge, "test"), wide(64)).total(), 64 * 63 / 2);
}

TEST(Growth, MatchesOfOneOperandGrowLikeItsReaders) {
  const auto rules = RuleSet::parse(kMerge, "test");
  EXPECT_LE(MatchIndex(rules, wide(500)).total(), 4 * 500);
  EXPECT_LE(MatchIndex(rules, wide(2000)).total(), 4 * 2000);
}

TEST(Growth, PairsThatAreNearMergeUntilOneIsLeft) {
  for (const int products : {3, 64, 65, 200}) {
    EXPECT_EQ(count(rewritten(kMerge, wide(products)), ops::Op::matmul), 1) << products;
  }
}

TEST(Growth, PlacesInALongListAreFew) {
  EXPECT_EQ(MatchIndex(RuleSet::parse(kJoin, "test"), wide(64)).total(), 63);
  EXPECT_EQ(MatchIndex(RuleSet::parse(kJoin, "test"), wide(3000)).total(), 4);
  EXPECT_EQ(count(rewritten(kJoin, wide(200)), ops::Op::relu), 1);
}

// The tied weights of a recurrent network pair products that stand far apart.
TEST(Growth, MatchesOfAnUnrolledNetworkGrowLikeItsSteps) {
  const int64_t some = MatchIndex(shipped_rules(), zoo::make_growth("unrolled", 1000)).total();
  EXPECT_LE(MatchIndex(shipped_rules(), zoo::make_growth("unrolled", 4000)).total(), 5 * some);
}

TEST(Growth, AnIndexStopsWhileItIsMade) {
  int asked = 0;
  const MatchIndex index(RuleSet::parse(kMerge, "test"), wide(1000), [&] { return ++asked > 10; });
  EXPECT_FALSE(index.complete());
  EXPECT_EQ(asked, 11);
}

}  // namespace
}  // namespace rlgo::rules
