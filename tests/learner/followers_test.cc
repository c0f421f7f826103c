#include "learner/distributed/followers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "core/base/error.h"

namespace rlgo::learner {
namespace {

using comm::Tag;

// An algorithm whose update fails, and a group whose end waits until the other learner has heard of it (as NCCL's may).
struct Broken : Algorithm {
  std::string weights() override { return {}; }
  UpdateReport update(std::vector<Episode>, const UpdateContext&) override { fail("CUDA out of memory"); }
  EpochPlan plan(int64_t, double, int64_t) override { fail("CUDA out of memory"); }
  void set_group(const std::shared_ptr<LearnerGroup>& to) override { group = to; }
  std::shared_ptr<LearnerGroup> group;
};
struct Ring : comm::DeviceGroup {
  explicit Ring(std::function<void()> end) : at_end(std::move(end)) {}
  ~Ring() override { at_end(); }
  int size() const override { return 2; }
  bool on_gpu() const override { return true; }
  void begin_sum(void*, size_t, comm::Number) override {}
  void wait() override {}
  std::string name() const override { return "ring"; }
  std::function<void()> at_end;
};

struct Pair {
  std::vector<std::unique_ptr<comm::Comm>> comms = comm::local_comms(2);
  comm::Mailbox first{*comms[0]}, second{*comms[1]};
  const std::vector<int> ranks = {0, 1};
  bool heard = false, left = false;
  std::shared_ptr<LearnerGroup> group(comm::Mailbox& own, comm::Mailbox& other) {
    auto end = [this, &own, &other] {
      heard = other.take(Tag::stop, own.rank()).has_value();
      left = true;
    };
    return std::make_shared<LearnerGroup>(nullptr, std::make_shared<Ring>(end), own, ranks, 60);
  }
};

TEST(Followers, HearOfTheLeadersErrorBeforeItsGroupEnds) {
  Pair pair;
  const auto run = [&] {
    const auto algorithm = std::make_shared<Broken>();
    auto group = pair.group(pair.first, pair.second);
    algorithm->set_group(group);
    LeaderAlgorithm leader(
        algorithm, std::move(group), pair.first, pair.ranks, [] { return FollowerReport(); }, 60);
    leader.update({}, {});
  };
  EXPECT_THROW(run(), Error);
  EXPECT_TRUE(pair.heard);
}

TEST(Followers, ReportToTheLeaderBeforeTheirGroupEnds) {
  Pair pair;
  const auto run = [&] {
    Broken algorithm;
    algorithm.set_group(pair.group(pair.second, pair.first));
    follow(
        pair.second, pair.ranks, algorithm, [] { return FollowerReport(); }, 60);
  };
  LeaderAlgorithm leader(std::make_shared<NoAlgorithm>(), std::make_shared<LearnerGroup>(), pair.first, pair.ranks, {},
                         60);
  leader.plan(1, 0.5, 10);
  EXPECT_THROW(run(), Error);
  EXPECT_TRUE(pair.heard);
}

// All learners leave at the end of the training, not when each has written its results.
TEST(Followers, TheLeaderLeavesTheGroupWithThem) {
  Pair pair;
  const auto algorithm = std::make_shared<Broken>();
  auto group = pair.group(pair.first, pair.second);
  algorithm->set_group(group);
  LeaderAlgorithm leader(algorithm, std::move(group), pair.first, pair.ranks, {}, 60);
  leader.stop("finished");
  EXPECT_TRUE(pair.heard);
  EXPECT_TRUE(pair.left);
}

}  // namespace
}  // namespace rlgo::learner
