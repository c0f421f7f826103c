#include "learner/session/imitation.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/cost/analytic.h"
#include "core/env/features.h"
#include "core/graph/editor.h"
#include "core/prior/agent_prior.h"

namespace rlgo::learner {
namespace {

using graph::Value;
using ops::Op;

// The first rewrite costs, the second pays for both; the third only costs.
std::shared_ptr<const rules::RuleSet> rule_set() {
  return rules::RuleSet::parse(R"(
rule dearer
  ?y = (relu (matmul ?x ?w act=none))
  => ?y = (relu (abs (matmul ?x ?w act=none)))

rule cheaper
  ?y = (relu (abs (matmul ?x ?w act=none)))
  => ?y = (matmul ?x ?w act=relu)

rule worse
  ?y = (relu (matmul ?x ?w act=none))
  => ?y = (relu (sigmoid (matmul ?x ?w act=none)))
)",
                               "imitation.rules");
}

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

const ImitationOptions kOptions{.budget = 2000, .epochs = 15, .rate = 0.01, .held_out = 0, .seed = 3};

std::vector<Lesson> lessons_of(const graph::Graph& graph) {
  std::vector<Lesson> lessons;
  const double share = add_lessons(graph, rule_set(), std::make_shared<cost::AnalyticCost>(), kOptions, 3, 0, lessons);
  EXPECT_LT(share, 1);
  return lessons;
}

TEST(Imitation, LessonsAreTheRewritesThatPaid) {
  const auto lessons = lessons_of(chain(4));
  ASSERT_GE(lessons.size(), 2u);
  for (const auto& lesson : lessons) {
    ASSERT_FALSE(lesson.right.empty());
    const auto& counts = lesson.observation.counts;
    for (const int32_t place : lesson.right) EXPECT_LT(place, counts[0] + counts[1]);  // never "worse"
    EXPECT_GT(lesson.unit, 0);
  }
}

// An agent that has learned draws what paid more often than a heat bath does, and says so to a search.
TEST(Imitation, LearnsWhatPaid) {
  const auto rules = rule_set();
  ImitationReport report;
  const auto agent = imitate(
      lessons_of(chain(4)), env::observation_spec(*rules, 200), {.rounds = 1, .width = 16}, kOptions,
      [](const std::string&) {}, [] { return false; }, report);
  EXPECT_LT(report.loss, report.loss_before - 0.2);
  const auto graph = chain(3);
  cost::AnalyticCost cost;
  const double us = cost::graph_cost(cost, graph).runtime_us;
  const search::State start{graph, rules::MatchIndex(rules, graph), graph::NameHash(graph), us, 0, nullptr};
  const search::Walk walk(start, cost, cost, 200, [] { return true; });
  const auto prior = prior::make_prior(agent, "agent", *rules, 200);
  const auto& learned = prior->rank(walk, {us, us, us}).learned;
  ASSERT_EQ(learned.size(), 6u);
  for (size_t k = 0; k < 3; ++k) EXPECT_GT(learned[k], learned[3 + k]);  // "dearer" before "worse"
}

// What cannot be written at the end is refused at the beginning; what was ended before it learned is not written.
TEST(Imitation, RefusesBeforeTheWork) {
  const auto lessons = lessons_of(chain(2));
  const auto spec = env::observation_spec(*rule_set(), 200);
  const nets::AgentOptions full{.block = nets::Block::full};
  const auto say = [](const std::string&) { FAIL(); };
  ImitationReport report;
  EXPECT_THROW(imitate(
                   lessons, spec, full, kOptions, say, [] { return false; }, report),
               Error);
  EXPECT_THROW(imitate(
                   lessons, spec, {.rounds = 1, .width = 8}, kOptions, say, [] { return true; }, report),
               Error);
  auto unknown = kOptions;
  unknown.profiles = {"cpu", "moon"};
  const graph::Graph graphs[] = {chain(2)};
  const std::string names[] = {"chain"};
  EXPECT_THROW(imitate(
                   graphs, names, rule_set(), {}, unknown, say, [] { return false; }, report),
               Error);
}

TEST(Imitation, NothingFoundIsAnError) {
  ImitationReport report;
  EXPECT_THROW(imitate(
                   {}, env::observation_spec(*rule_set(), 200), {}, kOptions, [](const std::string&) {},
                   [] { return false; }, report),
               Error);
}

}  // namespace
}  // namespace rlgo::learner
