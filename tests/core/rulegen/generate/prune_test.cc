// Pruning of candidates, the two trivial ones that TASO prunes (Jia et al. 2019) included; symbolic extents.
#include "core/rulegen/generate/prune.h"

#include <gtest/gtest.h>

#include "core/rulegen/generate/candidate_dims.h"

namespace rlgo::rulegen {
namespace {

const Family& family() {
  static const Family kFamily = make_family("2d");
  return kFamily;
}
constexpr uint8_t kX = 0, kY = 1, kZ = 2, kW = 3, kT = 6;  // kT: the first step's output

uint8_t config(const std::string& label) {
  for (size_t c = 0; c < family().configs.size(); ++c) {
    if (family().configs[c].label == label) return static_cast<uint8_t>(c);
  }
  ADD_FAILURE() << label;
  return 0;
}
OpStep step(const std::string& label, uint8_t a, uint8_t b = 0) { return {config(label), {a, b, 0}}; }

Fate fate(Sketch source, Sketch target) {
  SketchEvaluator evaluator(family());
  return judge(family(), evaluator, {std::move(source), std::move(target)});
}

// Figure 3.2 (a): A x B on both sides, once with inputs named C and D.
TEST(Prune, RenamedInputs) {
  EXPECT_EQ(fate({{step("matmul", kX, kY)}, {kT}}, {{step("matmul", kZ, kW)}, {kT}}), Fate::renaming);
  EXPECT_EQ(fate({{step("matmul", kX, kY)}, {kT}}, {{step("matmul", kY, kX)}, {kT}}), Fate::renaming);
}

// Figure 3.2 (b): A x (B x C) = (A x B) x C inside of a larger product, or with a part that both sides compute.
TEST(Prune, CommonSubgraph) {
  const Sketch left{{step("matmul", kY, kZ), step("matmul", kX, kT), step("relu", kT + 1)}, {kT + 2}};
  const Sketch right{{step("matmul", kX, kY), step("matmul", kT, kZ), step("relu", kT + 1)}, {kT + 2}};
  EXPECT_EQ(fate(left, right), Fate::common);
  const Sketch under_left{{step("relu", kX), step("matmul", kY, kZ), step("matmul", kT, kT + 1)}, {kT + 2}};
  const Sketch under_right{{step("relu", kX), step("matmul", kT, kY), step("matmul", kT + 1, kZ)}, {kT + 2}};
  EXPECT_EQ(fate(under_left, under_right), Fate::common);
}

TEST(Prune, AssociativityIsKept) {
  EXPECT_EQ(fate({{step("matmul", kY, kZ), step("matmul", kX, kT)}, {kT + 1}},
                 {{step("matmul", kX, kY), step("matmul", kT, kZ)}, {kT + 1}}),
            Fate::kept);
  EXPECT_EQ(fate({{step("add", kY, kZ), step("add", kX, kT)}, {kT + 1}},
                 {{step("add", kX, kY), step("add", kZ, kT)}, {kT + 1}}),
            Fate::kept);
}

TEST(Prune, OrderOfLargerSums) {
  EXPECT_EQ(fate({{step("add", kY, kZ), step("add", kX, kT), step("add", kW, kT + 1)}, {kT + 2}},
                 {{step("add", kX, kY), step("add", kZ, kW), step("add", kT, kT + 1)}, {kT + 2}}),
            Fate::reordered);
}

TEST(Prune, IndependentOutputs) {
  const Sketch left{{step("transpose10", kX), step("transpose10", kT), step("relu", kX), step("relu", kT + 2)},
                    {kT + 1, kT + 3}};
  const Sketch right{{step("relu", kX)}, {kX, kT}};
  EXPECT_EQ(fate(left, right), Fate::independent);
}

TEST(Prune, FalsePairsAreRefused) {
  EXPECT_EQ(fate({{step("matmul", kX, kY), step("relu", kT)}, {kT + 1}},
                 {{step("relu", kX), step("matmul", kT, kY)}, {kT + 1}}),
            Fate::values);
}

TEST(Prune, InstancesAndDerivablePairs) {
  KeptRules rules(family());
  const Candidate twice{{{step("transpose10", kX), step("transpose10", kT)}, {kT + 1}}, {{}, {kX}}};
  EXPECT_EQ(rules.judge(twice, true, nullptr), Fate::kept);
  rules.add(twice);
  const Candidate of_relu{{{step("relu", kX), step("transpose10", kT), step("transpose10", kT + 1)}, {kT + 2}},
                          {{step("relu", kX)}, {kT}}};
  EXPECT_EQ(rules.judge(of_relu, true, nullptr), Fate::instance);
  // add of transposes, moved out: then (x^T + y^T)^T = x + y takes two applications.
  rules.add({{{step("transpose10", kX), step("transpose10", kY), step("add", kT, kT + 1)}, {kT + 2}},
             {{step("add", kX, kY), step("transpose10", kT)}, {kT + 1}}});
  const Candidate both{
      {{step("transpose10", kX), step("transpose10", kY), step("add", kT, kT + 1), step("transpose10", kT + 2)},
       {kT + 3}},
      {{step("add", kX, kY)}, {kT}}};
  std::vector<int> by;
  EXPECT_EQ(rules.judge(both, true, &by), Fate::derivable);
  EXPECT_EQ(rules.judge(both, false, nullptr), Fate::kept);
}

TEST(Segments, SumsOfPartsAreNotEnough) {
  // cat_1(x, y) cat_0(z, w): x's columns are as many as z's rows.
  const Candidate pair{{{step("concat1", kX, kY), step("concat0", kZ, kW), step("matmul", kT, kT + 1)}, {kT + 2}},
                       {{step("matmul", kX, kZ), step("matmul", kY, kW), step("add", kT, kT + 1)}, {kT + 2}}};
  const auto symbols = symbolic_pair(family(), pair);
  ASSERT_TRUE(symbols.has_value());
  const auto& s = symbols->segments;
  EXPECT_EQ(s.leaves(symbols->source[kX][1]), s.leaves(symbols->source[kZ][0]));
  EXPECT_NE(s.leaves(symbols->source[kX][1]), s.leaves(symbols->source[kW][0]));
  EXPECT_TRUE(equal_elsewhere(family(), pair, *symbols, 4));
}

TEST(Segments, CutsFollowThrough) {
  Segments s;
  const int a = s.free(6), b = s.free(6);
  ASSERT_TRUE(s.unify(a, b));
  int first = -1, second = -1;
  ASSERT_TRUE(s.cut(a, 2, &first, &second));
  EXPECT_EQ(s.leaves(b), (std::vector<int>{first, second}));
  EXPECT_FALSE(s.cut(s.fixed(3), 1, &first, &second));
  EXPECT_FALSE(s.unify(s.fixed(1), s.free(3)));
}

}  // namespace
}  // namespace rlgo::rulegen
