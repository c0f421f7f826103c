// Mistakes that are reported when a rule is loaded.
#include <gmock/gmock.h>

#include "core/base/error.h"
#include "core/rules/rules.h"

namespace rlgo::rules {
namespace {

using testing::HasSubstr;

std::string error_of(std::string_view body) {
  try {
    RuleSet::parse("rule r\n" + std::string(body), "f.rules");
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

TEST(RuleCompiler, UnknownNamesComeWithTheNearestKnownOne) {
  EXPECT_EQ(error_of("?y = (rellu ?x) => ?y = ?x"),
            "f.rules:2: rule 'r': unknown operator 'rellu' (did you mean 'relu'?)");
  EXPECT_THAT(error_of("?y = (concat ?x axs=1) => ?y = ?x"),
              HasSubstr("concat has no attribute 'axs' (did you mean 'axis'?)"));
  EXPECT_THAT(error_of("?y = (relu ?x)\n when rang(?x) == 2 => ?y = ?x"),
              HasSubstr("f.rules:3: rule 'r': unknown function 'rang' (did you mean 'rank'?)"));
  EXPECT_THAT(error_of("?y = (relu ?left) => ?y = ?lef"), HasSubstr("?lef is not bound (did you mean 'left'?)"));
}

TEST(RuleCompiler, ArityAndAttributes) {
  EXPECT_THAT(error_of("?y = (add ?x) => ?y = ?x"), HasSubstr("add takes 2 operands, not 1"));
  EXPECT_THAT(error_of("?y = (relu ?x) => ?y = (conv2d ?x)"), HasSubstr("conv2d takes 2 to 3 operands, not 1"));
  EXPECT_THAT(error_of("?y = (relu ?x) => ?y = (transpose ?x)"), HasSubstr("transpose needs the attribute 'perm'"));
  EXPECT_THAT(error_of("?y = (transpose ?x) => ?y = ?x"), HasSubstr("has no default for 'perm'"));
  EXPECT_THAT(error_of("?y = (softmax ?x axis=one) => ?y = ?x"), HasSubstr("'axis' of softmax cannot be one"));
  EXPECT_THAT(error_of("?y = (softmax ?x axis=1 axis=1) => ?y = ?x"), HasSubstr("'axis' is mentioned twice"));
  EXPECT_THAT(error_of("?y = (relu ?x) => ?y = (gelu ?x ..?A)"), HasSubstr("..?A is not bound"));
}

TEST(RuleCompiler, AttributesKeepToTheirKind) {
  EXPECT_THAT(error_of("?y = (softmax ?x axis=[?a, ?b]) => ?y = ?x"), HasSubstr("'axis' of softmax is no list"));
  EXPECT_THAT(error_of("?y = (softmax (transpose ?x perm=?k) axis=?k) => ?y = ?x"),
              HasSubstr("?k stands for attributes of different kinds"));
  EXPECT_THAT(error_of("?y = (softmax (transpose ?x perm=[?k, ?l]) axis=?k) => ?y = ?x"), HasSubstr("no error"));
}

TEST(RuleCompiler, Names) {
  EXPECT_THAT(error_of("?y = (relu ?x) => ?y = (relu ?z)"), HasSubstr("?z is not bound"));
  EXPECT_THAT(error_of("?y = (relu ?x) => ?z = ?x"), HasSubstr("replaces no node"));
  EXPECT_THAT(error_of("?y = (relu ?x) => ?y = ?x ?y = ?x"), HasSubstr("?y is replaced twice"));
  EXPECT_THAT(error_of("?y = (relu ?x) => ?y = (relu ?y)"),
              HasSubstr("?y is replaced, so the right side cannot read it"));
  EXPECT_THAT(error_of("?y = (relu ?x) ?y = (neg ?x) => ?y = ?x"), HasSubstr("?y is defined twice"));
  EXPECT_THAT(error_of("?y = (relu ?x) when ?x == 1 => ?y = ?x"), HasSubstr("?x is a tensor"));
  EXPECT_THAT(error_of("?y = (softmax ?x axis=?k) when rank(?k) == 1 => ?y = ?x"), HasSubstr("?k is an attribute"));
  EXPECT_THAT(error_of("?y = (relu ?x) when uses(?x) == 1 => ?y = ?x"), HasSubstr("uses() asks about a named node"));
  EXPECT_THAT(error_of("before ?y ?q ?y = (relu ?x) => ?y = ?x"), HasSubstr("before: ?q is no named node"));
}

TEST(RuleCompiler, OutputsAndSequences) {
  EXPECT_THAT(error_of("?y = (relu (split ?x axis=0 sizes=?n)) => ?y = ?x"), HasSubstr("a split must be named"));
  EXPECT_THAT(error_of("?s = (split ?x axis=0 sizes=?n) ?y = (relu ?s) => ?y = ?x"),
              HasSubstr("?s has several outputs"));
  EXPECT_THAT(error_of("?y = (relu ?x) => ?y.1 = ?x"), HasSubstr("?y has one output"));
  EXPECT_THAT(error_of("?y = (concat ?xs... axis=0) => ?y = (relu ?xs)"), HasSubstr("?xs is a sequence"));
  EXPECT_THAT(error_of("?y = (concat ?xs... axis=0) => ?y = ?xs..."),
              HasSubstr("?y is one tensor, its replacement is a list"));
  EXPECT_THAT(error_of("?y = (relu ?x) => ?y = (concat (relu ?x)... axis=0)"),
              HasSubstr("nothing inside this term is a sequence"));
  EXPECT_THAT(error_of("?y = (concat ?x ?x... axis=0) => ?y = ?x"), HasSubstr("as one tensor and as a sequence"));
}

TEST(RuleCompiler, ThePatternIsConnectedAndFinite) {
  EXPECT_THAT(error_of("?a = (relu ?x) ?b = (relu ?z) => ?a = ?x"), HasSubstr("falls into parts"));
  EXPECT_THAT(error_of("?a = (relu ?b) ?b = (relu ?a) => ?a = ?b"), HasSubstr("contains itself"));
  std::string chain = "?y = ";
  for (int k = 0; k < 17; ++k) chain += "(relu ";
  chain += "?x" + std::string(17, ')') + " => ?y = ?x";
  EXPECT_THAT(error_of(chain), HasSubstr("more than 16 nodes"));
}

TEST(RuleCompiler, SidesOfDifferentTypeAreRefused) {
  EXPECT_THAT(error_of("?y = (matmul ?x ?u) => ?y = (concat ?x ?u axis=0)"), HasSubstr("the two sides differ in type"));
  EXPECT_THAT(error_of("?y = (relu ?x) => ?y = (reshape ?x shape=[7, 77])"), HasSubstr("the two sides differ in type"));
  EXPECT_THAT(error_of("?y = (relu ?x) => ?y = (conv2d ?x ?x act=rleu)"),
              HasSubstr("'act' of conv2d cannot be rleu (did you mean 'relu'?); it is one of: none relu sigmoid"));
  EXPECT_THAT(error_of("?y = (relu (conv2d ?x ?w act=banana)) => ?y = (conv2d ?x ?w act=relu)"),
              HasSubstr("'act' of conv2d cannot be banana"));
  EXPECT_THAT(error_of("?y = (cast ?x to=f33) => ?y = ?x"), HasSubstr("'to' of cast cannot be f33"));
  EXPECT_EQ(error_of("?y = (transpose ?x perm=[1, 0]) => ?y = ?x"), "no error");  // true of square matrices
}

TEST(RuleCompiler, LeavesCannotStandInARule) {
  EXPECT_THAT(error_of("?y = (relu (weight)) => ?y = (relu (relu (weight)))"),
              HasSubstr("'weight' cannot stand in a rule"));
}

}  // namespace
}  // namespace rlgo::rules
