// Every match on the toy graphs, and random walks through the small-picture versions of the zoo, compute the same.
#include <gtest/gtest.h>

#include "core/zoo/zoo.h"
#include "tests/contract/rules_contract.h"
#include "tests/support/shipped_rules.h"
#include "tests/support/small_zoo.h"

namespace rlgo::rules::contract {
namespace {

void expect_scratch(const MatchIndex& index, const graph::Graph& graph) {
  const RuleSet& rules = index.rules();
  for (int r = 0; r < rules.size(); ++r) {
    const auto scratch = find_matches(rules, r, graph);
    const auto kept = index.matches(r);
    ASSERT_TRUE(std::equal(kept.begin(), kept.end(), scratch.begin(), scratch.end()))
        << rules.name(r) << ": " << kept.size() << " against " << scratch.size();
  }
}

// A random rule among those that apply, a random place.
std::optional<Match> random_match(const MatchIndex& index, Rng& rng) {
  std::vector<int> open;
  for (int r = 0; r < index.rules().size(); ++r) {
    if (!index.matches(r).empty()) open.push_back(r);
  }
  if (open.empty()) return std::nullopt;
  const auto matches = index.matches(open[rng.below(open.size())]);
  return matches[rng.below(matches.size())];
}

// Walks; after each step the index equals a search from scratch. Returns the last graph.
graph::Graph walk(const std::shared_ptr<const RuleSet>& rules, graph::Graph graph, int steps, uint64_t seed,
                  std::vector<std::string>* applied) {
  Rng rng({seed});
  MatchIndex index(rules, graph);
  for (int step = 0; step < steps; ++step) {
    const auto match = random_match(index, rng);
    if (!match) break;
    auto rewrite = apply(*rules, *match, graph);
    applied->push_back(rules->name(match->rule));
    EXPECT_TRUE(rewrite.has_value()) << applied->back();
    if (!rewrite) break;
    rewrite->graph.validate();
    EXPECT_NE(rewrite->graph.hash(), graph.hash()) << applied->back();
    graph = std::move(rewrite->graph);
    index.update(graph, rewrite->delta);
    expect_scratch(index, graph);
    if (testing::Test::HasFatalFailure()) break;
  }
  return graph;
}

TEST(RulesOnZoo, EveryMatchOnTheToysComputesTheSame) {
  const auto rules = shipped_rules();
  for (const char* name : {"toy_conv", "toy_mlp", "toy_attention", "toy_residual"}) {
    // The graph itself and what a few rewrites make of it: more rules find a place there.
    for (const int steps : {0, 3, 6, 10}) {
      std::vector<std::string> applied;
      const auto graph = walk(rules, zoo::make(name), steps, static_cast<uint64_t>(steps), &applied);
      for (int r = 0; r < rules->size(); ++r) {
        for (const Match& match : find_matches(*rules, r, graph)) {
          double error = 0;
          EXPECT_EQ(violation_of(*rules, match, graph, true, 1e-6, &error), "") << name << ": " << rules->name(r);
        }
      }
    }
  }
}

struct Walk {
  const char* graph;
  int steps;
};

TEST(RulesOnZoo, LongWalksComputeTheSame) {
  const auto rules = shipped_rules();
  const std::vector<Walk> walks{{"resnet18", 80},      {"squeezenet1_1", 80}, {"resnet50", 80},  {"inception_v3", 80},
                                {"bert", 60},          {"nasrnn", 60},        {"nasnet_a", 60},  {"resnext50", 40},
                                {"vit_b16", 60},       {"gpt2", 60},          {"toy_conv", 100}, {"toy_mlp", 100},
                                {"toy_residual", 200}, {"toy_attention", 200}};
  for (const auto& w : walks) {
    std::vector<std::string> applied;
    const auto before = zoo::make(w.graph, small_options(w.graph));
    const auto after = walk(rules, before, w.steps, 11, &applied);
    verify::EquivalenceOptions options;
    options.seeds = 1;
    options.f64 = true;
    const auto same = verify::equivalence(before, after, options);
    EXPECT_TRUE(same.within(1e-5)) << w.graph << ": " << same.max_rel_error << " " << same.reason << " after "
                                   << join(applied, " ");
  }
}

TEST(RulesOnZoo, TheIndexEqualsSearchFromScratchOnLargeGraphs) {
  const auto rules = shipped_rules();
  for (const char* name : {"resnet50", "inception_v3", "bert"}) {
    std::vector<std::string> applied;
    walk(rules, zoo::make(name), 120, 5, &applied);
    EXPECT_EQ(applied.size(), 120u) << name;
  }
}

TEST(RulesOnZoo, SeveralRulesFireFromTheStart) {
  const auto rules = shipped_rules();
  for (const char* name : {"resnet18", "resnet50", "inception_v3", "squeezenet1_1", "bert"}) {
    const MatchIndex index(rules, zoo::make(name));
    int firing = 0;
    for (int r = 0; r < rules->size(); ++r) firing += index.matches(r).empty() ? 0 : 1;
    EXPECT_GE(firing, 5) << name;
  }
}

}  // namespace
}  // namespace rlgo::rules::contract
