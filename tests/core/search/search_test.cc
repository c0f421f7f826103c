#include "core/search/search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/cost/analytic.h"
#include "core/graph/editor.h"
#include "core/search/walk.h"
#include "tests/support/matmul_rules.h"

namespace rlgo::search {
namespace {

using graph::Value;
using ops::Op;

const char* kUnfuse = R"(
rule unfuse-matmul-relu
  ?y = (matmul ?x ?w act=relu)
  => ?y = (relu (matmul ?x ?w act=none))
)";

std::shared_ptr<const rules::RuleSet> rule_set() {
  return rules::RuleSet::parse(std::string(kMatmulRules) + kUnfuse, "test.rules");
}

// What helps, by two rewrites, costs at first.
std::shared_ptr<const rules::RuleSet> dearer_first() {
  return rules::RuleSet::parse(R"(
rule dearer
  ?y = (relu (matmul ?x ?w act=none))
  => ?y = (relu (abs (matmul ?x ?w act=none)))

rule cheaper
  ?y = (relu (abs (matmul ?x ?w act=none)))
  => ?y = (matmul ?x ?w act=relu)
)",
                               "dearer.rules");
}

// `layers` times matmul and relu on x[4,32].
graph::Graph chain(int layers) {
  graph::Editor e("chain");
  Value x = e.add_input("x", {ops::DType::f32, {4, 32}});
  for (int k = 0; k < layers; ++k) {
    const auto blob = graph::Blob::seeded({ops::DType::f32, {32, 32}}, static_cast<uint64_t>(k), 0.1);
    x = e.op(Op::relu, {e.op(Op::matmul, {x, e.add_weight("w" + std::to_string(k), blob)})});
  }
  e.add_output("y", x);
  return *e.finish();
}

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

class SearchTest : public ::testing::Test {
 protected:
  Result run_on(const std::string& method, const graph::Graph& graph, Options options = {}) {
    return run(method, {graph, rule_set(), cost_}, options);
  }
  double cost(const graph::Graph& graph) { return cost::graph_cost(cost_, graph).runtime_us; }
  cost::AnalyticCost cost_;
};

// Every method: the trace leads to the graph, the costs are those of the graphs, the curve falls.
TEST_F(SearchTest, ResultsOfEveryMethodHoldTogether) {
  const graph::Graph graph = chain(4);
  for (const auto& method : names()) {
    const Result result = run_on(method, graph, {.budget = 300});
    result.graph.validate();
    EXPECT_EQ(result.traced, gives_trace(method)) << method;
    const auto replayed = replay(graph, rule_set(), result.trace).hash();
    EXPECT_EQ(replayed, result.traced ? result.graph.hash() : graph.hash()) << method;
    EXPECT_DOUBLE_EQ(result.before_us, cost(graph)) << method;
    EXPECT_DOUBLE_EQ(result.after_us, cost(result.graph)) << method;
    EXPECT_LT(result.after_us, result.before_us) << method;
    EXPECT_LE(result.counters.candidates, 300) << method;
    ASSERT_GE(result.curve.size(), 2u) << method;
    EXPECT_EQ(result.curve.front().best_us, result.before_us) << method;
    EXPECT_NEAR(result.curve.back().best_us, result.after_us, 1e-6) << method;
    for (size_t k = 1; k < result.curve.size(); ++k)
      EXPECT_LT(result.curve[k].best_us, result.curve[k - 1].best_us) << method;
  }
}

TEST_F(SearchTest, EveryMethodIsReproducible) {
  const graph::Graph graph = chain(3);
  for (const auto& method : names()) {
    const Result a = run_on(method, graph, {.budget = 100, .seed = 5});
    const Result b = run_on(method, graph, {.budget = 100, .seed = 5});
    EXPECT_EQ(a.trace, b.trace) << method;
    EXPECT_EQ(a.after_us, b.after_us) << method;
  }
}

// Four relus are fused; each round prices what is left: 4 + 3 + 2 + 1 fusions, and the unfusings of those done.
TEST_F(SearchTest, GreedyFusesEverythingAndStops) {
  const Result result = run_on("greedy", chain(4));
  EXPECT_EQ(result.reason, StopReason::finished);
  EXPECT_EQ(result.counters.steps, 4);
  EXPECT_EQ(result.counters.candidates, 4 * 5);
  EXPECT_EQ(result.trace.size(), 4u);
  for (const graph::NodeId id : result.graph.order()) EXPECT_NE(result.graph.node(id).op(), Op::relu);
}

