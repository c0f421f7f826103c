#include "learner/session/actor_rank.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/comm/device_group.h"

namespace rlgo::learner {
namespace {

using comm::Tag;

bool never() { return false; }

TEST(WaitForStart, ASilentRank0IsAnErrorBeforeTheRunHasBegun) {
  const auto comms = comm::local_comms(2);
  comm::Mailbox box(*comms[1]);
  EXPECT_THROW(wait_for_start(box, Tag::costs, 0.01, never), comm::NoAnswer);
}

TEST(WaitForStart, BeginsBehindSignsOfLife) {
  const auto comms = comm::local_comms(2);
  comm::Mailbox rank0(*comms[0]), box(*comms[1]);
  for (int i = 0; i < 5; ++i) rank0.send(1, Tag::heartbeat, "");
  rank0.send(1, Tag::costs, "prices");
  const auto start = wait_for_start(box, Tag::costs, 100, never);
  ASSERT_TRUE(start);
  EXPECT_EQ(start->payload, "prices");
}

TEST(WaitForStart, StopsWhereRank0AsksForIt) {
  const auto comms = comm::local_comms(2);
  comm::Mailbox rank0(*comms[0]), box(*comms[1]);
  rank0.send(1, Tag::stop, "failed");
  EXPECT_FALSE(wait_for_start(box, Tag::costs, 100, never));
  EXPECT_FALSE(wait_for_start(box, Tag::costs, 100, [] { return true; }));
}

}  // namespace
}  // namespace rlgo::learner
