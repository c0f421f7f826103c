#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>

#include "core/comm/device_group.h"
#include "launch/commands/command.h"
#include "launch/train/followers.h"
#include "launch/train/roles.h"

namespace rlgo::launch {
namespace {

// LibTorch throws c10::Error, the library bad_alloc: no Errors of rlgo's, and the first learner must know all the same.
TEST(Followers, ErrorsOfAnyTypeAreReported) {
  const auto comms = comm::local_comms(2);
  comm::Mailbox leader(*comms[0]), box(*comms[1]);
  EXPECT_THROW(as_follower(box, 2, []() -> int { throw std::runtime_error("CUDA out of memory"); }),
               std::runtime_error);
  const auto received = leader.take(comm::Tag::stop, 1);
  ASSERT_TRUE(received);
  EXPECT_EQ(received->payload, "CUDA out of memory");
}

TEST(Followers, SilenceOfAnotherAsksForARestart) {
  const auto comms = comm::local_comms(2);
  comm::Mailbox leader(*comms[0]), box(*comms[1]);
  EXPECT_EQ(as_follower(box, 2, []() -> int { throw comm::NoAnswer("rank 0 is silent"); }), kRestartStatus);
  EXPECT_FALSE(leader.take(comm::Tag::stop, 1));
  EXPECT_EQ(as_follower(box, 2, [] { return 0; }), 0);
}

// What cuBLAS and NCCL read at their first use, so before any device is looked at.
TEST(Reproducible, SetsTheVariablesOfTheLibraries) {
  RunConfig config;
  for (const char* name : {"CUBLAS_WORKSPACE_CONFIG", "NCCL_ALGO"}) ::unsetenv(name);
  make_reproducible(config);
  EXPECT_EQ(std::getenv("NCCL_ALGO"), nullptr);
  config.loop.reproducible = true;
  make_reproducible(config);
  EXPECT_STREQ(std::getenv("CUBLAS_WORKSPACE_CONFIG"), ":4096:8");
  EXPECT_STREQ(std::getenv("NCCL_ALGO"), "Ring");
}

}  // namespace
}  // namespace rlgo::launch
