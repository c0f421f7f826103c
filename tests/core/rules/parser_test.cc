#include "core/rules/parser.h"

#include <gmock/gmock.h>

#include "core/base/error.h"
#include "core/rules/compiled.h"
#include "core/rules/rules.h"

namespace rlgo::rules {
namespace {

using testing::HasSubstr;

std::string error_of(std::string_view text) {
  try {
    RuleSet::parse(text, "f.rules");
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

constexpr const char* kRelu = "rule r\n  ?y = (relu (relu ?x))\n  => ?y = (relu ?x)\n";

TEST(RuleParser, ReadsEveryPart) {
  const auto rules = parse_rules(
      "# comment\nrule a-1\n tags fuse conv-x proof tested before ?c ?y\n"
      " ?c = (conv2d ?x ?w ?b... act=none ..?A) ?y = (relu ?c) when uses(?c) == 1 let ?k = -1 => ?y = ?x",
      "f");
  ASSERT_EQ(rules.size(), 1u);
  EXPECT_EQ(rules[0].name, "a-1");
  EXPECT_EQ(rules[0].line, 2);
  EXPECT_THAT(rules[0].tags, testing::ElementsAre("fuse", "conv-x"));
  EXPECT_EQ(rules[0].proof, "tested");
  EXPECT_EQ(rules[0].before_second, "y");
  EXPECT_EQ(to_text(rules[0].left[0].term), "(conv2d ?x ?w ?b... act=none ..?A)");
  EXPECT_EQ(to_text(rules[0].conditions[0].expr), "(uses(?c) == 1)");
  EXPECT_EQ(rules[0].conditions[1].let, "k");
}

TEST(RuleParser, OperatorsBindAsUsual) {
  const auto rules =
      parse_rules("rule r ?y = (relu ?x) when not 1 + 2 * 3 < 7 and 1 == 1 or [1, 2][-1] != -?k => ?y = ?x", "f");
  EXPECT_EQ(to_text(rules[0].conditions[0].expr),
            "(((not ((1 + (2 * 3)) < 7)) and (1 == 1)) or ([1, 2][-1] != (-?k)))");
}

TEST(RuleParser, TextOfASetReadsBackAsTheSameSet) {
  const auto set = RuleSet::parse(kRelu, "f");
  EXPECT_EQ(RuleSet::parse(set->to_text(), "g")->hash(), set->hash());
}

TEST(RuleParser, HashSeesMeaningOnly) {
  const auto hash = RuleSet::parse(kRelu, "f")->hash();
  EXPECT_EQ(RuleSet::parse("rule r # c\n tags t\n proof tested ?y=(relu(relu ?x)) => ?y = (relu ?x)", "g")->hash(),
            hash);
  EXPECT_NE(RuleSet::parse("rule q\n ?y = (relu (relu ?x)) => ?y = (relu ?x)", "f")->hash(), hash);
  EXPECT_NE(RuleSet::parse("rule r\n ?y = (relu (relu ?x)) when rank(?x) == 2 => ?y = (relu ?x)", "f")->hash(), hash);
}

TEST(RuleParser, ErrorsNameFileLineAndReason) {
  EXPECT_THAT(error_of("rule r\n ?y = (relu ?x)\n ?y"), HasSubstr("f.rules:3: expected '=', found 'end of file'"));
  EXPECT_THAT(error_of("\n\nrul r"), HasSubstr("f.rules:3: expected 'rule', found 'rul r'"));
  EXPECT_THAT(error_of("rule r\n tagz x\n ?y = (relu ?x) => ?y = ?x"),
              HasSubstr("unknown clause 'tagz' (did you mean 'tags'?)"));
  EXPECT_THAT(error_of("rule r proof maybe ?y = (relu ?x) => ?y = ?x"), HasSubstr("not 'maybe'"));
  EXPECT_THAT(error_of("rule r ?y = (concat axis=1 ?x) => ?y = ?x"), HasSubstr("operands come before attributes"));
  EXPECT_THAT(error_of("rule r ?y = (relu ?x) =>"), HasSubstr("rule 'r': expected '?name = ...' behind '=>'"));
  EXPECT_THAT(error_of("rule r ?y = (add ?x 1.2.3) => ?y = ?x"), HasSubstr("'1.2.3' is not a number"));
}

TEST(RuleParser, DeepNestingIsRefusedAndDoesNotExhaustTheStack) {
  EXPECT_THAT(error_of("rule r ?y = " + std::string(100000, '(')), HasSubstr("expected an operator"));
  std::string deep = "rule r ?y = ";
  for (int k = 0; k < 5000; ++k) deep += "(relu ";
  EXPECT_THAT(error_of(deep), HasSubstr("more than 100 deep"));
  EXPECT_THAT(error_of("rule r ?y = (relu ?x) when " + std::string(5000, '(')), HasSubstr("more than 100 deep"));
  EXPECT_THAT(error_of("rule r ?y = (relu ?x) when " + std::string(5000, '-')), HasSubstr("deep"));
}

TEST(RuleSet, AnEmptyFileIsAnEmptySet) { EXPECT_EQ(RuleSet::parse("# nothing\n", "f")->size(), 0); }

TEST(RuleSet, SubsetKeepsTheOrderAndKnowsItsNames) {
  const auto set =
      RuleSet::parse("rule a ?y=(relu(relu ?x)) => ?y=(relu ?x)\nrule b proof proved ?y=(neg(neg ?x)) => ?y=?x", "f");
  const std::vector<std::string> both{"b", "a"}, one{"b"}, wrong{"bb"};
  EXPECT_THAT(set->subset(both)->names(), testing::ElementsAre("a", "b"));
  EXPECT_EQ(set->subset(both)->hash(), set->hash());
  EXPECT_EQ(set->subset(one)->rule(0).text.proof, "proved");
  EXPECT_THROW(set->subset(wrong), Error);
}

TEST(RuleSet, NamesAreUniqueAcrossFiles) {
  EXPECT_THAT(error_of(std::string(kRelu) + kRelu), HasSubstr("f.rules:4: rule 'r' is defined twice"));
}

}  // namespace
}  // namespace rlgo::rules
