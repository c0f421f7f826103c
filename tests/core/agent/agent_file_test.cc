#include "core/agent/agent_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/rng.h"
#include "core/base/temporary_folder.h"

namespace rlgo::agent {
namespace {

AgentFile example() {
  AgentFile file;
  file.spec = {.ops = 3,
               .node_features = 2,
               .edge_features = 1,
               .global_features = 1,
               .rules = 2,
               .max_locations = 5,
               .rule_names = {"a", "b"},
               .location_features = 2,
               .nonlocal_node_features = {1}};
  file.shape = {.rounds = 1, .width = 4, .mean_pooling = false, .pointer = false};
  file.tensors["w"] = {{2, 2}, {1, -2, 0.5f, 3e-8f}};
  file.tensors["scalar"] = {{}, {7}};
  file.about["command"] = "rlgo imitate";
  return file;
}

TEST(AgentFile, ComesBackFromItsFile) {
  const TemporaryFolder folder("rlgo-agent-file");
  save(example(), folder.path() / "agent");
  EXPECT_EQ(load_agent(folder.path() / "agent"), example());
}

// Cut off anywhere, or with any byte changed, a file is refused; nothing is read past its end.
TEST(AgentFile, DamageIsRefused) {
  const std::string bytes = encode(example());
  for (size_t size = 0; size < bytes.size(); ++size) EXPECT_THROW(decode_agent(bytes.substr(0, size)), Error) << size;
  Rng rng({1});
  for (size_t k = 0; k < bytes.size(); ++k) {
    std::string damaged = bytes;
    damaged[k] = static_cast<char>(damaged[k] ^ static_cast<char>(1 + rng.below(255)));
    EXPECT_THROW(decode_agent(damaged), Error) << k;
  }
}

TEST(AgentFile, ErrorsNameTheFileAndARemedy) {
  const TemporaryFolder folder("rlgo-agent-file");
  const auto refusal = [&](const std::string& name) -> std::string {
    try {
      load_agent(folder.path() / name);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(refusal("none"), testing::HasSubstr("none"));
  atomic_write(folder.path() / "text", "no agent");
  EXPECT_THAT(refusal("text"),
              testing::AllOf(testing::HasSubstr("text: this is no agent file"), testing::HasSubstr("rlgo imitate")));
  std::string later = encode(example());
  later[std::string_view("rlgo-agent").size()] = 2;  // the version
  atomic_write(folder.path() / "later", later);
  EXPECT_THAT(refusal("later"),
              testing::AllOf(testing::HasSubstr("later: "), testing::HasSubstr("version 2, this rlgo reads 1")));
}

}  // namespace
}  // namespace rlgo::agent
