// A fraction of `rlgo rules soundness`: shipped rules at random places of random graphs, compared in the prime field.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "core/rulegen/check/soundness.h"

namespace rlgo::rulegen {
namespace {

TEST(Soundness, ShippedRulesChangeNoOutput) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator("configs/rules")) {
    // Axioms are schemes with operators to fill in.
    if (entry.path().extension() == ".rules" && entry.path().stem() != "axioms") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  const auto rules = rules::RuleSet::load(files);
  SoundnessOptions options;
  options.applications = 40'000;
  const auto result = check_soundness(rules, options);
  for (const auto& [rule, example] : result.counterexamples)
    ADD_FAILURE() << rules->name(rule) << "\n" << example.to_text();
  EXPECT_GE(result.applications, 40'000);
  EXPECT_LT(result.incomparable, result.applications / 20);
  EXPECT_LT(result.idle_rules, rules->size() / 20);
}

TEST(Soundness, RulesThatApplySeldomGetGraphsOfTheirOwn) {
  const auto rules = rules::RuleSet::parse(
      "rule often ?y = (relu (relu ?x)) => ?y = (relu ?x)\n"
      "rule seldom ?y = (add ?x ?z) when rank(?x) == 4 and dim(?x, 0) == 7 and dim(?x, 3) == 5"
      " and shape(?z) == shape(?x) => ?y = (sub ?x (neg ?z))\n",
      "t");
  SoundnessOptions options;
  options.applications = 100;
  options.least = 50;
  const auto result = check_soundness(rules, options);
  EXPECT_GE(result.by_rule[0], 50);
  EXPECT_GE(result.by_rule[1], 50);
}

TEST(Soundness, FindsAFalseRule) {
  const auto rules = rules::RuleSet::parse(
      "rule sound\n ?y = (relu (relu ?x))\n => ?y = (relu ?x)\n"
      "rule unsound\n ?y = (conv2d ?x ?w group=?g ..?A)\n ?z = (relu ?y)\n => ?z = (abs (conv2d ?x ?w group=?g "
      "..?A))\n",
      "t");
  SoundnessOptions options;
  options.applications = 200;
  const auto result = check_soundness(rules, options);
  ASSERT_EQ(result.counterexamples.size(), 1u);
  EXPECT_EQ(rules->name(result.counterexamples[0].first), "unsound");
}

}  // namespace
}  // namespace rlgo::rulegen