TEST_F(SearchTest, GreedyTakesTheBestOfSeveralRewrites) {
  graph::Editor e("g");
  const Value x = e.add_input("x", {ops::DType::f32, {64, 64}});
  const auto weight = [&](uint64_t seed) {
    return e.add_weight("w", graph::Blob::seeded({ops::DType::f32, {64, 64}}, seed, 0.1));
  };
  // The second relu is far larger than the first.
  const Value small = e.op(Op::relu, {e.op(Op::matmul, {x, weight(1)})});
  const Value wide = e.add_weight("wide", graph::Blob::seeded({ops::DType::f32, {64, 4096}}, 2, 0.1));
  e.add_output("a", small);
  e.add_output("b", e.op(Op::relu, {e.op(Op::matmul, {small, wide})}));
  const graph::Graph graph = *e.finish();
  const Result result = run_on("greedy", graph);
  ASSERT_EQ(result.trace.size(), 2u);
  EXPECT_EQ(result.trace[0], (rules::Rewrite{1, 1}));
  EXPECT_EQ(result.trace[1], (rules::Rewrite{1, 0}));
}

// One look at all four fusions, three of them priced again as they are followed; then a look at what they left.
TEST_F(SearchTest, SweepFollowsAllThatImproves) {
  const Result result = run_on("sweep", chain(4));
  EXPECT_EQ(result.reason, StopReason::finished);
  EXPECT_EQ(result.counters.candidates, 4 + 3 + 4);
  EXPECT_EQ(result.trace.size(), 4u);
  EXPECT_EQ(result.after_us, run_on("greedy", chain(4)).after_us);
}

// Prices of matmuls are unknown until they are flushed; until then they cost too much.
class Gathering : public cost::AnalyticCost {
 public:
  double op_us(const graph::Graph& graph, graph::NodeId id) override {
    const double us = AnalyticCost::op_us(graph, id);
    const auto& info = *graph.node(id).info;
    if (graph.node(id).op() != Op::matmul || known_.contains(info.signature_hash)) return us;
    if (!deferring_) ++measured_alone;
    if (!deferring_) known_.insert(info.signature_hash);
    if (!deferring_) return us;
    ++estimates_;
    unknown_.insert(info.signature_hash);
    return 1000 * us;
  }
  bool is_local() const override { return false; }  // so that answers are not kept
  bool defer() override { return !std::exchange(deferring_, true); }
  size_t deferred() const override { return estimates_; }
  bool flush() override {
    if (!unknown_.empty()) ++requests;
    if (may_measure) known_.insert(unknown_.begin(), unknown_.end());
    deferring_ = false;
    estimates_ = 0;
    return std::exchange(unknown_, {}).empty() || may_measure;
  }
  int requests = 0, measured_alone = 0;
  bool may_measure = true;

 private:
  std::set<uint64_t> known_, unknown_;
  bool deferring_ = false;
  size_t estimates_ = 0;
};

TEST_F(SearchTest, UnknownPricesOfAFrontAreMeasuredTogether) {
  for (const std::string method : {"greedy", "sweep", "taso", "beam"}) {
    Gathering cost;
    const Result result = run(method, {chain(4), rule_set(), cost}, {.budget = 300});
    EXPECT_EQ(cost.measured_alone, 1) << method;  // the matmul of the graph itself
    EXPECT_EQ(cost.requests, 1) << method;        // the fused one
    EXPECT_EQ(result.after_us, run_on(method, chain(4), {.budget = 300}).after_us) << method;
  }
}

TEST_F(SearchTest, EstimatesDecideNothing) {
  Gathering cost;
  cost.may_measure = false;
  const Result result = run("greedy", {chain(4), rule_set(), cost});
  EXPECT_EQ(result.reason, StopReason::finished);
  EXPECT_TRUE(result.trace.empty());  // fused matmuls cannot be priced
  EXPECT_EQ(cost.measured_alone, 1);
}

