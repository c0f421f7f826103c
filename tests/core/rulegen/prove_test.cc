// Rules that hold are proved; rules that do not, never.
#include "core/rulegen/prove.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/rules/parser.h"

namespace rlgo::rulegen {
namespace {

const AxiomSet& axioms() {
  static const auto set = AxiomSet::load("configs/rules/axioms.rules");
  return *set;
}

ProveOptions quick() {
  ProveOptions options;
  options.check = false;  // the derivation alone: what it says must be right without the last gate
  return options;
}

Proof derive(const std::string& body, const ProveOptions& options = quick()) {
  const auto rules = rules::parse_rules("rule test\n" + body, "test.rules");
  return prove(rules.at(0), axioms(), options);
}

struct Pair {
  const char* name;
  const char* body;
};
void PrintTo(const Pair& pair, std::ostream* out) { *out << pair.name; }
std::string pair_name(const testing::TestParamInfo<Pair>& info) { return info.param.name; }

class Holds : public testing::TestWithParam<Pair> {};
TEST_P(Holds, IsDerived) {
  const Proof proof = derive(GetParam().body);
  EXPECT_TRUE(proof.derived()) << proof.reason;
  EXPECT_EQ(proof.reason, "derived, not checked");
}
INSTANTIATE_TEST_SUITE_P(
    Pairs, Holds,
    testing::Values(Pair{"matmul_associate", "?y = (matmul (matmul ?x ?u) ?v) => ?y = (matmul ?x (matmul ?u ?v))"},
                    Pair{"conv_merge",
                         "?y = (concat (conv2d ?x ?u group=1 ..?A) (conv2d ?x ?v group=1 ..?A) axis=1)"
                         " => ?y = (conv2d ?x (concat ?u ?v axis=0) group=1 ..?A)"},
                    Pair{"conv_groups",
                         "?y = (concat (conv2d ?x ?u) (conv2d ?z ?v) axis=1)"
                         " when shape(?u) == shape(?v)"
                         " => ?y = (conv2d (concat ?x ?z axis=1) (concat ?u ?v axis=0) group=2)"},
                    Pair{"enlarge_at_any_stride",
                         "?y = (conv2d ?x ?w strides=?s pads=[1, 1, 1, 1])"
                         " => ?y = (conv2d ?x (pad ?w pads=[0, 0, 1, 1, 0, 0, 1, 1]) strides=?s pads=[2, 2, 2, 2])"},
                    Pair{"three_products",
                         "?y = (concat (matmul ?x ?u) (matmul ?x ?v) (matmul ?x ?w) axis=?k)"
                         " when ?k == rank(?x) - 1 and rank(?u) == 2"
                         " => ?y = (matmul ?x (concat ?u ?v ?w axis=1))"},
                    Pair{"inner_products",
                         "?y = (matmul (concat ?x ?z axis=1) (concat ?u ?v axis=0))"
                         " when rank(?x) == 2 and dim(?x, 1) == dim(?u, 0)"
                         " => ?y = (add (matmul ?x ?u) (matmul ?z ?v))"},
                    Pair{"square_of_sum",
                         "?y = (mul (add ?x ?z) (add ?x ?z))"
                         " => ?y = (add (add (mul ?x ?x) (mul ?x ?z)) (add (mul ?z ?x) (mul ?z ?z)))"},
                    Pair{"scalars_fold", "?y = (mul (mul ?x 2) 3) => ?y = (mul ?x 6)"},
                    Pair{"transposes", "?y = (transpose (transpose ?x perm=[1, 0]) perm=[1, 0]) => ?y = ?x"}),
    pair_name);

class Fails : public testing::TestWithParam<Pair> {};
TEST_P(Fails, IsNotDerived) {
  const Proof proof = derive(GetParam().body);
  EXPECT_GT(proof.cases, 0) << proof.reason;
  EXPECT_FALSE(proof.derived()) << "with " << testing::PrintToString(proof.axioms);
}
INSTANTIATE_TEST_SUITE_P(
    Pairs, Fails,
    testing::Values(Pair{"matmul_commute", "?y = (matmul ?x ?u) => ?y = (matmul ?u ?x)"},
                    Pair{"inner_pieces_unknown",
                         "?y = (matmul (concat ?x ?z axis=1) (concat ?u ?v axis=0))"
                         " => ?y = (add (matmul ?x ?u) (matmul ?z ?v))"},
                    Pair{"avg_pool_of_conv_3x3",
                         "?y = (conv2d (avg_pool ?x ..?P) ?w pads=[1, 1, 1, 1]) when dim(?w, 2) == 3"
                         " => ?y = (avg_pool (conv2d ?x ?w pads=[1, 1, 1, 1]) ..?P)"},
                    Pair{"pads_not_enlarged",
                         "?y = (conv2d ?x (pad ?w pads=[0, 0, 1, 1, 0, 0, 0, 0]) pads=[1, 1, 1, 1])"
                         " => ?y = (conv2d ?x ?w pads=[1, 1, 0, 0])"},
                    Pair{"relu_of_sum", "?y = (relu (add ?x ?z)) => ?y = (add (relu ?x) (relu ?z))"},
                    Pair{"split_swapped",
                         "?s = (split ?x axis=0 sizes=[?m, ?m])"
                         " ?y = (concat ?s.1 ?s.0 axis=0) => ?y = ?x"},
                    Pair{"incons",
                         "?y = (add ?x (concat ?z ?v axis=0)) when shape(?z) == shape(?v)"
                         " => ?y = (add ?x (concat ?v ?z axis=0))"},
                    Pair{"padded_shift",
                         "?m = (add ?x ?s) ?y = (conv2d ?m ?w pads=[1, 1, 1, 1])"
                         " when rank(?s) == 0"
                         " => ?t = (reduce_sum (mul ?w ?s) axes=[1, 2, 3] keepdims=0)"
                         "    ?y = (conv2d ?x ?w ?t pads=[1, 1, 1, 1])"}),
    pair_name);

TEST(Prove, NamesTheAxioms) {
  const Proof proof = derive("?y = (relu (relu (relu ?x))) => ?y = (relu ?x)");
  EXPECT_EQ(proof.axioms, std::vector<std::string>{"relu-relu"});
}

TEST(Prove, LastGateIsPartOfAProof) {
  ProveOptions options;
  const auto proof = derive("?y = (relu (relu ?x)) => ?y = (relu ?x)", options);
  EXPECT_EQ(proof.verdict, Proof::Verdict::proved) << proof.reason;
  EXPECT_EQ(proof.cases, 5);  // ranks 0 to 4
}

TEST(Prove, FalseRuleIsRefuted) {
  const auto proof = derive("?y = (relu (add ?x ?z)) => ?y = (add (relu ?x) (relu ?z))", ProveOptions());
  EXPECT_EQ(proof.verdict, Proof::Verdict::refuted);
  EXPECT_NE(proof.reason.find("relu"), std::string::npos);
}

TEST(Prove, WhatCannotBeReadIsUnknown) {
  const auto proof = derive("?y = (relu (cast ?x to=f16)) => ?y = (cast (relu ?x) to=f16)");
  EXPECT_EQ(proof.verdict, Proof::Verdict::unknown);
  EXPECT_NE(proof.reason.find("cast"), std::string::npos);
}

TEST(Axioms, FamiliesAreExpanded) {
  const auto set = AxiomSet::parse(
      "# each F: relu tanh\nrule F-twice\n  tags two-way\n  ?y = (F (F ?x)) => ?y = (F (F ?x))\n", "a.rules");
  EXPECT_EQ(set->names(), (std::vector<std::string>{"relu-twice", "tanh-twice"}));
  EXPECT_EQ(set->axioms().size(), 4u);
}

TEST(Axioms, LeftSideIsOneTerm) {
  EXPECT_THROW(AxiomSet::parse("rule a\n  ?a = (relu ?x)\n  ?b = (tanh ?x)\n  => ?a = ?x\n     ?b = ?x\n", "a.rules"),
               Error);
}

}  // namespace
}  // namespace rlgo::rulegen
