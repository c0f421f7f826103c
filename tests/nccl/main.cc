// The real NCCL plug-in with stub libraries under it. Tests of threads; or, under mpirun, one rank of two learners:
//
//   test_nccl --learner SCENARIO FILE      normal, killed, memory: what becomes of the second learner
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>

#include "core/base/error.h"
#include "core/base/stopwatch.h"
#include "core/comm/device_group.h"
#include "core/comm/mpi/mpi_comm.h"
#include "learner/distributed/followers.h"
#include "tests/nccl/stubs/stub.h"

namespace rlgo::learner {
namespace {

constexpr double kSilenceS = 3;

// An update is a few sums of numbers that both learners have.
struct Summing : Algorithm {
  Summing(std::string what, int place) : scenario(std::move(what)), rank(place) {}
  std::string weights() override { return {}; }
  EpochPlan plan(int64_t, double, int64_t) override { return {}; }
  void set_group(const std::shared_ptr<LearnerGroup>& to) override { group = to; }
  UpdateReport update(std::vector<Episode>, const UpdateContext&) override {
    if (rank == 1 && ++updates == 3 && scenario == "killed") ::raise(SIGKILL);
    if (rank == 1 && updates == 3 && scenario == "memory") fail("CUDA out of memory");
    for (int i = 0; i < 3; ++i) {
      double numbers[] = {1, 2};
      group->gpu()->all_reduce_sum(numbers, 2);
      if (numbers[1] != 4) fail("a sum is {}, not 4", numbers[1]);
    }
    return {};
  }
  std::string scenario;
  int rank, updates = 0;
  std::shared_ptr<LearnerGroup> group;
};

void learn(const std::string& scenario, comm::Mailbox& mailbox) {
  const std::vector<int> ranks = {0, 1};
  const auto algorithm = std::make_shared<Summing>(scenario, mailbox.rank());
  const auto inspect = [] { return FollowerReport{}; };
  auto group = std::make_shared<LearnerGroup>(
      nullptr, comm::nccl_group(mailbox, ranks, mailbox.rank(), {kSilenceS, ""}), mailbox, ranks, kSilenceS);
  algorithm->set_group(group);
  if (mailbox.rank() == 1) {
    follow(mailbox, ranks, *algorithm, inspect, 10 * kSilenceS);
    return;
  }
  LeaderAlgorithm leader(algorithm, std::move(group), mailbox, ranks, inspect, kSilenceS);
  UpdateContext context;
  context.between = [] {};
  for (int i = 0; i < 5; ++i) leader.update({}, context);
  leader.stop("finished");
  ::usleep(1500000);  // what a leader does then: checks, measures, writes
}

int learner(const std::string& scenario, int* argc, char*** argv) {
  const auto comm = comm::mpi_comm(argc, argv);
  comm::Mailbox mailbox(*comm);
  const Stopwatch watch;
  int status = 0;
  try {
    learn(scenario, mailbox);
  } catch (const comm::NoAnswer& e) {
    std::printf("rank %d: no answer: %s\n", comm->rank(), e.what());
    status = 75;
  } catch (const Error& e) {
    std::printf("rank %d: error: %s\n", comm->rank(), e.what());
    status = 1;
  }
  const auto counts = stub_counts();
  std::printf("rank %d: status %d after %.1f s, %d destroyed, %d aborted, %d violations\n", comm->rank(), status,
              watch.seconds(), counts.destroyed, counts.aborted, counts.violations);
  std::fflush(stdout);
  comm->close(1, status);
  if (status != 0) std::_Exit(status);
  return 0;
}

}  // namespace
}  // namespace rlgo::learner

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "--learner") == 0) {
    const StubScript script{.busy_polls = 2, .abort_waits = true};
    stub_reset(argv[3], &script);
    return rlgo::learner::learner(argv[2], &argc, &argv);
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
