#include "learner/distributed/learner_group.h"

#include <gtest/gtest.h>

#include "core/base/error.h"

namespace rlgo::learner {
namespace {

using comm::Tag;

// Messages to one rank never leave: it hangs.
class StuckComm : public comm::Comm {
 public:
  StuckComm(std::unique_ptr<comm::Comm> inner, int stuck) : inner_(std::move(inner)), stuck_(stuck) {}
  int rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  void send(int to, comm::Bytes bytes, size_t offset, size_t size) override {
    if (to != stuck_) inner_->send(to, std::move(bytes), offset, size);
  }
  std::optional<comm::Packet> try_receive() override { return inner_->try_receive(); }
  size_t pending_bytes(int to) const override { return to == stuck_ || to < 0 ? 1000 : 0; }
  bool close(double, int) override { return true; }
  std::string name() const override { return "stuck"; }

 private:
  std::unique_ptr<comm::Comm> inner_;
  int stuck_;
};

// Stands in for NCCL: gradients lie on a device, so the learners' messages must have left before a sum begins.
class FakeGpu : public comm::DeviceGroup {
 public:
  int size() const override { return 2; }
  bool on_gpu() const override { return true; }
  void begin_sum(void*, size_t, comm::Number) override {}
  void wait() override {}
  std::string name() const override { return "fake"; }
};

// Rank 0 of two learners and an actor, with a GPU; messages to `stuck` do not leave.
struct Leader {
  Leader(int stuck, double timeout_s)
      : comm(std::move(comms[0]), stuck),
        group(nullptr, std::make_shared<FakeGpu>(), mailbox, std::vector<int>{0, 1}, timeout_s) {
    mailbox.send(2, Tag::heartbeat, "to the actor");
  }
  size_t kept() {
    std::vector<Episode> episodes;
    for (int i = 0; i < 2; ++i) {
      mdp::Trajectory t;
      t.episode = i;
      t.steps.resize(2);
      episodes.push_back(std::make_shared<const mdp::CodedTrajectory>(mdp::decode_coded(mdp::encode(t))));
    }
    return group.scatter(std::move(episodes), {0, 1}).size();
  }
  std::vector<std::unique_ptr<comm::Comm>> comms = comm::local_comms(3);
  StuckComm comm;
  comm::Mailbox mailbox{comm};
  LearnerGroup group;
};

TEST(LearnerGroup, DoesNotWaitForAnActorThatHangs) {
  Leader leader(2, 120);
  EXPECT_EQ(leader.kept(), 1u);
}

TEST(LearnerGroup, ALearnerThatHangsIsNoAnswer) {
  Leader leader(1, 0.05);
  EXPECT_THROW(leader.kept(), comm::NoAnswer);
}

}  // namespace
}  // namespace rlgo::learner