TEST_F(SearchTest, NothingToDoIsAResult) {
  graph::Editor e("g");
  e.add_output("y", e.add_input("x", {ops::DType::f32, {2}}));
  const graph::Graph graph = *e.finish();
  for (const auto& method : names()) {
    const Result result = run_on(method, graph);
    EXPECT_EQ(result.reason, StopReason::finished) << method;
    EXPECT_EQ(result.graph.hash(), graph.hash()) << method;
    EXPECT_TRUE(result.trace.empty()) << method;
    EXPECT_EQ(result.counters.candidates, 0) << method;
  }
}

TEST_F(SearchTest, BudgetEndsTheSearch) {
  for (const auto& method : names()) {
    const Result result = run_on(method, chain(4), {.budget = 3});
    EXPECT_EQ(result.reason, StopReason::budget) << method;
    EXPECT_EQ(result.counters.candidates + result.counters.refused, 3) << method;
    EXPECT_LE(result.after_us, result.before_us) << method;
  }
}

TEST_F(SearchTest, TheCallerCanStop) {
  for (const auto& method : names()) {
    int asked = 0;
    const Result result = run_on(method, chain(4), {.stop = [&] { return ++asked > 5; }});
    EXPECT_EQ(result.reason, StopReason::stopped) << method;
    EXPECT_LE(result.counters.candidates, 5) << method;
    EXPECT_GE(result.counters.candidates, 4) << method;  // greedy also asks between its rounds
  }
}

TEST_F(SearchTest, SeedsGiveOtherWalks) {
  const graph::Graph graph = chain(6);
  const Result a = run_on("random", graph, {.budget = 40, .seed = 1});
  const Result b = run_on("random", graph, {.budget = 40, .seed = 2});
  EXPECT_NE(a.trace, b.trace);
  EXPECT_EQ(a.counters.walks, 1);
  EXPECT_EQ(run_on("random", graph, {.budget = 40, .walk_length = 10}).counters.walks, 5);
}

// Only the first location of each rule is offered.
TEST_F(SearchTest, LocationLimitHolds) {
  const Result result = run_on("random", chain(6), {.budget = 200, .max_locations = 1});
  for (const rules::Rewrite& step : result.trace) EXPECT_EQ(step.location, 0);
  EXPECT_FALSE(result.trace.empty());
}

TEST_F(SearchTest, TasoGoesThroughDearerGraphs) {
  const auto rules = rules::RuleSet::parse(R"(
rule dearer
  ?y = (matmul ?x ?w act=relu)
  => ?y = (relu (matmul ?x ?w act=none))

rule cheaper
  ?y = (relu (matmul ?x ?w act=none))
  => ?y = (relu ?x)
)",
                                           "steps.rules");
  graph::Editor e("g");
  const Value x = e.add_input("x", {ops::DType::f32, {64, 64}});
  const Value w = e.add_weight("w", graph::Blob::seeded({ops::DType::f32, {64, 64}}, 1, 0.1));
  e.add_output("y", e.op(Op::matmul, {x, w}, {{ops::Attr::act, std::string("relu")}}));
  const graph::Graph graph = *e.finish();
  EXPECT_EQ(run("greedy", {graph, rules, cost_}).trace.size(), 0u);
  EXPECT_EQ(run("taso", {graph, rules, cost_}, {.alpha = 1.0}).trace.size(), 0u);
  EXPECT_EQ(run("taso", {graph, rules, cost_}, {.alpha = 3.0}).trace, (rules::Trace{{0, 0}, {1, 0}}));
}

TEST_F(SearchTest, TasoExhaustsSmallSpaces) {
  const Result result = run_on("taso", chain(4), {.alpha = 2.0});
  EXPECT_EQ(result.reason, StopReason::finished);
  EXPECT_EQ(result.counters.steps, 15);  // 2^4 graphs: each relu fused or not
  EXPECT_EQ(result.counters.candidates, 16 * 4);
  EXPECT_EQ(result.counters.duplicates, 16 * 4 - 15);
  EXPECT_EQ(result.trace.size(), 4u);
}

TEST_F(SearchTest, TasoCountsExpansionsAsTasoDoes) {
  const Result result = run_on("taso", chain(6), {.alpha = 1.5, .expansions = 3});
  EXPECT_EQ(result.reason, StopReason::budget);
  EXPECT_EQ(result.counters.candidates, 3 * 6);
}

