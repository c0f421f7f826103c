// The learners of a run as one: what each holds a part of, summed, gathered, handed out. The leader is the first of
// them: it alone talks to the actors, so it has all data at first.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/comm/device_group.h"
#include "core/mdp/mdp.h"
#include "learner/algorithm.h"

namespace rlgo::learner {

// All members call the same functions in the same order. Each throws comm::NoAnswer where a member is silent for too
// long, and Error where one has reported that it ends.
class LearnerGroup {
 public:
  // One learner alone: every sum is its own.
  LearnerGroup() = default;
  // `ranks`: the members, the leader first. `host` sums what lies in host memory, `gpu` (or null) gradients on a GPU.
  LearnerGroup(std::shared_ptr<comm::DeviceGroup> host, std::shared_ptr<comm::DeviceGroup> gpu, comm::Mailbox& mailbox,
               std::vector<int> ranks, double timeout_s);

  int size() const { return static_cast<int>(ranks_.size()); }
  int place() const { return place_; }  // 0: the leader
  // Null where there is one learner; gpu() also where gradients are summed on the host.
  comm::DeviceGroup* host() const { return host_.get(); }
  comm::DeviceGroup* gpu() const { return gpu_.get(); }
  std::string name() const;

  // Sums over the members, the same everywhere bit for bit.
  void sum(std::span<double> values) const;
  // The same of a contiguous float64 tensor: where it is a GPU's and the learners sum there, without a copy to the
  // host.
  void sum(torch::Tensor& values) const;
  // The largest `value` of all.
  double max(double value) const;
  // Everybody's values one after the other, by place, and where this member's begin.
  struct Gathered {
    std::vector<double> values;
    size_t first = 0;
  };
  Gathered gather(std::span<const double> own) const;  // from all learners, by place

  // Hands trajectories[i] to the member places[i]; the leader gives all, the others nothing (both empty). Returns what
  // is for this member, in order.
  std::vector<mdp::Trajectory> scatter(std::vector<mdp::Trajectory> trajectories, const std::vector<int>& places) const;
  // The same for episodes, which stay coded.
  std::vector<Episode> scatter(std::vector<Episode> episodes, const std::vector<int>& places) const;
  // The next message of kind Tag::learner from the leader.
  std::string receive() const;
  void send(int place, std::string message) const;

 private:
  std::vector<std::string> receive_part() const;
  // encoded(i): item i as bytes; called once for each that is for another member.
  void send_parts(const std::vector<int>& places, const std::function<std::string(size_t)>& encoded) const;

  std::shared_ptr<comm::DeviceGroup> host_, gpu_;
  comm::Mailbox* mailbox_ = nullptr;
  std::vector<int> ranks_ = {0};
  int place_ = 0;
  double timeout_s_ = 120;
};

// Which member learns from which trajectory: equal numbers of steps as far as whole trajectories allow (longest first
// to whom has least). Those for which `leader` is true stay with the leader; it counts them too.
std::vector<int> balanced(const std::vector<mdp::Trajectory>& trajectories, int members,
                          const std::function<bool(const mdp::Trajectory&)>& leader = {});
std::vector<int> balanced(const std::vector<Episode>& episodes, int members);

}  // namespace rlgo::learner
