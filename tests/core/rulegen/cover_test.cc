#include "core/rulegen/cover.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/rulegen/foreign.h"

namespace rlgo::rulegen {
namespace {

ForeignRule one(const std::string& rule) { return read_taso("7\t1->1 ops\t" + rule + "\n", "t.txt").at(0); }

Cover judge(const std::string& foreign, const std::string& known, const std::string& axioms) {
  const auto rule = rules::RuleSet::parse(one(foreign).text, "foreign");
  return cover(*rule, rules::RuleSet::parse(known, "known"), *AxiomSet::parse(axioms, "axioms"), {}).cover;
}

const std::string kAssociate =
    "rule right\n ?y = (matmul (matmul ?x ?u) ?v)\n => ?y = (matmul ?x (matmul ?u ?v))\n"
    "rule left\n ?y = (matmul ?x (matmul ?u ?v))\n => ?y = (matmul (matmul ?x ?u) ?v)\n";
const std::string kAxiom =
    "rule associate\n tags two-way\n ?y = (matmul (matmul ?x ?u) ?v)\n => ?y = (matmul ?x (matmul ?u ?v))\n";
const std::string kOther = "rule other\n ?y = (relu (relu ?x))\n => ?y = (relu ?x)\n";

TEST(ReadTaso, SaysWhatTheMatcherAsks) {
  const auto rule = one("concat4d_ax1(conv3x3_s1same_relu(i7, i10), i8)  =>  concat4d_ax1(i7, i8)");
  EXPECT_EQ(rule.name, "taso-007");
  EXPECT_EQ(rule.text,
            "rule taso-007\n  tags taso\n"
            "  ?n0 = (conv2d ?i7 ?i10 act=relu group=?g0 strides=[1, 1] dilations=[1, 1] pads=[1, 1, 1, 1])\n"
            "  ?n1 = (concat ?n0 ?i8 axis=1)\n"
            "  when dim(?i10, 2) == 3 and dim(?i10, 3) == 3\n  when rank(?n0) == 4\n  when rank(?i7) == 4\n"
            "  => ?m0 = (concat ?i7 ?i8 axis=1)\n     ?n1 = ?m0\n");
}

TEST(ReadTaso, SplitsGoWhereTheConcatJoined) {
  const auto rule =
      one("matmul(i1, i4) => split_ax1[0](matmul(i1, concat2d_ax1(i4, i5))) ; "
          "matmul(i1, i5) => split_ax1[1](matmul(i1, concat2d_ax1(i4, i5)))");
  EXPECT_NE(rule.text.find("(split ?m1 axis=1 sizes=[dim(?i4, 1), dim(?i5, 1)])"), std::string::npos) << rule.text;
  EXPECT_NE(rule.text.find("?n1 = ?m2.1"), std::string::npos) << rule.text;
}

TEST(ReadTaso, PartsDirectionsAndWhatCannotBeSaid) {
  const auto parts = read_taso("3\t-\trelu(i1) => relu(relu(i1)) ; relu(i2) => relu(relu(i2))\n", "t.txt");
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[1].name, "taso-003-2");
  EXPECT_FALSE(parts[1].reversed);
  const auto identity = one("matmul(i1, constant_imm()) => i1");
  EXPECT_EQ(identity.text, "");
  EXPECT_EQ(identity.unsayable, "the left side is a tensor alone");
  EXPECT_TRUE(one("conv3x3_s1same_relu(i7, constant_iconv()) => relu(i7)").reversed);
  EXPECT_TRUE(one("relu(transpose(i1)) => relu(transpose(i1))").trivial);
  EXPECT_FALSE(identity.trivial);
  const auto both = one("matmul(i1, constant_imm()) => relu(matmul(i1, constant_imm()))");
  EXPECT_EQ(both.unsayable, "both sides read constants that no condition can ask for: constant_imm");
}

TEST(ReadTaso, BadLinesAreNamed) {
  const auto message = [](const std::string& text) -> std::string {
    try {
      read_taso(text, "t.txt");
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message("\n0\t-\tsoftplus(i1) => i1\n"), "t.txt:2: unknown operator 'softplus'");
  EXPECT_EQ(message("0\t-\trelu(i1, i2) => i1\n"), "t.txt:1: 2 operands of 'relu', expected 1");
  EXPECT_EQ(message("0\t-\trelu(i1) -> i1\n"), "t.txt:1: expected LEFT => RIGHT, found 'relu(i1) -> i1'");
  EXPECT_EQ(message("0\t-\trelu(i1 => i1\n"), "t.txt:1: 'relu' is not closed");
  EXPECT_EQ(message("0\t-\trelu(i1) x => i1\n"), "t.txt:1: 'x' after the term");
  EXPECT_EQ(message("hello\n").substr(0, 17), "t.txt:1: expected");
  EXPECT_EQ(message("0\t-\t" + std::string(200, 'x') + "(i1) => i1\n").substr(0, 25), "t.txt:1: unknown operator");
}

TEST(Cover, ContainedDerivedProvedUnknown) {
  const std::string two = "matmul(matmul(i1, i4), i5) => matmul(i1, matmul(i4, i5))";
  const std::string three = "matmul(matmul(matmul(i1, i4), i5), i6) => matmul(i1, matmul(i4, matmul(i5, i6)))";
  EXPECT_EQ(judge(two, kAssociate, kAxiom), Cover::contained);
  EXPECT_EQ(judge(three, kAssociate, kAxiom), Cover::derived);
  EXPECT_EQ(judge(three, kOther, kAxiom), Cover::proved);
  EXPECT_EQ(judge("relu(i1) => relu(relu(i1))", kAssociate, kAxiom), Cover::unknown);
}

// True for one group, or without broadcasts, and applied by TASO everywhere.
TEST(Cover, UnsoundOnesAreRefuted) {
  for (const std::string text :
       {"concat4d_ax1(conv3x3_s1same(i7, i10), conv3x3_s1same(i7, i11)) => conv3x3_s1same(i7, concat4d_ax0(i10, i11))",
        "conv3x3_s1same(ew_add(i7, i8), i10) => ew_add(conv3x3_s1same(i7, i10), conv3x3_s1same(i8, i10))"}) {
    const auto rule = rules::RuleSet::parse(one(text).text, "foreign");
    const auto result = cover(*rule, rules::RuleSet::parse(kOther, "known"), *AxiomSet::parse(kAxiom, "axioms"), {});
    EXPECT_EQ(result.cover, Cover::refuted) << text;
    EXPECT_NE(result.reason.find("right"), std::string::npos);
  }
}

}  // namespace
}  // namespace rlgo::rulegen
