// What the learner's loop needs of a learning algorithm, and no more.
#pragma once

#include <cstdint>
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

// Where in the run an update stands.
struct UpdateContext {
  int64_t version = 0;  // of the weights before the update; trajectories that carry it were made with these weights
  double progress = 0;  // share of the epochs done, [0, 1)
  std::function<void()> between = [] {};  // to be called at least every second or so (between minibatches): messages
                                          // are answered there
};

class Algorithm {
 public:
  virtual ~Algorithm() = default;
  // The policy's weights as actors::Policy::load takes them.
  virtual std::string weights() = 0;
  // Learns from whole trajectories.
  virtual UpdateReport update(std::vector<mdp::Trajectory> trajectories, const UpdateContext& context) = 0;
};

// Never learns: the baseline.
class NoAlgorithm : public Algorithm {
 public:
  std::string weights() override { return {}; }
  UpdateReport update(std::vector<mdp::Trajectory>, const UpdateContext&) override { return {}; }
};

}  // namespace rlgo::learner
