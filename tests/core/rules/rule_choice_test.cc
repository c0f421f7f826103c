// --rules: what the default of a command is.
#include "core/rules/rule_choice.h"

#include <gtest/gtest.h>

namespace rlgo::rules {
namespace {

using Words = std::vector<std::string>;

TEST(RuleChoice, ASetJoinsTheDefaultAlone) {
  EXPECT_EQ(with_sets_in_default({}, {"winograd"}), (Words{"base", "runtime", "motion", "winograd"}));
  EXPECT_EQ(with_sets_in_default({"-conv"}, {"winograd"}), (Words{"base", "runtime", "motion", "winograd", "-conv"}));
  EXPECT_EQ(with_sets_in_default({"base"}, {"winograd"}), Words{"base"});
}

TEST(RuleChoice, TheDefaultWithAnotherSetIsBothProvedParts) {
  const int alone = choose_rules({})->size(), more = choose_rules({"winograd"})->size();
  EXPECT_EQ(more, 12);
  EXPECT_EQ(choose_rules(with_sets_in_default({}, {"winograd"}))->size(), alone + more);
  EXPECT_EQ(choose_rules(with_sets_in_default({"-winograd"}, {"winograd"}))->size(), alone);
}

}  // namespace
}  // namespace rlgo::rules
