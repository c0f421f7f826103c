#include "core/comm/plugin_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "core/base/error.h"

namespace rlgo::comm {
namespace {

using testing::HasSubstr;

// A plug-in on the CPU: members are threads, a sum is there when all have begun it. C functions have no object, so its
// state stands here; Fake's constructor empties it.
struct Sum {
  std::vector<std::pair<float*, size_t>> data;  // of each member that has begun it
};
struct State {
  std::mutex mutex;
  int joined = 0, size = 0;
  std::map<int, Sum> sums;  // by number
  std::atomic<int> abandoned = 0, destroyed = 0;
  // Faults.
  std::string begin_init_fails;
  int busy_begins = 0;       // polls after begin_sum that report "under way", as where the first sum connects
  std::string fault_in_sum;  // what poll_sums reports for a rank that is gone
  int local_fault_of = -1;   // the member whose sum fails on its own device
  bool abort_waits = false;
} state;
struct Member {
  int rank = 0;
  int begun = 0;  // sums
  int busy_left = 0;
};

int unique_id(char id[kRlgoNcclIdBytes], char*, size_t) {
  std::snprintf(id, kRlgoNcclIdBytes, "the id");
  return kRlgoNcclDone;
}

int begin_init(const char id[kRlgoNcclIdBytes], int rank, int size, int, void** group, char* error, size_t error_size) {
  EXPECT_STREQ(id, "the id");
  *group = new Member{.rank = rank};
  if (!state.begin_init_fails.empty()) {
    std::snprintf(error, error_size, "%s", state.begin_init_fails.c_str());
    return kRlgoNcclFailed;
  }
  const std::lock_guard lock(state.mutex);
  ++state.joined;
  state.size = size;
  return kRlgoNcclDone;
}

int begin_sum(void* group, void* data, size_t count, int, char*, size_t) {
  auto& member = *static_cast<Member*>(group);
  const std::lock_guard lock(state.mutex);
  member.busy_left = state.busy_begins;
  auto& sum = state.sums[member.begun++];
  sum.data.emplace_back(static_cast<float*>(data), count);
  if (static_cast<int>(sum.data.size()) < state.size) return kRlgoNcclDone;
  for (size_t i = 0; i < count; ++i) {
    float total = 0;
    for (const auto& [values, unused] : sum.data) total += values[i];
    for (const auto& [values, unused] : sum.data) values[i] = total;
  }
  return kRlgoNcclDone;
}

int poll_begun(void* group, char*, size_t) {
  const std::lock_guard lock(state.mutex);
  if (state.joined < state.size) return kRlgoNcclBusy;
  return static_cast<Member*>(group)->busy_left-- > 0 ? kRlgoNcclBusy : kRlgoNcclDone;
}

int poll_sums(void* group, char* error, size_t error_size) {
  const std::lock_guard lock(state.mutex);
  if (!state.fault_in_sum.empty()) {
    std::snprintf(error, error_size, "%s", state.fault_in_sum.c_str());
    return kRlgoNcclNoAnswer;
  }
  if (static_cast<Member*>(group)->rank == state.local_fault_of) {
    std::snprintf(error, error_size, "unhandled cuda error");
    return kRlgoNcclFailed;
  }
  for (int i = 0; i < static_cast<Member*>(group)->begun; ++i) {
    if (static_cast<int>(state.sums[i].data.size()) < state.size) return kRlgoNcclBusy;
  }
  return kRlgoNcclDone;
}

void destroy(void* group) {
  delete static_cast<Member*>(group);
  ++state.destroyed;
}
void abandon(void* group) {
  delete static_cast<Member*>(group);
  ++state.abandoned;
  if (state.abort_waits) {  // NCCL's abort may return only where all ranks abort
    while (state.abandoned < state.size) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

const RlgoNcclPlugin kFake{
    kRlgoNcclPluginVersion, unique_id, begin_init, begin_sum, poll_begun, poll_sums, destroy, abandon};

// Members of a group as threads; what each threw, by rank ("" where nothing).
class PluginGroupTest : public testing::Test {
 protected:
  void SetUp() override {
    state.joined = state.size = state.busy_begins = 0;
    state.abandoned = state.destroyed = 0;
    state.local_fault_of = -1;
    state.abort_waits = false;
    state.sums.clear();
    state.begin_init_fails = state.fault_in_sum = "";
  }
  using Work =
      std::function<void(int rank, Mailbox& mailbox, const std::function<std::unique_ptr<DeviceGroup>()>& join)>;
  std::vector<std::string> run(int ranks, double timeout_s, const Work& work) {
    const auto comms = local_comms(ranks + 1);  // the last one is no learner, and states nothing
    std::vector<int> members;
    for (int rank = 0; rank < ranks; ++rank) members.push_back(rank);
    std::vector<std::string> thrown(static_cast<size_t>(ranks));
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank) {
      threads.emplace_back([&, rank] {
        Mailbox mailbox(*comms[static_cast<size_t>(rank)]);
        try {
          work(rank, mailbox, [&] { return plugin_group(kFake, mailbox, members, 0, {timeout_s, ""}); });
        } catch (const NoAnswer& e) {
          thrown[static_cast<size_t>(rank)] = std::string("NoAnswer: ") + e.what();
        } catch (const Error& e) {
          thrown[static_cast<size_t>(rank)] = e.what();
        }
      });
    }
    for (auto& thread : threads) thread.join();
    return thrown;
  }
};

TEST_F(PluginGroupTest, SumsAndTakesLeave) {
  state.busy_begins = 3;
  const auto thrown = run(3, 60, [](int rank, Mailbox&, const auto& join) {
    const auto group = join();
    std::vector<float> first = {1.0f * rank, 2}, second = {10.0f};
    group->begin_sum(first.data(), 2, Number::f32);
    group->begin_sum(second.data(), 1, Number::f32);
    group->wait();
    EXPECT_THAT(first, testing::ElementsAre(3, 6));
    EXPECT_THAT(second, testing::ElementsAre(30));
  });
  EXPECT_THAT(thrown, testing::Each(""));
  EXPECT_EQ(state.destroyed, 3);
  EXPECT_EQ(state.abandoned, 0);
}

// Order of failure: before the id, before it joins, before the sum. Nobody waits for ever, nobody takes leave of the
// dead.
TEST_F(PluginGroupTest, TheFirstIsSilent) {
  const auto thrown = run(2, 0.05, [](int rank, Mailbox&, const auto& join) {
    if (rank == 1) join();
  });
  EXPECT_THAT(thrown[1], HasSubstr("NoAnswer: no NCCL id from rank 0"));
}

TEST_F(PluginGroupTest, OneDoesNotJoin) {
  const auto thrown = run(3, 0.05, [](int rank, Mailbox&, const auto& join) {
    if (rank < 2) join();
  });
  for (int rank : {0, 1})
    EXPECT_THAT(thrown[static_cast<size_t>(rank)], HasSubstr("NoAnswer: NCCL on device 0: not all"));
  EXPECT_EQ(state.abandoned, 2);
  EXPECT_EQ(state.destroyed, 0);
}

TEST_F(PluginGroupTest, OneDoesNotComeToASum) {
  const auto thrown = run(2, 0.05, [](int rank, Mailbox& mailbox, const auto& join) {
    const auto group = join();
    if (rank == 1) {  // hangs until the other has given up
      while (state.abandoned == 0) mailbox.wait(1);
      return;
    }
    float value = 1;
    group->all_reduce_sum(&value, 1);
  });
  EXPECT_THAT(thrown[0], HasSubstr("NoAnswer: NCCL on device 0: not all learners came to sum"));
  EXPECT_EQ(state.abandoned, 1);
}

TEST_F(PluginGroupTest, OneReportsThatItEnds) {
  for (const bool joined : {false, true}) {
    SetUp();
    const auto thrown = run(2, 60, [joined](int rank, Mailbox& mailbox, const auto& join) {
      std::unique_ptr<DeviceGroup> group;
      if (rank == 0 || joined) group = join();
      if (rank == 1) {
        mailbox.send(0, Tag::stop, "CUDA out of memory");
        while (state.abandoned == 0) mailbox.wait(1);
        return;
      }
      float value = 1;
      group->all_reduce_sum(&value, 1);
    });
    EXPECT_THAT(thrown[0], HasSubstr("learner rank 1 ended: CUDA out of memory")) << joined;
  }
}

// A learner that fails next to the group (out of memory) takes no leave: the others would come to it only after they
// know.
TEST_F(PluginGroupTest, AnErrorElsewhereAbandons) {
  const auto thrown = run(1, 60, [](int, Mailbox&, const auto& join) {
    const auto group = join();
    fail("CUDA out of memory");
  });
  EXPECT_EQ(thrown[0], "CUDA out of memory");
  EXPECT_EQ(state.abandoned, 1);
  EXPECT_EQ(state.destroyed, 0);
}

// A fault of one rank's device: the others must know of it before it aborts, as its abort waits for theirs.
TEST_F(PluginGroupTest, TheOthersKnowBeforeOneAborts) {
  state.abort_waits = true;
  state.local_fault_of = 1;
  const auto thrown = run(2, 60, [](int rank, Mailbox&, const auto& join) {
    const auto group = join();
    float value = 1;
    group->all_reduce_sum(&value, 1);
    if (rank == 0) group->all_reduce_sum(&value, 1);  // the other one does not come to it
  });
  EXPECT_EQ(thrown[1], "NCCL on device 0: unhandled cuda error");
  EXPECT_THAT(thrown[0], HasSubstr("learner rank 1 ended: NCCL on device 0: unhandled cuda error"));
  EXPECT_EQ(state.abandoned, 2);
}

TEST_F(PluginGroupTest, FaultsOfTheDeviceAndOfOtherRanks) {
  state.begin_init_fails = "ncclCommInitRankConfig: unhandled system error";
  EXPECT_THAT(run(1, 60, [](int, Mailbox&, const auto& join) { join(); })[0], HasSubstr("unhandled system error"));
  EXPECT_EQ(state.abandoned, 1);
  SetUp();
  state.fault_in_sum = "remote process exited";
  const auto thrown = run(1, 60, [](int, Mailbox&, const auto& join) {
    const auto group = join();
    float value = 1;
    EXPECT_THROW(group->all_reduce_sum(&value, 1), NoAnswer);
    group->all_reduce_sum(&value, 1);
  });
  EXPECT_THAT(thrown[0], HasSubstr("the group was given up"));
  EXPECT_EQ(state.destroyed, 0);
}

}  // namespace
}  // namespace rlgo::comm
