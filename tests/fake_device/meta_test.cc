// Forward and backward on LibTorch's meta device, which has shapes and no numbers: whatever reads a number there (item,
// nonzero, a copy to the host) throws, and on a GPU would make the host wait.
#include <gtest/gtest.h>

#include "core/nets/actor_critic.h"
#include "core/nets/world_model.h"
#include "learner/dream/loss.h"
#include "learner/ppo/loss.h"
#include "tests/fake_device/_fake_device.h"
#include "tests/support/rollout.h"
#include "tests/support/toy_env.h"

namespace rlgo::learner {
namespace {

using test::HillToy;
const torch::Device kMeta(torch::kMeta);

std::vector<mdp::Trajectory> play(nets::Block block) {
  nets::ActorCritic agent(HillToy().spec(), nets::AgentOptions{.rounds = 2, .width = 16, .block = block}, 1);
  auto envs = test::copies<HillToy>(4);
  return test::play(agent, envs, 40, 1);
}

class Meta : public testing::TestWithParam<nets::Block> {};
INSTANTIATE_TEST_SUITE_P(Encoders, Meta, testing::Values(nets::Block::full, nets::Block::local));

TEST_P(Meta, ThePolicyReadsNothing) {
  nets::ActorCritic agent(HillToy().spec(), nets::AgentOptions{.rounds = 2, .width = 16, .block = GetParam()}, 1);
  test::to_fake_device(*agent, kMeta);
  const auto data = play(GetParam());
  std::vector<const mdp::Observation*> seen;
  for (const auto& step : data[0].steps) seen.push_back(&step.observation);
  const auto batch = nets::collate(seen, agent->spec(), kMeta);
  const auto rows = torch::zeros({batch.graphs}, torch::TensorOptions(kMeta).dtype(torch::kInt64));
  const auto numbers = torch::zeros({batch.graphs}, torch::TensorOptions(kMeta));
  const auto e = agent->evaluate(batch, nets::ActionRows{rows, rows});
  const auto loss = policy_loss(e.log_prob() - numbers, numbers, 0.2) +
                    value_loss(e.value_rule, numbers, numbers, 0.2) +
                    value_loss(e.value_location, numbers, numbers, 0.2) - e.entropy().mean();
  loss.backward();
  EXPECT_TRUE(agent->parameters()[0].grad().is_meta());
}

TEST(MetaWorld, TheModelReadsNothing) {
  nets::WorldOptions o;
  o.encoder = {.rounds = 1, .width = 16};
  o.hidden = 16;
  nets::WorldModel model(HillToy().spec(), o, 3);
  test::to_fake_device(*model, kMeta);
  const auto spec = model->spec();
  const auto numbers = [](std::vector<int64_t> size) { return torch::zeros(size, torch::TensorOptions(kMeta)); };
  const nets::WorldInput input{numbers({4, 2, 16}),
                               numbers({4, 2, spec.rules}),
                               torch::zeros({4, 2}, torch::TensorOptions(kMeta).dtype(torch::kInt64)),
                               numbers({4, 2, 2}),
                               {},
                               {}};
  auto memory = model->blank(2);
  for (int64_t t = 0; t < 2; ++t) {
    const auto p = model->sequence(input, memory);
    (latent_loss(p.z, numbers({4, 2, 16}), numbers({4, 2})) +
     terminal_loss(p.terminal, numbers({4, 2}), numbers({4, 2}), 1.0))
        .backward();
    memory = {memory.h.detach(), memory.c.detach()};
  }
  EXPECT_TRUE(memory.h.is_meta());
}

// The test above would see it.
TEST(MetaWorld, AReadThrows) {
  const auto x = torch::zeros({3}, torch::TensorOptions(kMeta));
  EXPECT_ANY_THROW(x.sum().item<float>());
  EXPECT_ANY_THROW(x.nonzero());
}

}  // namespace
}  // namespace rlgo::learner
