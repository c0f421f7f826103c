// What a search believes of a rewrite before it is built (Trial, NameHash, MatchIndex::edit) is what comes of it.
#include <gtest/gtest.h>

#include <array>
#include <map>

#include "core/base/rng.h"
#include "core/cost/analytic.h"
#include "core/graph/name_hash.h"
#include "core/graph/text.h"
#include "core/graph/trial.h"
#include "core/rules/rules.h"
#include "core/zoo/zoo.h"

namespace rlgo {
namespace {

using graph::NameHash;

std::shared_ptr<const rules::RuleSet> base() {
  const std::array<std::filesystem::path, 1> files{"configs/rules/base.rules"};
  return rules::RuleSet::load(files);
}

struct Place {
  graph::Graph graph;
  rules::MatchIndex index;
  NameHash hash;
};

void expect_equal(const graph::Delta& a, const graph::Delta& b) {
  EXPECT_EQ(a.added, b.added);
  EXPECT_EQ(a.removed, b.removed);
  EXPECT_EQ(a.touched, b.touched);
}

// Tries every match (at most 12 of a rule), compares with the built graph, and continues from a random one.
class Trials {
 public:
  explicit Trials(const graph::Graph& graph) : at_{graph, rules::MatchIndex(base(), graph), NameHash(graph)} {}

  void walk(int steps, uint64_t seed) {
    Rng rng({seed});
    note(at_.hash.value(), at_.graph);
    for (int k = 0; k < steps && at_.index.total() > 0; ++k) {
      std::vector<Place> next = neighbours();
      if (testing::Test::HasFailure()) return;
      at_ = std::move(next[rng.below(next.size())]);
    }
  }
  int tried() const { return tried_; }
  double hashes_per_graph() const {  // equal graphs with different name hashes make it more than 1
    return static_cast<double>(exact_of_.size()) / static_cast<double>(exact_.size());
  }

 private:
  std::vector<Place> neighbours() {
    graph::Trial trial(at_.graph);
    std::vector<Place> next;
    for (int rule = 0; rule < at_.index.rules().size(); ++rule) {
      const int count = std::min(12, static_cast<int>(at_.index.matches(rule).size()));
      for (int location = 0; location < count; ++location) {
        SCOPED_TRACE(at_.index.rules().name(rule));
        next.push_back(compare(trial, rule, location));
        if (testing::Test::HasFailure()) return next;
      }
    }
    return next;
  }

  Place compare(graph::Trial& trial, int rule, int location) {
    ++tried_;
    const std::string before = graph::to_text(trial.graph());
    NameHash::Replaced replaced;
    at_.index.edit(rule, location, trial.editor(), &replaced);
    const graph::Delta delta = trial.apply();
    NameHash hash = at_.hash;
    const uint64_t foreseen = hash.after(at_.graph, trial.graph(), delta, replaced);
    const double foreseen_us = cost::delta_us(cost_, at_.graph, trial.graph(), delta);

    const auto built =
        rules::apply(at_.index.rules(), at_.index.matches(rule)[static_cast<size_t>(location)], at_.graph);
    EXPECT_TRUE(built.has_value());
    expect_equal(delta, built->delta);
    for (const graph::NodeId id : built->graph.order()) {
      const graph::Node &a = trial.graph().node(id), &b = built->graph.node(id);
      EXPECT_TRUE(a.info && a.inputs == b.inputs && a.uses == b.uses && a.constant == b.constant);
      EXPECT_TRUE(a.info && a.info->local_hash == b.info->local_hash &&
                  a.info->signature_hash == b.info->signature_hash);
    }
    EXPECT_EQ(foreseen_us, cost::delta_us(cost_, at_.graph, built->graph, built->delta));
    trial.undo();
    EXPECT_EQ(graph::to_text(trial.graph()), before);

    hash.advance(at_.graph, built->graph, built->delta, replaced);
    EXPECT_EQ(hash.value(), foreseen);
    note(foreseen, built->graph);
    rules::MatchIndex index = at_.index;
    index.update(built->graph, built->delta);
    return {built->graph, std::move(index), std::move(hash)};
  }

  // Different graphs never have one name hash.
  void note(uint64_t name_hash, const graph::Graph& graph) {
    const uint64_t exact = graph.hash();
    exact_.insert({exact, name_hash});
    EXPECT_EQ(exact_of_.insert({name_hash, exact}).first->second, exact);
  }

  Place at_;
  cost::AnalyticCost cost_;
  std::map<uint64_t, uint64_t> exact_, exact_of_;
  int tried_ = 0;
};

class TrialTest : public testing::TestWithParam<std::string> {};

TEST_P(TrialTest, ForeseesWhatIsBuilt) {
  zoo::ZooOptions options;
  for (const char* deep : {"bert", "gpt2", "vit_b16", "nasnet_a"}) {
    if (GetParam() == deep) options.layers = 2;
  }
  Trials trials(zoo::make(GetParam(), options));
  trials.walk(GetParam().starts_with("toy") ? 40 : 5, 7);
  EXPECT_GT(trials.tried(), 50);
  EXPECT_LT(trials.hashes_per_graph(), 2.0);  // far below on zoo models; most on toy_mlp, which has few graphs
}

INSTANTIATE_TEST_SUITE_P(Zoo, TrialTest, testing::ValuesIn(zoo::names()), [](const auto& test) { return test.param; });

}  // namespace
}  // namespace rlgo