TEST_F(SearchTest, TasoWithAlphaOneGoesOnFromImprovements) {
  const Result result = run_on("taso", chain(6), {.alpha = 1.0});
  EXPECT_EQ(result.trace.size(), 6u);  // all relus fused, and nothing that costs as much as the best is taken
  EXPECT_EQ(result.reason, StopReason::finished);
}

TEST_F(SearchTest, AnnealGoesThroughDearerGraphs) {
  const Result result = run("anneal", {chain(4), dearer_first(), cost_}, {.budget = 5000, .seed = 1});
  EXPECT_EQ(run("greedy", {chain(4), dearer_first(), cost_}).trace.size(), 0u);
  EXPECT_EQ(result.trace.size(), 8u);  // every relu, and nothing without success
  EXPECT_EQ(result.reason, StopReason::budget);
}

TEST_F(SearchTest, MetaflowSearchesPartsOfALongGraph) {
  const Result result = run_on("metaflow", chain(60), {.alpha = 1.0});
  EXPECT_EQ(result.trace.size(), 60u);
  EXPECT_EQ(result.reason, StopReason::finished);
}

TEST_F(SearchTest, WindowSearchesEqualWindowsOnce) {
  const Result few = run("window", {chain(8), dearer_first(), cost_}, {.budget = 100'000});
  const Result many = run("window", {chain(40), dearer_first(), cost_}, {.budget = 100'000});
  EXPECT_EQ(few.trace.size(), 16u);
  EXPECT_EQ(many.trace.size(), 80u);
  EXPECT_EQ(many.reason, StopReason::finished);
  EXPECT_EQ(many.curve.size(), few.curve.size());
}

// What pays at one layer is made at all.
TEST_F(SearchTest, AnnealMakesWhatPaysEverywhere) {
  const Result few = run("anneal", {chain(2), dearer_first(), cost_}, {.budget = 100'000, .seed = 1});
  const Result many = run("anneal", {chain(40), dearer_first(), cost_}, {.budget = 100'000, .seed = 1});
  ASSERT_EQ(many.curve.size(), few.curve.size());
  EXPECT_EQ(many.trace.size(), 20 * few.trace.size());
}

// Windows see what two rewrites do in each relu; annealing does not lose it, and nobody has anything left then.
TEST_F(SearchTest, PortfolioFindsWhatItsPartsFind) {
  const Result result = run("portfolio", {chain(40), dearer_first(), cost_}, {.budget = 100'000, .seed = 1});
  EXPECT_EQ(result.trace.size(), 80u);
  EXPECT_EQ(result.after_us, run("window", {chain(40), dearer_first(), cost_}).after_us);
}

TEST_F(SearchTest, PortfolioOfNothingEnds) {
  const Result result = run("portfolio", {chain(4), rules::RuleSet::parse("", "empty.rules"), cost_});
  EXPECT_EQ(result.reason, StopReason::finished);
  EXPECT_EQ(result.counters.candidates, 0);
}

TEST_F(SearchTest, MinimisingEndsWhenItIsAsked) {
  Options options{.budget = 2000, .seed = 3, .minimal = true};
  EXPECT_EQ(run_on("random", chain(6), options).note, "");
  options.stop_minimising = [] { return true; };
  const Result cut = run_on("random", chain(6), options);
  EXPECT_NE(cut.note.find("may hold redundant rewrites"), std::string::npos);
  EXPECT_EQ(replay(chain(6), rule_set(), cut.trace).hash(), cut.graph.hash());
}

// 300 relus are fused as one edit; a few are fused one by one, as without.
TEST_F(SearchTest, ASweepMakesManyRewritesTogether) {
  const Result found = run_on("sweep", chain(300), {.max_locations = 10, .together = true, .minimal = true});
  ASSERT_EQ(found.trace.size(), 300u);
  EXPECT_GE(found.trace[0].location, 0);
  EXPECT_TRUE(std::all_of(found.trace.begin() + 1, found.trace.end(), [](const auto& r) { return r.location < 0; }));
  EXPECT_EQ(found.graph.size(), 1u + 2 * 300);
  EXPECT_EQ(replay(chain(300), rule_set(), found.trace).hash(), found.graph.hash());
  EXPECT_DOUBLE_EQ(found.after_us, cost(found.graph));
  EXPECT_EQ(run_on("sweep", chain(4), {.together = true}).trace, run_on("sweep", chain(4), {}).trace);
}

TEST_F(SearchTest, ThreadsGiveTheSameEveryTime) {
  for (const std::string method : {"taso", "beam", "anneal", "portfolio"}) {
    const Result one = run_on(method, chain(8), {.budget = 500, .threads = 1});
    const Result a = run_on(method, chain(8), {.budget = 500, .threads = 3});
    const Result b = run_on(method, chain(8), {.budget = 500, .threads = 3});
    EXPECT_EQ(a.trace, b.trace) << method;
    EXPECT_EQ(a.counters.duplicates, b.counters.duplicates) << method;
    EXPECT_EQ(a.after_us, one.after_us) << method;  // all relus fused
  }
}

TEST_F(SearchTest, ErrorsInThreadsReachTheCaller) {
  class Broken : public cost::AnalyticCost {
   public:
    double op_us(const graph::Graph& graph, graph::NodeId id) override {
      if (graph.node(id).op() == Op::matmul && graph.node(id).attrs().word(ops::Attr::act) == "relu") fail("no price");
      return AnalyticCost::op_us(graph, id);
    }
  } broken;
  const graph::Graph graph = chain(4);
  EXPECT_EQ(error_of([&] { run("beam", {graph, rule_set(), broken}, {.threads = 2}); }), "no price");
}

TEST_F(SearchTest, MemoryBoundDropsTheWorst) {
  const Result free = run_on("taso", chain(10), {.budget = 3000, .alpha = 2.0});
  const Result bound = run_on("taso", chain(10), {.budget = 3000, .alpha = 2.0, .memory_mib = 0.1});
  EXPECT_EQ(free.counters.dropped, 0);
  EXPECT_GT(bound.counters.dropped, 0);
  EXPECT_EQ(bound.after_us, free.after_us);
}

TEST_F(SearchTest, BeamKeepsTheCheapest) {
  const Result narrow = run_on("beam", chain(6), {.budget = 1000, .beam_width = 1});
  EXPECT_EQ(narrow.trace.size(), 6u);
  EXPECT_EQ(narrow.reason, StopReason::finished);  // around the best all are known
}

TEST_F(SearchTest, BadOptionsAndNamesAreErrors) {
  const graph::Graph graph = chain(1);
  EXPECT_EQ(error_of([&] { run_on("greeedy", graph); }),
            "no search method named 'greeedy' (did you mean 'greedy'?); there are greedy, sweep, taso, anneal, window, "
            "portfolio, metaflow, beam, random, egraph");
  EXPECT_EQ(error_of([&] { run_on("greedy", graph, {.budget = 0}); }),
            "option 'search.budget': 0 is out of bounds (>= 1)");
  EXPECT_EQ(error_of([&] { run_on("random", graph, {.walk_length = -1}); }),
            "option 'search.walk-length': -1 is out of bounds (1..1000000)");
  EXPECT_EQ(error_of([&] { run_on("taso", graph, {.alpha = 0.9}); }),
            "option 'search.alpha': 0.9 is out of bounds ([1, 1000000])");
  EXPECT_EQ(error_of([&] { run_on("taso", graph, {.threads = 0}); }),
            "option 'search.threads': 0 is out of bounds (1..1024)");
}

TEST_F(SearchTest, TracesThatDoNotApplyAreErrors) {
  const graph::Graph graph = chain(2);
  const rules::Trace unknown{{7, 0}}, far{{1, 0}, {1, 1}}, negative{{1, -1}};
  EXPECT_EQ(error_of([&] { replay(graph, rule_set(), unknown); }), "trace, step 1: no rule has the number 7");
  EXPECT_EQ(error_of([&] { replay(graph, rule_set(), far); }),
            "trace, step 2: rule 'fuse-matmul-relu' has 1 locations here, and not number 1");
  EXPECT_NE(error_of([&] { replay(graph, rule_set(), negative); }), "no error");
  EXPECT_EQ(replay(graph, rule_set(), {}).hash(), graph.hash());
}

}  // namespace
}  // namespace rlgo::search
