// The shipped rules.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/rules/compiled.h"
#include "core/rules/rules.h"
#include "tests/support/shipped_rules.h"

namespace rlgo::rules {
namespace {

TEST(BaseRules, LoadAndReadBack) {
  const auto rules = shipped_rules();
  EXPECT_GE(rules->size(), 100);
  EXPECT_EQ(RuleSet::parse(rules->to_text(), "again")->hash(), rules->hash());
}

TEST(BaseRules, AreNamedInKebabCaseAndTagged) {
  const auto rules = shipped_rules();
  for (int r = 0; r < rules->size(); ++r) {
    const auto& name = rules->name(r);
    EXPECT_TRUE(std::ranges::all_of(name, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    })) << name;
    EXPECT_FALSE(rules->rule(r).text.tags.empty()) << name;
    EXPECT_NE(rules->proof(r), Proof::unproved) << name;
  }
}

}  // namespace
}  // namespace rlgo::rules
