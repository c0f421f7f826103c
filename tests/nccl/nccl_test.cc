#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nccl.h>

#include <functional>
#include <thread>

#include "core/base/temporary_folder.h"
#include "core/comm/device_group.h"
#include "tests/nccl/stubs/stub.h"

namespace rlgo::comm {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Join = std::function<std::unique_ptr<DeviceGroup>()>;

// Two ranks as threads, each with a device; what each threw.
std::vector<std::string> run(const StubScript& script, const std::function<void(int, Mailbox&, const Join&)>& work,
                             StubCounts* counts = nullptr) {
  const TemporaryFolder folder("nccl-stub");
  stub_reset((folder.path() / "ranks").c_str(), &script);
  const int before = stub_counts().violations;
  const auto comms = local_comms(2);
  std::vector<std::string> thrown(2);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&, rank] {
      Mailbox mailbox(*comms[static_cast<size_t>(rank)]);
      try {
        work(rank, mailbox, [&] { return nccl_group(mailbox, {0, 1}, rank, {2, ""}); });
      } catch (const NoAnswer& e) {
        thrown[static_cast<size_t>(rank)] = std::string("NoAnswer: ") + e.what();
      } catch (const Error& e) {
        thrown[static_cast<size_t>(rank)] = e.what();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  if (counts == nullptr) return thrown;
  *counts = stub_counts();
  counts->violations -= before;
  return thrown;
}

void sum_often(int, Mailbox&, const Join& join) {
  const auto group = join();
  float first[2], second[1];
  for (int i = 0; i < 3; ++i) {
    first[0] = 1, first[1] = 2, second[0] = 5;
    stub_write(first);
    group->begin_sum(first, 2, Number::f32);
    stub_write(second);
    group->begin_sum(second, 1, Number::f32);
    group->wait();
    stub_read(first);
    stub_read(second);
    EXPECT_EQ(first[1], 4);
    EXPECT_EQ(second[0], 10);
  }
}

TEST(NcclPlugin, SumsComeBetweenTheDefaultStreamsWritesAndReads) {
  StubCounts counts;
  for (const int busy : {0, 5}) {
    EXPECT_THAT(run({.busy_polls = busy}, sum_often, &counts), testing::Each(""));
    EXPECT_EQ(counts.violations, 0);
    EXPECT_EQ(counts.destroyed, 2);
    EXPECT_EQ(counts.aborted, 0);
  }
}

// The stub sees an order that nothing guarantees.
TEST(NcclPlugin, AReadBeforeTheWaitIsSeen) {
  StubCounts counts;
  run(
      {},
      [](int, Mailbox&, const Join& join) {
        const auto group = join();
        float value = 1;
        stub_write(&value);
        group->begin_sum(&value, 1, Number::f32);
        stub_read(&value);
        group->wait();
      },
      &counts);
  EXPECT_EQ(counts.violations, 2);
}

// A rank that is gone is worth a restart; a failure here is not, and the other rank hears of it before the abort, which
// waits for its own.
TEST(NcclPlugin, OnlyRemoteErrorsAreNoAnswer) {
  StubCounts counts;
  const auto remote =
      run({.failing_rank = 1, .failing_sum = 1, .async_error = ncclRemoteError, .abort_waits = true}, sum_often);
  EXPECT_THAT(remote[1], AllOf(HasSubstr("NoAnswer"), HasSubstr("remote process exited: socket 7")));
  for (const auto& script :
       {StubScript{.failing_rank = 1, .failing_sum = 1, .async_error = ncclSystemError, .abort_waits = true},
        StubScript{.failing_rank = 1, .failing_sum = 1, .call_error = ncclInternalError, .abort_waits = true}}) {
    const auto local = run(script, sum_often, &counts);
    EXPECT_THAT(local[1], testing::StartsWith("NCCL on device 1"));
    EXPECT_THAT(local[1], HasSubstr("unhandled system error: socket 7: connection refused"));
    EXPECT_THAT(local[0], HasSubstr("learner rank 1 ended: NCCL on device 1"));
  }
}

}  // namespace
}  // namespace rlgo::comm
