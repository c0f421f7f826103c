#include "learner/session/agent_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"

namespace rlgo::learner {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

struct Agent {
  DreamAgentOptions dream;
  nets::AgentOptions network;
  env::EnvOptions env;
  bool world_model = false;
};

void refused(const Agent& a, const std::string& first, const std::string& second) {
  EXPECT_THAT([&] { check_agent(a.dream, a.network, a.env, a.world_model); },
              ThrowsMessage<Error>(HasSubstr(first + " with " + second)));
}

TEST(CheckAgent, ContradictionsNameThePair) {
  Agent a;
  EXPECT_NO_THROW(check_agent(a.dream, a.network, a.env, false));
  a.env.prices_locations = false;
  EXPECT_NO_THROW(check_agent(a.dream, a.network, a.env, false));
  a.network.beta = 3;
  refused(a, "--policy.beta 3", "--policy.prices no");
  a.network.beta = nets::kBeta;
  a.env.window = 40;
  refused(a, "--env.window 40", "--policy.prices no");
  a = {};
  a.env.candidates = true;
  a.network.location_head = nets::LocationHead::index;
  refused(a, "--policy.candidates", "--policy.location-head index");
  a.network = {.head = nets::PolicyHead::flat};
  refused(a, "--policy.candidates", "--policy.head flat");
}

TEST(CheckAgent, AWorldModelThatSeesLocationsNeedsPricesAndALocalBlock) {
  Agent a{.dream = {}, .network = {.head = nets::PolicyHead::staged}, .env = {}, .world_model = true};
  refused(a, "--policy.head staged", "--wm.locations true");
  a.network = {.block = nets::Block::gat};
  refused(a, "--gnn.block gat", "--wm.locations true");
  a.network = {};
  a.env.prices_locations = false;
  refused(a, "--policy.prices no", "--wm.locations true");
  a.dream.world.locations = false;
  a.network = {.head = nets::PolicyHead::staged, .block = nets::Block::gat};
  EXPECT_NO_THROW(check_agent(a.dream, a.network, a.env, true));
  a.network.head = nets::PolicyHead::flat;
  refused(a, "--policy.head flat", "an agent that has a world model");
}

TEST(AgentForm, NamesWhatDiffersFromRlgosOwn) {
  Agent a;
  EXPECT_EQ(agent_form(a.dream, a.network, a.env, false), "");
  a.env.prices_locations = false;
  a.network.head = nets::PolicyHead::staged;
  a.network.block = nets::Block::gat;
  EXPECT_EQ(agent_form(a.dream, a.network, a.env, false), " (prices hidden, head staged, block gat)");
  a.dream.world.locations = false;
  a.dream.encoder = EncoderSource::autoencoder;
  EXPECT_EQ(agent_form(a.dream, a.network, a.env, true),
            " (prices hidden, locations as numbers, block full, encoder autoencoder)");
}

}  // namespace
}  // namespace rlgo::learner
