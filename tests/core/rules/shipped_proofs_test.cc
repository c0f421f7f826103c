#include "core/rules/shipped_proofs.h"

#include <gtest/gtest.h>

#include "core/rules/parser.h"
#include "core/rules/rules.h"

namespace rlgo::rules {
namespace {

constexpr const char* kMadeUp = "rule r\n  proof proved made up\n  ?y = (neg ?x)\n  => ?y = (abs ?x)\n";

TEST(ShippedProofs, AFilesOwnWordIsNotBelieved) {
  const auto rules = RuleSet::parse(kMadeUp, "f.rules");
  EXPECT_EQ(rules->proof(0), Proof::unproved);
  EXPECT_NE(rules->remark().find("rlgo rules verify f.rules"), std::string::npos);
  EXPECT_EQ(rules->subset(std::vector<std::string>{"r"})->remark(), rules->remark());
}

TEST(ShippedProofs, EveryShippedRuleIsKnownAloneToo) {
  for (const auto text : shipped_texts()) {
    if (text.size() > 100'000 || text.find("# each ") != std::string_view::npos) continue;  // generated; axioms
    for (auto rule : parse_rules(text, "f")) {
      EXPECT_TRUE(is_shipped_rule(rule)) << rule.name;
      rule.right.swap(rule.left);
      EXPECT_FALSE(is_shipped_rule(rule)) << rule.name;
    }
  }
}

}  // namespace
}  // namespace rlgo::rules
