// Rules that hold are proved; rules that do not, never.
#include "core/rulegen/prove/prove.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/rulegen/check/bounded.h"
#include "core/rules/parser.h"

namespace rlgo::rulegen {
namespace {

const AxiomSet& axioms() {
  static const auto set = AxiomSet::load("configs/rules/axioms.rules");
  return *set;
}

ProveOptions quick() {
  ProveOptions options;
  options.check = false;  // the derivation alone: what it states must be right without the last gate
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
    testing::Values(
        Pair{"matmul_associate", "?y = (matmul (matmul ?x ?u) ?v) => ?y = (matmul ?x (matmul ?u ?v))"},
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
        Pair{"positive_factor_of_relu", "?y = (relu (mul ?x ?s)) when value(?s) > 0 => ?y = (mul (relu ?x) ?s)"},
        Pair{"division_by_a_number", "?y = (mul ?x ?c) when value(?c) != 0 => ?y = (div ?x {1.0 / value(?c)})"},
        Pair{"sum_by_its_count",
             "?y = (mul (reduce_sum ?x axes=?a keepdims=?k) ?c)"
             " when near(value(?c) * product(pick(shape(?x), ?a)), 1.0)"
             " => ?y = (reduce_mean ?x axes=?a keepdims=?k)"},
        Pair{"one_slice_of_two",
             "?y = (slice (slice ?x axes=[?k] starts=[?a] ends=[?b] steps=[1]) axes=[?k] starts=[?c] "
             "ends=[?d] steps=?t)"
             " => ?y = (slice ?x axes=[?k] starts=[?a + ?c] ends=[min(?a + ?d, ?b)] steps=?t)"},
        Pair{"identity_in_a_product",
             "?y = (add (matmul ?x ?u) ?x) when rank(?u) == 2 let ?n = dim(?u, 0)"
             " => ?y = (matmul ?x (add ?u (reshape (slice (reshape (pad (fill shape=[?n, 1] value=1.0) "
             "pads=[0, 0, 0, ?n]) shape=[?n * (?n + 1)]) axes=[0] starts=[0] ends=[?n * ?n]) "
             "shape=[?n, ?n])))"},
        Pair{"indices_that_rise",
             "?y = (gather ?x ?i axis=?k) when rank(?i) == 1 and step(?i) >= 1"
             " let ?e = start(?i) + (dim(?i, 0) - 1) * step(?i) + 1 when ?e <= dim(?x, ?k)"
             " => ?y = (slice ?x axes=[?k] starts=[start(?i)] ends=[?e] steps=[step(?i)])"},
        Pair{"indices_of_rows",
             "?y = (gather_elements ?x ?i axis=0) when rank(?x) == 2 and varies(?i, 0) and dim(?i, 1) == dim(?x, 1)"
             " => ?l = (slice ?i axes=[1] starts=[0] ends=[1] steps=[1])"
             "    ?y = (gather ?x (reshape ?l shape=[dim(?i, 0)]) axis=0)"},
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
    testing::Values(
        Pair{"matmul_commute", "?y = (matmul ?x ?u) => ?y = (matmul ?u ?x)"},
        Pair{"inner_pieces_unknown",
             "?y = (matmul (concat ?x ?z axis=1) (concat ?u ?v axis=0))"
             " => ?y = (add (matmul ?x ?u) (matmul ?z ?v))"},
        Pair{"avg_pool_of_conv_3x3",
             "?y = (conv2d (avg_pool ?x ..?P) ?w pads=[1, 1, 1, 1]) when dim(?w, 2) == 3"
             " => ?y = (avg_pool (conv2d ?x ?w pads=[1, 1, 1, 1]) ..?P)"},
        Pair{"pads_not_enlarged",
             "?y = (conv2d ?x (pad ?w pads=[0, 0, 1, 1, 0, 0, 0, 0]) pads=[1, 1, 1, 1])"
             " => ?y = (conv2d ?x ?w pads=[1, 1, 0, 0])"},
        Pair{"factor_of_any_sign_of_relu", "?y = (relu (mul ?x ?s)) when value(?s) > -1 => ?y = (mul (relu ?x) ?s)"},
        Pair{"bounds_in_any_order", "?y = (max (min ?x ?b) ?a) => ?y = (clip ?x min=value(?a) max=value(?b))"},
        Pair{"indices_one_further",
             "?y = (gather ?x ?i axis=?k) when rank(?i) == 1 and step(?i) >= 1"
             " let ?e = start(?i) + (dim(?i, 0) - 1) * step(?i) + 2 when ?e <= dim(?x, ?k)"
             " => ?y = (slice ?x axes=[?k] starts=[start(?i) + 1] ends=[?e] steps=[step(?i)])"},
        Pair{"indices_of_columns",
             "?y = (gather_elements ?x ?i axis=0) when rank(?x) == 2 and varies(?i, 1) and shape(?i) == shape(?x)"
             " => ?l = (slice ?i axes=[1] starts=[0] ends=[1] steps=[1])"
             "    ?y = (gather ?x (reshape ?l shape=[dim(?i, 0)]) axis=0)"},
        Pair{"relu_of_sum", "?y = (relu (add ?x ?z)) => ?y = (add (relu ?x) (relu ?z))"},
        Pair{"split_swapped",
             "?s = (split ?x axis=0 sizes=[?m, ?m])"
             " ?y = (concat ?s.1 ?s.0 axis=0) => ?y = ?x"},
        Pair{"lists_exchanged", "?y = (concat ?ls... ?x ?rs... axis=?k) => ?y = (concat ?rs... ?x ?ls... axis=?k)"},
        Pair{"joined_in_another_order",
             "?y = (concat ?ls... ?x ?z ?rs... axis=?k) => ?y = (concat ?ls... ?z ?x ?rs... axis=?k)"},
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

// Ranks of ?x alone are gone through where no number can be larger than ?x; the axioms for it are named.
TEST(Prove, NumbersBesideOneTensorAreScalars) {
  const Proof proof = derive("?y = (mul (add (pow ?x 2) (mul ?x 3)) 1) => ?y = (add (mul ?x ?x) (mul ?x 3))");
  EXPECT_TRUE(proof.derived()) << proof.reason;
  EXPECT_EQ(proof.cases, 5);
  for (const char* axiom : {"mul-fill-shape", "pow-fill-shape", "pow-2"}) {
    EXPECT_TRUE(std::ranges::find(proof.axioms, axiom) != proof.axioms.end()) << axiom;
  }
}

// A number may be larger than ?x next to ?z, and in a node of its own.
TEST(Prove, NumbersBesideOthersHaveShapes) {
  const Proof two = derive("?y = (mul (mul ?x 1) ?z) => ?y = (mul ?x ?z)");
  EXPECT_TRUE(two.derived()) << two.reason;
  EXPECT_GT(two.cases, 25);
  EXPECT_FALSE(derive("?t = (add ?x 1) ?y = (relu ?x) => ?t = ?x ?y = (relu ?x)").derived());
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

// Bounds are steps and Z3's resource units: what is beyond them is unknown, and the reason states which it was.
TEST(Prove, WhatTakesTooMuchIsUnknown) {
  const std::string rule = "?y = (relu (concat ?xs... axis=?k)) => ?y = (concat (relu ?xs)... axis=?k)";
  ASSERT_TRUE(derive(rule).derived());
  ProveOptions options = quick();
  options.max_steps = 500;
  Proof proof = derive(rule, options);
  EXPECT_EQ(proof.verdict, Proof::Verdict::unknown);
  EXPECT_FALSE(proof.derived());
  EXPECT_EQ(proof.reason, "gave up after 500 steps of search");
  options = quick();
  options.certify_effort = 1;
  proof = derive(rule, options);
  EXPECT_FALSE(proof.derived());
  EXPECT_TRUE(proof.reason.starts_with("Z3 gave up after 1 resource units for ?x")) << proof.reason;
}

TEST(Prove, StopsWhereItIsAskedTo) {
  ProveOptions options;
  int asked = 0;
  options.stop = [&] { return ++asked > 1; };
  const Proof proof =
      derive("?y = (concat (relu ?x) (relu ?z) axis=?k) => ?y = (relu (concat ?x ?z axis=?k))", options);
  EXPECT_TRUE(proof.stopped);
  EXPECT_EQ(proof.verdict, Proof::Verdict::unknown);
  EXPECT_EQ(proof.reason, "stopped");
}

// Z3's procedure for polynomials, which knows no limit, would not come to an end here.
TEST(Prove, SpelledLayerNormEnds) {
  const Proof proof = derive(
      "?d = (sub ?x (reduce_mean ?x axes=?a keepdims=1))\n ?v = (reduce_mean (mul ?d ?d) axes=?a keepdims=1)\n"
      "?r = (sqrt (add ?v ?e))\n ?i = (div 1 ?r)\n ?y = (mul ?d ?i)\n"
      "when value(?e) >= 0 and elements(?e) == 1 and rank(?e) <= rank(?x) and shape(?i) == shape(?r)\n"
      "when ?a == sub(iota(rank(?x)), ?a[0], rank(?x))\n"
      "=> ?y = (layer_norm ?x (fill shape=sub(shape(?x), ?a[0], rank(?x)) value=1.0 to=dtype(?x)) axis=?a[0] "
      "eps=value(?e))",
      ProveOptions());
  EXPECT_EQ(proof.verdict, Proof::Verdict::proved) << proof.reason;
}

// All tensors are of one type: a cast is read where a condition states that it changes nothing, and nowhere else.
TEST(Prove, CastsAreReadWhereTheyChangeNothing) {
  EXPECT_EQ(derive("?y = (cast (relu ?x) to=?t) when dtype(?x) == ?t => ?y = (relu ?x)").axioms,
            std::vector<std::string>{"cast-to-same"});
  for (const char* body :
       {"?y = (cast ?x to=?t) => ?y = ?x", "?y = (cast ?x to=f32) => ?y = ?x",
        "?y = (cast ?x to=?t) when dtype(?x) != ?t => ?y = ?x", "?y = (relu ?x) => ?y = (cast (relu ?x) to=f32)"}) {
    const Proof proof = derive(body);
    EXPECT_FALSE(proof.derived()) << body;
    EXPECT_EQ(proof.cases, 0) << body;
  }
}

// What stands around a joined pair on both sides is left out by an axiom; elsewhere lists have elements.
TEST(Prove, ListsAroundAreLeftOut) {
  const Proof around = derive(
      "?y = (concat ?ls... (relu ?x) (relu ?z) ?rs... axis=?k)"
      " => ?y = (concat ?ls... (relu (concat ?x ?z axis=?k)) ?rs... axis=?k)");
  EXPECT_EQ(around.axioms, (std::vector<std::string>{"concat-flatten", "concat-one", "relu-concat"}));
  EXPECT_EQ(around.cases, 1 + 2 + 3 + 4);  // ranks and axes
  const Proof inside =
      derive("?y = (relu (concat ?ls... ?x axis=?k)) => ?y = (concat (relu ?ls)... (relu ?x) axis=?k)");
  EXPECT_TRUE(inside.derived()) << inside.reason;
  EXPECT_EQ(inside.cases, 4 * (1 + 2 + 3 + 4));  // none to three elements
  const Proof read = derive(
      "?y = (concat ?ls... (relu ?x) (relu ?z) axis=?k) when count(?ls) >= 1"
      " => ?y = (concat ?ls... (relu (concat ?x ?z axis=?k)) axis=?k)");
  EXPECT_EQ(read.cases, 3 * (1 + 2 + 3 + 4));
}

TEST(Axioms, FamiliesAreExpanded) {
  const auto set = AxiomSet::parse(
      "# each F: relu tanh\nrule F-twice\n  tags two-way\n  ?y = (F (F ?x)) => ?y = (F (F ?x))\n", "a.rules");
  EXPECT_EQ(set->names(), (std::vector<std::string>{"relu-twice", "tanh-twice"}));
  EXPECT_EQ(set->axioms().size(), 4u);
}

TEST(Axioms, FamilyAndKind) {
  const auto set = AxiomSet::parse(
      "rule relu-split\n  tags two-way\n  ?y = (relu (relu ?x)) => ?y = (relu ?x)\n"
      "rule tanh-thing\n  ?y = (tanh (tanh ?x)) => ?y = ?x\n",
      "a.rules");
  ASSERT_EQ(set->axioms().size(), 3u);
  EXPECT_EQ(set->axioms()[0].family, "F-split");
  EXPECT_FALSE(set->axioms()[1].plain);  // two-way
  EXPECT_TRUE(set->axioms()[2].plain);
}

TEST(Axioms, ConstantsAreComparedWhereTheTagStatesIt) {
  const auto file = AxiomSet::load("configs/rules/axioms.rules");
  const auto at = std::ranges::find(file->axioms(), "reshape-fill", &Axiom::name);
  ASSERT_NE(at, file->axioms().end());
  const auto set = rules::RuleSet::parse(rules::to_text(at->rule.text), "a.rules");
  const auto result = check_bounded(*set, 0, {});
  EXPECT_EQ(result.check.verdict, CheckVerdict::equal) << result.check.why;
  EXPECT_GT(result.check.instances, 0);
}

TEST(Axioms, LeftSideIsOneTerm) {
  EXPECT_THROW(AxiomSet::parse("rule a\n  ?a = (relu ?x)\n  ?b = (tanh ?x)\n  => ?a = ?x\n     ?b = ?x\n", "a.rules"),
               Error);
}

}  // namespace
}  // namespace rlgo::rulegen
