// From sets of operators to proved rules.
#include "core/rulegen/generate/generate.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/rulegen/check/check.h"
#include "core/rulegen/generate/rule_writer.h"

namespace rlgo::rulegen {
namespace {

GenerateReport run(const std::string& ops, int max_ops, int threads = 1) {
  GenerateOptions options;
  options.ops = ops;
  options.max_ops = max_ops;
  options.threads = threads;
  options.axioms = AxiomSet::load("configs/rules/axioms.rules");
  return generate(options);
}

bool has(const GenerateReport& report, const std::string& body) {
  return std::ranges::any_of(report.rules, [&](const auto& rule) { return rule.text.find(body) != std::string::npos; });
}

std::string all_text(const GenerateReport& report) {
  std::string text;
  for (const auto& rule : report.rules) text += rule.text;
  return text;
}

TEST(Generate, ProductsAreAssociative) {
  const auto report = run("2d:matmul", 2);
  EXPECT_TRUE(has(report, "?r1 = (matmul (matmul ?w ?z) ?x)\n  => ?r1 = (matmul ?w (matmul ?z ?x))"))
      << all_text(report);
  EXPECT_TRUE(has(report, "?r1 = (matmul ?w (matmul ?z ?x))\n  => ?r1 = (matmul (matmul ?w ?z) ?x)"));
}

TEST(Generate, AdditionIsAssociativeAndZeroIsNeutral) {
  const auto report = run("2d:add", 2);
  EXPECT_TRUE(has(report, "?r1 = (add ?x 0)\n  => ?r1 = ?x")) << all_text(report);
  EXPECT_TRUE(std::ranges::any_of(report.rules, [](const auto& rule) { return rule.name == "g-add-add-to-add-add"; }));
}

TEST(Generate, SplitTakesConcatApartForAnyAxis) {
  const auto report = run("2d:concat,split", 2);
  EXPECT_TRUE(has(report, "(split (concat ?x ?y axis=?k0) axis=?k0 sizes=[?n0, ?n1])")) << all_text(report);
}

TEST(Generate, ConvolutionsOfOneInputMerge) {
  const auto report = run("4d:conv2d,concat", 2);
  EXPECT_TRUE(std::ranges::any_of(report.rules, [](const auto& rule) {
    return rule.text.find("(concat ?ls... (conv2d ") != std::string::npos;
  })) << all_text(report);
}

TEST(Generate, FactorsMayBeOneMore) {
  const auto report = run("2d-constant:mul,add", 2);
  EXPECT_TRUE(std::ranges::any_of(report.rules, [](const auto& rule) {
    return rule.name.starts_with("g-add-mul-to-mul-add") && rule.text.find(" 1)") != std::string::npos;
  })) << all_text(report);
}

TEST(Generate, IdentityIsReadAndWrittenAsTheTermsThatMakeIt) {
  const auto report = run("2d-constant:matmul,concat", 2);
  EXPECT_TRUE(has(report, "shape=[?eye0, ?eye0])\n  ?r1 = (matmul ?x ?eye)\n  => ?r1 = ?x")) << all_text(report);
  EXPECT_TRUE(
      has(report, "  => ?r1 = (concat ?ls... (matmul ?x (concat ?u (reshape (slice (reshape (pad (fill shape=[dim("))
      << all_text(report);
  EXPECT_TRUE(has(run("4d-constant:conv2d", 1), "shape=[?eye0, ?eye0, 1, 1])\n  ?r1 = (conv2d ?x ?eye "));
}

TEST(Generate, MeansAreDepthwiseConvolutions) {
  const auto report = run("4d-constant:conv2d,avg_pool", 1);
  EXPECT_TRUE(has(report, "value=1.0 / (3 * 3)")) << all_text(report);
  EXPECT_TRUE(has(report, "when near(value(?mean) * (dim(?mean, 2) * dim(?mean, 3)), 1.0)")) << all_text(report);
}

// One paragraph for each of the activations where sides are short, for the first where they are long.
TEST(Generate, LongSidesAreWrittenForOneActivation) {
  GenerateOptions options;
  options.ops = "2d:gelu,transpose,concat";
  options.max_ops = 3;
  options.axioms = AxiomSet::load("configs/rules/axioms.rules");
  options.activations = {"gelu", "tanh"};
  const auto whole = generate(options);
  options.activation_ops = 2;
  const auto part = generate(options);
  EXPECT_TRUE(has(part, "rule g-tanh-transpose-to-transpose-tanh")) << all_text(part);
  EXPECT_FALSE(has(part, "rule g-concat-tanh-tanh-to-tanh-concat"));
  EXPECT_LT(part.families[0].directed, whole.families[0].directed);
}

TEST(Generate, WindowsThatMoveKeepTheirStrides) {
  const auto report = run("4d-window:conv2d,concat", 2);
  EXPECT_TRUE(has(report, "concat")) << all_text(report);
  for (const auto& rule : report.rules) {
    EXPECT_NE(check_rule(*rules::RuleSet::parse(rule.text, "generated"), 0, {}).verdict, CheckVerdict::different)
        << rule.text;
  }
}

TEST(Generate, ProofsAreTakenUpAgain) {
  GenerateOptions options;
  options.ops = "2d:relu,concat";
  options.max_ops = 2;
  options.axioms = AxiomSet::load("configs/rules/axioms.rules");
  options.state = std::filesystem::temp_directory_path() / "rlgo_generate_proofs";
  std::filesystem::remove_all(options.state);
  std::filesystem::create_directories(options.state);
  const auto first = generate(options), second = generate(options);
  EXPECT_EQ(first.families[0].proofs_resumed, 0u);
  EXPECT_EQ(second.families[0].proofs_resumed, second.families[0].directed);
  EXPECT_EQ(all_text(first), all_text(second));
  std::filesystem::remove_all(options.state);
}

TEST(Generate, RulesAreProvedAndNothingFalseIsAmongThem) {
  const auto report = run("2d:matmul,relu,transpose,concat", 2);
  ASSERT_GE(report.rules.size(), 6u);
  for (const auto& rule : report.rules) {
    const auto set = rules::RuleSet::parse(rule.text, "generated");
    EXPECT_EQ(set->rule(0).text.proof, "proved");
    CheckOptions options;
    options.instances = 10;
    EXPECT_NE(check_rule(*set, 0, options).verdict, CheckVerdict::different) << rule.text;
  }
  EXPECT_FALSE(has(report, "(relu (matmul"));  // relu does not go through a product
}

TEST(Generate, DoesNotDependOnThreads) {
  EXPECT_EQ(all_text(run("2d:matmul,relu,concat", 2, 1)), all_text(run("2d:matmul,relu,concat", 2, 3)));
}

TEST(Generate, KnownRulesAreLeftOut) {
  GenerateOptions options;
  options.ops = "2d:relu";
  options.max_ops = 2;
  options.axioms = AxiomSet::load("configs/rules/axioms.rules");
  const size_t all = generate(options).rules.size();
  options.known = rules::RuleSet::parse("rule r\n ?y = (relu (relu ?x))\n => ?y = (relu ?x)\n", "known");
  EXPECT_EQ(generate(options).rules.size(), all - 1);
}

TEST(Generate, ExplainsEveryPrunedPair) {
  GenerateOptions options;
  options.ops = "2d:matmul,add";
  options.max_ops = 2;
  options.prove = false;
  std::vector<std::string> lines;
  options.explain = [&](const std::string& line) { lines.push_back(line); };
  const auto report = generate(options);
  uint64_t pruned = report.families[0].special;
  for (int k = 1; k < kFates; ++k) pruned += report.families[0].fates[k];
  EXPECT_EQ(lines.size(), pruned);
  ASSERT_FALSE(lines.empty());
  EXPECT_NE(lines[0].find(": t0 = "), std::string::npos) << lines[0];
}

TEST(RuleWriter, DemandsAreGivenUpOneByOne) {
  const Family family = make_family("2d:relu,transpose");
  const Candidate pair{{{{0, {0}}, {1, {6}}}, {7}}, {{{1, {0}}, {0, {6}}}, {7}}};
  const auto symbols = symbolic_pair(family, pair);
  ASSERT_TRUE(symbols.has_value());
  std::vector<std::string> asked;
  const auto text = most_general(family, pair, *symbols, "r", "gelu", [&](const std::string& t) {
    asked.push_back(t);
    return true;
  });
  EXPECT_NE(asked.front().find("when rank(?x) == 2"), std::string::npos) << asked.front();
  EXPECT_EQ(*text,
            "rule r\n  tags generated 2d activation transpose\n  ?r1 = (transpose (relu ?x) perm=?p0)\n"
            "  => ?r1 = (relu (transpose ?x perm=?p0))\n");
}

TEST(RuleWriter, WhatTheLanguageCannotExpressIsNothing) {
  const Family family = make_family("2d:concat,split");
  const Candidate pair{{{}, {0, 1}}, {{{0, {0, 1}}, {2, {6}}}, {7, 8}}};
  const auto symbols = symbolic_pair(family, pair);
  ASSERT_TRUE(symbols.has_value());
  EXPECT_FALSE(rule_text(family, pair, *symbols, {}, "r", "gelu").has_value());
}

}  // namespace
}  // namespace rlgo::rulegen
