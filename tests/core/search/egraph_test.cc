#include "core/search/egraph.h"

#include <gtest/gtest.h>

#include "core/base/file.h"
#include "core/cost/analytic.h"
#include "core/cost/profile.h"
#include "core/search/milp.h"
#include "core/search/search.h"
#include "core/verify/equivalence.h"
#include "core/zoo/zoo.h"
#include "tests/support/matmul_rules.h"
#include "tests/support/small_zoo.h"

namespace rlgo::search {
namespace {

using graph::Value;
using ops::Op;

const char* kTwice = R"(
rule neg-twice
  ?y = (neg (neg ?x))
  => ?y = ?x
)";

std::shared_ptr<const rules::RuleSet> parse(const std::string& text) {
  return rules::RuleSet::parse(text, "test.rules");
}

std::shared_ptr<const rules::RuleSet> base_rules() {
  const std::array<std::filesystem::path, 1> files{"configs/rules/base.rules"};
  return rules::RuleSet::load(files);
}

cost::AnalyticCost gpu() {
  return cost::AnalyticCost(cost::parse_profile(read_file("configs/costs/gpu.cost"), "gpu.cost"), "gpu");
}

// relu(x u), relu(x v), relu(x w) of x[4,32].
graph::Graph three_products() {
  graph::Editor e("three");
  const Value x = e.add_input("x", {ops::DType::f32, {4, 32}});
  for (uint64_t k = 0; k < 3; ++k) {
    const auto blob = graph::Blob::seeded({ops::DType::f32, {32, 32}}, k, 0.1);
    const std::string number = std::to_string(k);
    e.add_output("y" + number, e.op(Op::relu, {e.op(Op::matmul, {x, e.add_weight("w" + number, blob)})}));
  }
  return *e.finish();
}

TEST(EGraph, HoldsTheGraphItWasMadeOf) {
  const graph::Graph graph = three_products();
  const EGraph egraph(graph);
  EXPECT_EQ(egraph.size(), graph.size());
  EXPECT_EQ(egraph.classes().size(), graph.size());  // no operator with several outputs
  EXPECT_EQ(egraph.roots().size(), 3u);
  EXPECT_EQ(egraph.graph().hash(), graph.hash());
}

// An exhausted queue has seen every graph that the rules reach: its best is the optimum.
TEST(EGraph, ProvesTheOptimumThatExhaustionFinds) {
  auto cost = gpu();
  const graph::Graph graph = three_products();
  const Result all = run("taso", {graph, parse(kMatmulRules), cost}, {.budget = 100'000, .alpha = 10});
  ASSERT_EQ(all.reason, StopReason::finished);
  const Result found = run("egraph", {graph, parse(kMatmulRules), cost}, {.egraph_rounds = 3});
  EXPECT_EQ(found.reason, StopReason::finished);
  EXPECT_TRUE(found.optimal);
  EXPECT_NEAR(found.after_us, all.after_us, 1e-6);
  EXPECT_NEAR(found.bound_us, found.after_us, 1e-6);
}

// The gates of a cell become one product only by a rule that replaces two.
TEST(EGraph, RulesOfSeveralRootsAreBounded) {
  auto cost = gpu();
  const graph::Graph graph = zoo::make("nasrnn", {.sequence = 1});
  const Result none = run("egraph", {graph, base_rules(), cost}, {.egraph_nodes = 2000, .egraph_rounds = 0});
  const Result merged = run("egraph", {graph, base_rules(), cost}, {.egraph_nodes = 2000, .egraph_rounds = 1});
  EXPECT_LT(merged.after_us, none.after_us);
}

// x and neg(neg(x)) are one class, which the outer neg would compute from itself.
TEST(EGraph, CyclesAreLeftOut) {
  auto cost = gpu();
  graph::Editor e("twice");
  const Value x = e.add_input("x", {ops::DType::f32, {4, 32}});
  e.add_output("y", e.op(Op::relu, {e.op(Op::neg, {e.op(Op::neg, {x})})}));
  const Result found = run("egraph", {*e.finish(), parse(kTwice), cost});
  EXPECT_EQ(found.graph.size(), 2u);  // x, relu
  EXPECT_TRUE(found.optimal);
  EXPECT_NE(found.note.find(" 1 left out for cycles"), std::string::npos) << found.note;
}

TEST(EGraph, NodesAndBudgetBoundSaturation) {
  auto cost = gpu();
  const graph::Graph graph = zoo::make("bert", {.layers = 1, .sequence = 8});
  const Result small = run("egraph", {graph, base_rules(), cost}, {.egraph_nodes = 80});
  EXPECT_EQ(small.reason, StopReason::budget);
  EXPECT_EQ(run("egraph", {graph, base_rules(), cost}, {.budget = 5}).counters.candidates, 5);
}

// Every kind of operator of the zoo goes through extraction; what comes out computes the same.
TEST(EGraph, ExtractedGraphsComputeTheSame) {
  auto cost = gpu();
  for (const char* name : {"toy_attention", "toy_residual", "bert", "nasnet_a", "squeezenet1_1"}) {
    const graph::Graph graph = zoo::make(name, small_options(name));
    const Result found = run("egraph", {graph, base_rules(), cost}, {.egraph_nodes = 1500, .egraph_seconds = 2});
    EXPECT_LT(found.after_us, found.before_us) << name;
    EXPECT_LE(found.bound_us, found.after_us) << name;
    found.graph.validate();
    verify::EquivalenceOptions options;
    options.seeds = 1;
    options.f64 = true;
    const auto same = verify::equivalence(graph, found.graph, options);
    EXPECT_TRUE(same.within(1e-5)) << name << ": " << same.max_rel_error << " " << same.reason;
  }
}

// Cover {1, 2, 3}: one set of all for 5, or {1, 2} for 2 and {2, 3} for 2.
TEST(Milp, CheapestCover) {
  BinaryProgram program;
  program.costs = {5, 2, 2};
  program.start = {1, 0, 0};
  program.rows = {{{{0, 1}, {1, 1}}, 1}, {{{0, 1}, {1, 1}, {2, 1}}, 1}, {{{0, 1}, {2, 1}}, 1}};
  const auto found = minimise(program, 10);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->values, (std::vector<int>{0, 1, 1}));
  EXPECT_TRUE(found->optimal);
  EXPECT_DOUBLE_EQ(found->bound, 4);
}

}  // namespace
}  // namespace rlgo::search
