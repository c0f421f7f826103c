#include "core/comm/device_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "core/base/error.h"

namespace rlgo::comm {
namespace {

// Runs the group on `ranks` threads; result[r] is what rank r ends with. Rank r starts with value(r, i).
std::vector<std::vector<float>> reduce(int ranks, size_t count, float (*value)(int, size_t)) {
  auto comms = local_comms(ranks);
  std::vector<int> members;
  for (int rank = 0; rank < ranks; ++rank) members.push_back(rank);
  std::vector<std::vector<float>> result(static_cast<size_t>(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      Mailbox mailbox(*comms[static_cast<size_t>(rank)]);
      const auto group = ring_group(mailbox, members);
      auto& data = result[static_cast<size_t>(rank)];
      for (size_t i = 0; i < count; ++i) data.push_back(value(rank, i));
      group->all_reduce_sum(data.data(), count);
      mailbox.flush(10);
    });
  }
  for (auto& thread : threads) thread.join();
  return result;
}

TEST(RingGroup, EqualsTheSum) {
  for (int ranks : {1, 2, 3, 4}) {
    for (size_t count : {0u, 1u, 2u, 5u, 1000u}) {
      const auto result =
          reduce(ranks, count, [](int rank, size_t i) { return static_cast<float>(rank + 1) * static_cast<float>(i); });
      for (const auto& data : result) {
        ASSERT_EQ(data.size(), count);
        for (size_t i = 0; i < count; ++i)
          EXPECT_EQ(data[i], static_cast<float>(ranks * (ranks + 1) / 2) * static_cast<float>(i));
      }
    }
  }
}

TEST(RingGroup, IsTheSameOnAllRanksBitForBit) {
  const auto result = reduce(
      4, 1003, [](int rank, size_t i) { return std::sin(static_cast<float>(rank * 1003) + static_cast<float>(i)); });
  for (const auto& data : result) EXPECT_EQ(data, result[0]);
}

TEST(RingGroup, SilentNeighbourIsAnError) {
  auto comms = local_comms(2);
  Mailbox mailbox(*comms[0]);
  const auto group = ring_group(mailbox, {0, 1}, {.timeout_s = 0.02, .transport = ""});
  float value = 1;
  EXPECT_THROW(group->all_reduce_sum(&value, 1), NoAnswer);
  EXPECT_THROW(ring_group(mailbox, {1}), Error);
}

// Long buffers go round the ring, short ones from each to each; doubles keep what floats lose.
TEST(RingGroup, DoublesOfAnyLength) {
  auto comms = local_comms(3);
  std::vector<std::vector<double>> result(3);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 3; ++rank) {
    threads.emplace_back([&, rank] {
      Mailbox mailbox(*comms[static_cast<size_t>(rank)]);
      const auto group = ring_group(mailbox, {0, 1, 2});
      for (size_t count : {2u, 5000u}) {
        std::vector<double> data(count, 1e-12 * (rank + 1) + 1);
        group->all_reduce_sum(data.data(), count);
        result[static_cast<size_t>(rank)].push_back(data.back());
      }
      mailbox.flush(10);
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& data : result) {
    EXPECT_EQ(data, result[0]);
    for (double sum : data) EXPECT_NEAR(sum, 3 + 6e-12, 1e-15);
  }
}

TEST(RingGroup, AMemberThatEndsIsAnErrorAtOnce) {
  auto comms = local_comms(2);
  Mailbox a(*comms[0]), b(*comms[1]);
  b.send(0, Tag::stop, "no disk");
  const auto group = ring_group(a, {0, 1});
  double value = 1;
  EXPECT_THAT([&] { group->all_reduce_sum(&value, 1); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("rank 1 ended: no disk")));
}

TEST(RingGroup, OtherSizeOfTheNeighbourIsAnError) {
  auto comms = local_comms(2);
  Mailbox a(*comms[0]), b(*comms[1]);
  b.send(0, Tag::reduce, std::string(3 * sizeof(float), '\0'));
  const auto group = ring_group(a, {0, 1});
  std::vector<float> data(2);
  EXPECT_THROW(group->all_reduce_sum(data.data(), 2), Error);
}

TEST(RingGroup, StatesWhatItIs) {
  const auto comm = self_comm();
  Mailbox mailbox(*comm);
  const auto group = ring_group(mailbox, {0}, {.transport = comm->name()});
  EXPECT_EQ(group->name(), "ring of 1 ranks on the CPU, through one process");
  EXPECT_FALSE(group->on_gpu());
}

TEST(NcclGroup, ClearErrorWhereItCannotRun) {
  const auto comm = self_comm();
  Mailbox mailbox(*comm);
  std::unique_ptr<DeviceGroup> group;
  try {
    group = nccl_group(mailbox, {0}, 0);
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::AnyOf(testing::HasSubstr("NCCL on device 0"), testing::HasSubstr("plug-in"),
                                             testing::HasSubstr("built without CUDA")));
    GTEST_SKIP() << "skipped: no device: " << error.what();
  }
  // One rank: the sum is the buffer itself, so an empty call is enough to see that the library answers.
  EXPECT_TRUE(built_with_nccl());
  EXPECT_TRUE(group->on_gpu());
  EXPECT_EQ(group->name(), "NCCL, 1 ranks, device 0");
  group->all_reduce_sum(static_cast<float*>(nullptr), 0);
}

}  // namespace
}  // namespace rlgo::comm
