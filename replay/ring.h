// A bounded queue of recent trajectories: what on-policy learning trains on. Oldest first; a full ring drops the
// oldest.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/mdp/mdp.h"

namespace rlgo::replay {

class Ring {
 public:
  // `max_steps` > 0: most steps that are kept. The newest trajectory is kept whatever its length.
  explicit Ring(int64_t max_steps) : max_steps_(max_steps) {
    if (max_steps < 1) fail("ring: room for {} steps, at least 1 is needed", max_steps);
  }
  void push(mdp::Trajectory trajectory) {
    steps_ += static_cast<int64_t>(trajectory.steps.size());
    items_.push_back(std::move(trajectory));
    while (items_.size() > 1 && steps_ > max_steps_) drop_front();
  }
  // Drops trajectories of policies older than `version` (those without weights, -1, included); returns how many.
  int64_t drop_older_than(int64_t version) {
    const auto before = static_cast<int64_t>(items_.size());
    std::erase_if(items_, [&](const mdp::Trajectory& t) {
      if (t.weights_version >= version) return false;
      steps_ -= static_cast<int64_t>(t.steps.size());
      return true;
    });
    const auto dropped = before - static_cast<int64_t>(items_.size());
    dropped_ += dropped;
    return dropped;
  }
  // All of it, oldest first; the ring is empty afterwards.
  std::vector<mdp::Trajectory> take_all() {
    std::vector<mdp::Trajectory> taken(std::make_move_iterator(items_.begin()), std::make_move_iterator(items_.end()));
    items_.clear();
    steps_ = 0;
    return taken;
  }
  const mdp::Trajectory& operator[](size_t i) const { return items_[i]; }  // 0 = oldest
  size_t size() const { return items_.size(); }
  int64_t steps() const { return steps_; }
  int64_t dropped() const { return dropped_; }  // trajectories lost so far to the bound or to their age

 private:
  void drop_front() {
    steps_ -= static_cast<int64_t>(items_.front().steps.size());
    items_.pop_front();
    ++dropped_;
  }
  int64_t max_steps_;
  std::deque<mdp::Trajectory> items_;
  int64_t steps_ = 0;
  int64_t dropped_ = 0;
};

}  // namespace rlgo::replay
