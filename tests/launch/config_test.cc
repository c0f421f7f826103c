#include "launch/train/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/file.h"

namespace rlgo::launch {
namespace {

using testing::HasSubstr;

TEST(RunConfig, DefaultsAreWithinTheirOwnBoundsAndReadBack) {
  RunConfig a, b;
  Options first, second;
  declare(first, a);
  declare(second, b);
  second.parse_config(first.dump(), "dump", Source::file);
  EXPECT_EQ(first.dump(), second.dump());
}

TEST(RunConfig, ADumpOfTheFirstVersionIsReadWhole) {
  RunConfig config;
  Options options;
  declare(options, config);
  options.parse_config(read_file("tests/data/killed-run/config.cfg"), "config.cfg", Source::resumed);
  EXPECT_EQ(config.model.graph, "toy_conv");
  EXPECT_EQ(config.dream.dream.temperature, 1);
  EXPECT_EQ(config.check.seeds, 2);
  EXPECT_THAT(options.notice(), HasSubstr("config.cfg: "));
}

TEST(RunConfig, PartsThatFollowFromOthers) {
  RunConfig config;
  config.agent = Agent::hybrid;
  config.network.width = 32;
  config.env.max_steps = 7;
  const auto dream = dream_agent_options(config);
  EXPECT_TRUE(dream.hybrid);
  EXPECT_EQ(dream.world.encoder.width, 32);
  EXPECT_EQ(dream.dream.max_steps, 7);  // shorter than the 10 of a branch
  EXPECT_EQ(config.dream.length, 10);   // what was asked for stays in the dump
}

TEST(RunConfig, ChecksWhatSingleOptionsCannot) {
  RunConfig config;
  EXPECT_THROW(check(config), Error);  // no graph
  config.model.graph = "toy_conv";
  EXPECT_NO_THROW(check(config));
  for (const char* name : {"a/b", "..", "."}) {
    config.name = name;
    EXPECT_THROW(check(config), Error) << name;
  }
  config.name = "";
  config.dream.store = "elsewhere";  // without --wm.data store
  EXPECT_THROW(check(config), Error);
}

}  // namespace
}  // namespace rlgo::launch
