#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "core/base/hash.h"
#include "core/comm/device_group.h"
#include "core/comm/mpi/mpi_comm.h"
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

// Flags between the ranks of one machine, for ranks that move no messages.
class Flags {
 public:
  Flags() : folder_(std::filesystem::temp_directory_path() / ("rlgo-mpi-test-" + std::to_string(::getppid()))) {
    std::filesystem::create_directories(folder_);
  }
  void raise(const std::string& name) const { std::ofstream(folder_ / name) << "x"; }
  void wait_for(const std::string& name) const {
    while (!std::filesystem::exists(folder_ / name)) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  void remove() const { std::filesystem::remove_all(folder_); }

 private:
  std::filesystem::path folder_;
};

// Rank 0: packets of `size` bytes from one rank; how many came before max_s were over or `count` were there.
size_t receive_from(comm::Comm& comm, int source, size_t size, size_t count, double max_s) {
  const Stopwatch watch;
  size_t received = 0;
  while (received < count && watch.seconds() < max_s) {
    if (const auto packet = comm.try_receive()) received += packet->source == source && packet->bytes.size() == size;
  }
  return received;
}

// Moves what is under way until all has left. The mailbox's reports of arrival (Tag::fetched) may still come in, late
// ones of the test before; packets of `size` bytes, which only this test sends, may not.
void send_all(comm::Comm& comm, size_t size) {
  while (comm.pending_bytes() > 0) {
    const auto packet = comm.try_receive();
    EXPECT_FALSE(packet && packet->bytes.size() == size) << "from rank " << packet->source;
  }
}

// Rank 1 begins more packets than rank 0 takes at once and moves nothing after that, as if it had died.
TEST_F(Mpi, RanksThatAreForgottenDoNotMakeDeaf) {
  if (world().size() < 3) GTEST_SKIP() << "three ranks are needed";
  constexpr size_t kCount = 80, kBytes = 2000000;
  comm::Comm& comm = world().comm;
  const Flags flags;
  const auto send = [&](const std::string& bytes) {
    comm.send(0, std::make_shared<const std::string>(bytes), 0, bytes.size());
  };
  if (world().rank() == 0) {
    flags.wait_for("begun");
    receive_from(comm, 1, kBytes, 1, 0.2);  // all that it takes is under way
    flags.raise("send");
    comm.forget(1);
    EXPECT_EQ(receive_from(comm, 2, 7, 1, 60), 1u) << "deaf";
    flags.raise("wake");
    comm.remember(1);
    EXPECT_EQ(receive_from(comm, 1, kBytes, kCount, 60), kCount) << "who was thought dead and is not loses nothing";
    flags.raise("over");
  } else if (world().rank() == 1) {
    for (size_t i = 0; i < kCount; ++i) send(pattern(kBytes, i));
    flags.raise("begun");
    flags.wait_for("wake");
    send_all(comm, 7);
  } else {
    flags.wait_for("send");
    if (world().rank() == 2) send("hear me");
    send_all(comm, kBytes);
  }
  flags.wait_for("over");
  world().meet();
  if (world().rank() == 0) flags.remove();
}

// Rank 1 moves nothing for a while, as if it were stopped. MPI has 512 pieces of shared memory for all receivers.
TEST_F(Mpi, ARankThatFetchesNothingDoesNotStarveTheOthers) {
  if (world().size() < 3) GTEST_SKIP() << "three ranks are needed";
  constexpr int kCount = 600;
  const Flags flags;
  const auto receive_all = [] {
    for (int i = 0; i < kCount; ++i) world().wait_for(Tag::costs, 0);
  };
  if (world().rank() == 0) {
    for (int i = 0; i < kCount; ++i) box().send(1, Tag::costs, std::string(1000, 'x'));
    for (int i = 0; i < kCount; ++i) box().send(2, Tag::costs, std::string(1000, 'x'));
    world().wait_for(Tag::stats, 2);
    flags.raise("over");
  } else if (world().rank() == 2) {
    receive_all();
    box().send(0, Tag::stats, "all came");
  }
  flags.wait_for("over");
  if (world().rank() == 1) receive_all();
  world().meet();
  if (world().rank() == 0) flags.remove();
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
