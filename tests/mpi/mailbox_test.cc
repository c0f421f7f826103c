#include <gtest/gtest.h>

#include "core/base/hash.h"
#include "core/comm/device_group.h"
#include "tests/mpi/world.h"

namespace rlgo::test {
namespace {

using comm::Tag;

class Mpi : public testing::Test {
 protected:
  void SetUp() override { world().meet(); }
  comm::Mailbox& box() { return world().mailbox; }
};

std::string pattern(size_t size, uint64_t seed) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(mix64(seed + i));
  return bytes;
}

TEST_F(Mpi, NamesItself) {
  EXPECT_EQ(world().comm.name(), "MPI (" + std::to_string(world().size()) + " ranks)");
  EXPECT_GE(world().rank(), 0);
  EXPECT_LT(world().rank(), world().size());
}

TEST_F(Mpi, LargeMessagesFromAllToAll) {
  const auto size = [](int from, int to) { return size_t{20000001} + static_cast<size_t>(1000 * from + to); };
  const auto seed = [](int from, int to) { return static_cast<uint64_t>(100 * from + to); };
  const int self = world().rank();
  for (int to = 0; to < world().size(); ++to) box().send(to, Tag::trajectory, pattern(size(self, to), seed(self, to)));
  for (int from = 0; from < world().size(); ++from) {
    const auto message = world().wait_for(Tag::trajectory, from);
    EXPECT_TRUE(message.payload == pattern(size(from, self), seed(from, self))) << "from " << from;
  }
  EXPECT_TRUE(box().flush(60));
}

TEST_F(Mpi, ManySmallMessagesStayInOrder) {
  constexpr int kCount = 2000;
  for (int i = 0; i < kCount; ++i) {
    for (int to = 0; to < world().size(); ++to) box().send(to, Tag::heartbeat, std::to_string(i));
  }
  for (int from = 0; from < world().size(); ++from) {
    for (int i = 0; i < kCount; ++i) ASSERT_EQ(world().wait_for(Tag::heartbeat, from).payload, std::to_string(i));
  }
  EXPECT_EQ(box().counters().corrupt, 0u);
  EXPECT_EQ(box().counters().missing, 0u);
}

TEST_F(Mpi, SizesMixed) {
  const std::vector<size_t> sizes = {0, 100, 65535, 65536, 65537, 1, 17000000, 3};
  for (int to = 0; to < world().size(); ++to) {
    for (size_t i = 0; i < sizes.size(); ++i) box().send(to, Tag::costs, pattern(sizes[i], i));
  }
  for (int from = 0; from < world().size(); ++from) {
    for (size_t i = 0; i < sizes.size(); ++i)
      EXPECT_TRUE(world().wait_for(Tag::costs, from).payload == pattern(sizes[i], i)) << i;
  }
}

TEST_F(Mpi, PublishedWeightsArriveAtAll) {
  std::vector<int> all;
  for (int rank = 0; rank < world().size(); ++rank) all.push_back(rank);
  if (world().rank() == 0) {
    for (uint64_t version = 0; version < 5; ++version) {
      box().publish(all, Tag::weights, std::make_shared<const std::string>(pattern(3000000, version)));
    }
  }
  const auto newest = pattern(3000000, 4);
  while (world().wait_for(Tag::weights, 0).payload != newest) {
  }
  EXPECT_TRUE(box().flush(60));
}

TEST_F(Mpi, CountersOfSenderAndReceiverAgree) {
  const auto before = box().counters();
  world().meet();  // nobody sends before all have noted their counters
  for (int to = 0; to < world().size(); ++to) box().send(to, Tag::error_report, std::string(1000, 'x'));
  for (int from = 0; from < world().size(); ++from) world().wait_for(Tag::error_report, from);
  const auto& now = box().counters();
  const auto expected = static_cast<uint64_t>(world().size()) * 1048;
  EXPECT_EQ(now.sent(Tag::error_report).bytes - before.sent(Tag::error_report).bytes, expected);
  EXPECT_EQ(now.received(Tag::error_report).bytes - before.received(Tag::error_report).bytes, expected);
}

TEST_F(Mpi, RingSumsOverAllRanks) {
  std::vector<int> all;
  for (int rank = 0; rank < world().size(); ++rank) all.push_back(rank);
  const auto group = comm::ring_group(box(), all, {.timeout_s = 60, .transport = world().comm.name()});
  std::vector<float> data(100003);
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<float>(world().rank() + 1) * static_cast<float>(i % 100);
  group->all_reduce_sum(data.data(), data.size());
  const auto sum = static_cast<float>(world().size() * (world().size() + 1) / 2);
  for (size_t i = 0; i < data.size(); ++i) ASSERT_EQ(data[i], sum * static_cast<float>(i % 100)) << i;
}

TEST_F(Mpi, RanksThatDoNotExistAreErrors) {
  EXPECT_THROW(box().send(world().size(), Tag::stats, ""), Error);
  int argc = 0;
  char** argv = nullptr;
  EXPECT_THROW(comm::mpi_comm(&argc, &argv), Error);
}

}  // namespace
}  // namespace rlgo::test
