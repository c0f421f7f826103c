// What the learner's loop needs of a learning algorithm, and no more.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/mdp/mdp.h"

namespace rlgo::learner {

// What an update did, for people: named numbers ("policy_loss", 0.12), the same names in the same order each time.
struct UpdateReport {
  std::vector<std::pair<std::string, double>> values;
};

class Algorithm {
 public:
  virtual ~Algorithm() = default;
  // The policy's weights as actors::Policy::load takes them.
  virtual std::string weights() = 0;
  // Learns from whole trajectories. Calls `between` at least every second or so (between minibatches): the loop answers
  // messages there.
  virtual UpdateReport update(std::vector<mdp::Trajectory> trajectories, const std::function<void()>& between) = 0;
};

// Never learns: the baseline.
class NoAlgorithm : public Algorithm {
 public:
  std::string weights() override { return {}; }
  UpdateReport update(std::vector<mdp::Trajectory>, const std::function<void()>&) override { return {}; }
};

}  // namespace rlgo::learner
