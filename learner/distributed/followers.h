// The learners next to the first: it leads, they follow. The leader talks to the actors, decides what comes next, and
// informs them; then all take part in the same update.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/base/stopwatch.h"
#include "core/comm/mailbox.h"
#include "learner/algorithm.h"
#include "learner/distributed/learner_group.h"

namespace rlgo::learner {

// What a learner shows after an update.
struct FollowerReport {
  uint64_t digest = 0;                      // of everything that must be the same on all learners
  double update_s = 0;                      // of which
  double host_bytes = 0, device_bytes = 0;  // most memory so far: resident, and on its GPU
};
using Inspect = std::function<FollowerReport()>;

// The leader's side: the loop's algorithm, which takes the others along.
class LeaderAlgorithm : public Algorithm {
 public:
  // `inspect`: digest and memory of this learner. A follower that is silent for `timeout_s` while nothing is learned
  // throws comm::NoAnswer.
  LeaderAlgorithm(std::shared_ptr<Algorithm> algorithm, std::shared_ptr<LearnerGroup> group, comm::Mailbox& mailbox,
                  std::vector<int> ranks, Inspect inspect, double timeout_s);

  EpochPlan plan(int64_t epoch, double progress, int64_t steps) override;
  std::string weights() override { return algorithm_->weights(); }
  void store(Checkpoint& checkpoint) const override { algorithm_->store(checkpoint); }
  void restore(const Checkpoint& checkpoint) override { algorithm_->restore(checkpoint); }
  // Throws Error where the learners do not agree afterwards. What it throws the other learners hear first (Tag::stop).
  UpdateReport update(std::vector<Episode> episodes, const UpdateContext& context) override;

  // Signs of life, both ways. To be called often while no update runs.
  void tend();
  // At the end of the run: the followers end, and this learner leaves the group with them.
  void stop(const std::string& reason);
  // What each reported after the last update, by place; the leader's own too.
  const std::vector<FollowerReport>& reports() const { return reports_; }
  const LearnerGroup& group() const { return *group_; }

 private:
  void read(size_t place, const std::string& message);

  std::shared_ptr<Algorithm> algorithm_;
  std::shared_ptr<LearnerGroup> group_;
  comm::Mailbox& mailbox_;
  std::vector<int> ranks_;
  Inspect inspect_;
  double timeout_s_;
  bool updating_ = false;
  std::vector<FollowerReport> reports_;
  std::vector<int64_t> done_;  // updates that a follower has reported
  int64_t updates_ = 0;
  std::vector<Stopwatch> since_heard_;
  Stopwatch since_beat_;
};

// A follower's side: follows `ranks`' first, the leader, until it sends stop. Returns the reason. Throws comm::NoAnswer
// where the leader is silent for `timeout_s`, and what an update throws, of which the other ranks hear first.
std::string follow(comm::Mailbox& mailbox, const std::vector<int>& ranks, Algorithm& algorithm, const Inspect& inspect,
                   double timeout_s);

}  // namespace rlgo::learner
