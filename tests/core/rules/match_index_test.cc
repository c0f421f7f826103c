#include <gtest/gtest.h>

#include "core/base/rng.h"
#include "core/graph/text.h"
#include "core/rules/rules.h"

namespace rlgo::rules {
namespace {

using graph::Graph;

// Conditions on readers, several roots with cycles, sequences, splits: all that updates must get right.
constexpr const char* kRules = R"(
rule merge
  before ?a ?b
  ?a = (matmul ?x ?u)
  ?b = (matmul ?x ?v)
  when rank(?u) == 2 and rank(?v) == 2
  => ?s = (split (matmul ?x (concat ?u ?v axis=1)) axis=1 sizes=[dim(?u, 1), dim(?v, 1)])
     ?a = ?s.0
     ?b = ?s.1
rule unmerge
  ?s = (split (matmul ?x ?w) axis=1 sizes=?n)
  => ?u = (split ?w axis=1 sizes=?n)
     ?s... = (matmul ?x ?u)...
rule fuse
  ?m = (matmul ?x ?w)
  ?y = (relu ?m)
  when uses(?m) == 1
  => ?y = (matmul ?x ?w act=relu)
rule unfuse
  ?y = (matmul ?x ?w act=relu)
  => ?y = (relu (matmul ?x ?w))
rule relus
  ?y = (relu (relu ?x))
  => ?y = (relu ?x)
rule factor
  ?y = (add (matmul ?x ?u) (matmul ?x ?v))
  => ?y = (matmul ?x (add ?u ?v))
rule distribute
  ?y = (matmul ?x (add ?u ?v))
  => ?y = (add (matmul ?x ?u) (matmul ?x ?v))
rule associate
  ?y = (matmul (matmul ?x ?u) ?v)
  => ?y = (matmul ?x (matmul ?u ?v))
rule associate-back
  ?y = (matmul ?x (matmul ?u ?v))
  => ?y = (matmul (matmul ?x ?u) ?v)
rule out
  ?y = (relu (concat ?xs... axis=?k))
  => ?y = (concat (relu ?xs)... axis=?k)
rule in
  ?y = (concat ?a... (relu ?p) (relu ?q) ?b... axis=?k)
  => ?y = (concat ?a... (relu (concat ?p ?q axis=?k)) ?b... axis=?k)
)";

Graph start() {
  return graph::from_text(R"(graph "g"
%0 = input "x" : f32[3,3]
%1 = input "z" : f32[3,3]
%2 = weight "u" hash=0000000000000001 : f32[3,3]
%3 = weight "v" hash=0000000000000002 : f32[3,3]
%4 = matmul(%0, %2)
%5 = matmul(%0, %3)
%6 = relu(%4)
%7 = relu(%5)
%8 = matmul(%0, %6)
%9 = add(%8, %5)
%10 = matmul(%9, %1)
%11 = matmul(%9, %7)
%12 = relu(%10)
%13 = concat(%12, %6, %7, %11) axis=1
%14 = relu(%13)
output "y" = %14
output "z0" = %8
)");
}

void expect_scratch(const MatchIndex& index, const RuleSet& rules, const Graph& graph) {
  int64_t total = 0;
  for (int r = 0; r < rules.size(); ++r) {
    const auto scratch = find_matches(rules, r, graph);
    const auto kept = index.matches(r);
    ASSERT_TRUE(std::equal(kept.begin(), kept.end(), scratch.begin(), scratch.end()))
        << rules.name(r) << ": " << kept.size() << " against " << scratch.size();
    total += static_cast<int64_t>(scratch.size());
  }
  ASSERT_EQ(index.total(), total);
}

TEST(MatchIndex, EqualsSearchFromScratchAfterEveryRewrite) {
  const auto rules = RuleSet::parse(kRules, "f");
  int rewrites = 0;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    Rng rng({seed});
    Graph graph = start();
    MatchIndex index(rules, graph);
    for (int step = 0; step < 40 && index.total() > 0; ++step) {
      auto pick = static_cast<int64_t>(rng.below(static_cast<uint64_t>(index.total())));
      int rule = 0;
      while (pick >= static_cast<int64_t>(index.matches(rule).size()))
        pick -= static_cast<int64_t>(index.matches(rule++).size());
      auto rewrite = apply(*rules, Match(index.matches(rule)[static_cast<size_t>(pick)]), graph);
      ASSERT_TRUE(rewrite.has_value()) << rules->name(rule);
      rewrite->graph.validate();
      ASSERT_NE(rewrite->graph.hash(), graph.hash()) << rules->name(rule);
      graph = std::move(rewrite->graph);
      index.update(graph, rewrite->delta);
      expect_scratch(index, *rules, graph);
      if (testing::Test::HasFatalFailure())
        FAIL() << "seed " << seed << " step " << step << " after " << rules->name(rule) << "\n"
               << graph::to_text(graph);
      ++rewrites;
    }
  }
  EXPECT_GT(rewrites, 300);
}

TEST(MatchIndex, AFarEditThatCutsAPathFreesAMerge) {
  // matmul(x, v) reads relu(matmul(x, u) * 1): merging both would be a cycle until the product is replaced by z.
  const auto rules = RuleSet::parse(std::string(kRules) +
                                        "rule cut ?y = (sub ?x ?x) => ?y = (mul ?x 0)\nrule zero ?y = (mul ?x 0) => ?y "
                                        "= (fill shape=shape(?x) value=0.0)\n",
                                    "f");
  Graph graph = graph::from_text(R"(graph "g"
%0 = input "x" : f32[3,3]
%1 = input "z" : f32[3,3]
%2 = matmul(%0, %1)
%3 = exp(%2)
%4 = sub(%3, %3)
%5 = neg(%4)
%6 = exp(%5)
%7 = matmul(%0, %6)
%8 = concat(%2, %7) axis=1
output "y" = %8
)");
  MatchIndex index(rules, graph);
  EXPECT_EQ(index.matches(0).size(), 0u);
  for (const char* name : {"cut", "zero"}) {
    const auto names = rules->names();
    const int rule = static_cast<int>(std::find(names.begin(), names.end(), name) - names.begin());
    ASSERT_EQ(index.matches(rule).size(), 1u);
    auto rewrite = apply(*rules, Match(index.matches(rule)[0]), graph);
    ASSERT_TRUE(rewrite.has_value());
    graph = std::move(rewrite->graph);
    index.update(graph, rewrite->delta);
    expect_scratch(index, *rules, graph);
  }
  EXPECT_EQ(index.matches(0).size(), 1u);
}

TEST(MatchIndex, CopiesAreIndependent) {
  const auto rules = RuleSet::parse(kRules, "f");
  const Graph graph = start();
  MatchIndex index(rules, graph);
  const MatchIndex copy = index;
  const auto rewrite = apply(*rules, Match(index.matches(0)[0]), graph);
  index.update(rewrite->graph, rewrite->delta);
  expect_scratch(copy, *rules, graph);
  expect_scratch(index, *rules, rewrite->graph);
}

}  // namespace
}  // namespace rlgo::rules
