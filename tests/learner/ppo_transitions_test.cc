#include "learner/ppo/transitions.h"

#include <gtest/gtest.h>

#include "tests/support/rollout.h"
#include "tests/support/toy_env.h"

namespace rlgo::learner {
namespace {

using test::HillToy;

class Played : public testing::TestWithParam<nets::Block> {
 protected:
  Played() {
    auto envs = test::copies<HillToy>(4);
    played = test::play(agent, envs, 60, 1);
    data = flatten(played, *agent, true, {});
    data.proximal_log_prob = data.old_log_prob + 1;  // e times as likely: the weight is cut at 2
    data.advantage = torch::arange(data.count()).to(torch::kFloat32);
    data.returns = data.advantage + 1;
    for (const auto& t : played)
      for (const auto& step : t.steps) steps.push_back(&step);
  }
  nets::ActorCritic agent{HillToy().spec(), nets::AgentOptions{.rounds = 1, .width = 16, .block = GetParam()}, 1};
  std::vector<mdp::Trajectory> played;
  std::vector<const mdp::Step*> steps;
  Transitions data;
};
INSTANTIATE_TEST_SUITE_P(Blocks, Played, testing::Values(nets::Block::full, nets::Block::local));

TEST_P(Played, LossInputsOfAMinibatchAreThoseOfItsSteps) {
  const LossInputs all(data, torch::kCPU, torch::kFloat32);
  const auto in = all.at(torch::tensor({7, 3}, torch::kInt64));
  EXPECT_EQ(in.old_log_prob()[0].item<float>(), steps[7]->log_prob_rule + steps[7]->log_prob_location);
  EXPECT_EQ(in.old_value_rule()[1].item<float>(), steps[3]->value_rule);
  EXPECT_EQ(in.old_value_location()[0].item<float>(), steps[7]->value_location);
  EXPECT_EQ(in.weighted_advantage()[1].item<float>(), 6.0f);
  EXPECT_EQ(in.returns()[0].item<float>(), 8.0f);
}

// Bit for bit what collating its observations and asking about its actions gives.
void expect_the_same(nets::ActorCritic& agent, const Transitions& data, const std::vector<const mdp::Step*>& steps,
                     const Pass::Minibatch& m) {
  std::vector<const mdp::Observation*> seen;
  std::vector<const nets::RowIds*> rows;
  std::vector<mdp::Action> actions;
  for (const int64_t i : m.chosen) {
    const auto at = static_cast<size_t>(i);
    seen.push_back(&steps[at]->observation), actions.push_back(steps[at]->action);
    if (data.table) rows.push_back(&data.rows[at]);
  }
  const auto batch =
      data.table ? nets::collate(seen, agent->spec(), *data.table, rows) : nets::collate(seen, agent->spec());
  const auto a = agent->evaluate(m.batch, m.actions), b = agent->evaluate(batch, actions);
  EXPECT_TRUE(torch::equal(a.log_prob(), b.log_prob()));
  EXPECT_TRUE(torch::equal(a.entropy(), b.entropy()));
  EXPECT_TRUE(torch::equal(a.value_location, b.value_location));
}

TEST_P(Played, MinibatchesAreThoseOfTheirSteps) {
  for (const bool whole : {false, true}) {
    if (whole) join_whole(data, *agent);
    EXPECT_EQ(data.whole.has_value(), whole && !data.table);
    Pass pass(data, *agent, {{9, 2, 30}, {}, {5}}, {});
    expect_the_same(agent, data, steps, pass.next());
    EXPECT_TRUE(pass.next().chosen.empty());
    expect_the_same(agent, data, steps, pass.next());
  }
}

}  // namespace
}  // namespace rlgo::learner
