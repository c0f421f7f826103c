// Ranks that the tensors of a rule may have together: never fewer than operators allow.
#include "core/rulegen/prove/sym_ranks.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/rules/parser.h"

namespace rlgo::rulegen::sym {
namespace {

rules::CompiledRule rule_of(const std::string& body) {
  return rules::compile(rules::parse_rules("rule test\n" + body, "test.rules").at(0));
}
int32_t slot(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<int32_t>(std::ranges::find(names, name) - names.begin());
}
uint32_t up_to(int rank) { return (2u << rank) - 1; }

TEST(Ranks, LargerOfTwo) {
  const auto rule = rule_of("?y = (concat (mul ?v ?p) (mul ?u ?q) axis=?k) => ?y = (concat ?v ?u axis=?k)");
  Ranks ranks(rule);
  const int32_t v = slot(rule.tensors, "v"), p = slot(rule.tensors, "p"), u = slot(rule.tensors, "u"),
                q = slot(rule.tensors, "q");
  EXPECT_EQ(ranks.of_tensor(v) & 1u, 0u);  // is joined on the right, so it has an axis
  EXPECT_EQ(ranks.of_tensor(p) & 1u, 1u);
  ASSERT_TRUE(ranks.fix_tensor(v, 3));
  EXPECT_EQ(ranks.of_tensor(u), 1u << 3);   // joined with it
  EXPECT_EQ(ranks.of_tensor(p), up_to(3));  // what is larger is no concat's operand
  EXPECT_EQ(ranks.of_tensor(q), up_to(3));
  EXPECT_EQ(ranks.of_left(0), 1u << 3);
  EXPECT_FALSE(ranks.fix_tensor(p, 4));
  ranks.reset();
  EXPECT_TRUE(ranks.fix_tensor(p, 4));
}

TEST(Ranks, OneOfTwoIsTheLarger) {
  const auto rule = rule_of("?y = (conv2d (add ?x ?z) ?w) => ?y = (conv2d (add ?z ?x) ?w)");
  Ranks ranks(rule);
  const int32_t x = slot(rule.tensors, "x"), z = slot(rule.tensors, "z"), w = slot(rule.tensors, "w");
  EXPECT_EQ(ranks.of_tensor(w), 1u << 4);
  EXPECT_EQ(ranks.of_tensor(x), up_to(4));
  ASSERT_TRUE(ranks.fix_tensor(x, 1));
  EXPECT_EQ(ranks.of_tensor(z), 1u << 4);
}

// A list may have no elements: then nothing is asked of what stands next to them.
TEST(Ranks, ListsCountWithElements) {
  const auto rule =
      rule_of("?y = (mul (concat ?xs... ?z axis=?k) ?w) => ?y = (concat (mul ?xs ?w)... (mul ?z ?w) axis=?k)");
  Ranks ranks(rule);
  const int32_t xs = slot(rule.sequences, "xs"), z = slot(rule.tensors, "z");
  ASSERT_TRUE(ranks.fix_tensor(z, 2));
  EXPECT_NE(ranks.of_sequence(xs), 1u << 2);
  ASSERT_TRUE(ranks.fix_sequence(xs, 2));
  EXPECT_EQ(ranks.of_left(1), 1u << 2);
  ranks.reset();
  ASSERT_TRUE(ranks.fix_sequence(xs, 2));
  EXPECT_EQ(ranks.of_tensor(z), 1u << 2);
  const auto mapped =
      rule_of("?y = (concat ?xs... (relu ?w) axis=?k) => ?y = (concat (matmul ?xs ?w)... (relu ?w) axis=?k)");
  Ranks other(mapped);
  EXPECT_EQ(other.of_tensor(0) >> 1 & 1u, 1u);  // no product without elements
  ASSERT_TRUE(other.fix_sequence(0, 3));
  EXPECT_EQ(other.of_tensor(0), 1u << 3);
}

TEST(Ranks, LiteralsAndShapes) {
  const auto rule = rule_of("?y = (add (reshape ?x shape=[?a, ?b]) 2) => ?y = (reshape (add ?x 2) shape=[?a, ?b])");
  Ranks ranks(rule);
  EXPECT_EQ(ranks.of_left(0), 1u << 2);        // as the right side has it
  EXPECT_EQ(ranks.of_number(0, 1), up_to(2));  // the literal may be smaller
  EXPECT_EQ(ranks.of_tensor(0), up_to(Ranks::kMost));
  EXPECT_TRUE(ranks.fix_number(0, 1, 1));
  EXPECT_FALSE(ranks.fix_number(0, 1, 2));
}

}  // namespace
}  // namespace rlgo::rulegen::sym
