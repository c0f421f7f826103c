// What an update learns from, and its minibatches. Internal to learner/ppo.
#pragma once

#include <torch/types.h>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/mdp/mdp.h"
#include "core/nets/agent.h"
#include "core/nets/batch.h"
#include "core/nets/slices.h"
#include "learner/ahead.h"

namespace rlgo::learner {

// All transitions of an update, one after the other: T of them.
struct Transitions {
  std::vector<const mdp::Observation*> observations;
  std::optional<nets::RowTable> table;  // of a local encoder's rows, and what each observation has of them
  std::vector<nets::RowIds> rows;
  std::optional<nets::BatchSlices> whole;  // all observations on the network's device (join_whole)
  nets::ActionRows actions;                // [T], on the network's device
  std::vector<int64_t> versions;
  // [T] on the host.
  torch::Tensor old_log_prob, old_value_rule, old_value_location, advantage, returns;
  // [T] float32 on the network's device: under the weights that the update starts from; undefined: as old_log_prob.
  torch::Tensor proximal_log_prob;
  // Over all learners' transitions, of which this learner has those from `first` on.
  int64_t total = 0, first = 0;
  double advantage_deviation = 0, return_mean = 0, return_deviation = 0, explained_variance = 0;

  int64_t count() const { return static_cast<int64_t>(observations.size()); }
};

// Of complete trajectories, which stay where they are; distinct: with rows for a local encoder. `between` is called
// after each. Throws Error where one does not fit the network (PpoTrainer::update).
Transitions flatten(const std::vector<mdp::Trajectory>& trajectories, nets::AgentImpl& agent, bool distinct,
                    const std::function<void()>& between);

// Joins all observations on the network's device, from where every minibatch is then taken. Not of distinct rows, which
// depend on what they are learned with; nor where they take more than `most_bytes`, or some are dreamed and others not.
inline constexpr int64_t kWholeBytes = int64_t{1} << 30;
void join_whole(Transitions& data, nets::AgentImpl& agent, int64_t most_bytes = kWholeBytes);

inline constexpr double kLargestWeight = 2;  // of a transition of older weights (truncated: Espeholt et al. 2018)

// What the loss needs of each transition besides its observation and action, [T] on the network's device in its type of
// number, moved there at once.
class LossInputs {
 public:
  LossInputs(const Transitions& data, torch::Device device, torch::ScalarType type);
  // Those of some transitions, `index` [M] on the device.
  LossInputs at(const torch::Tensor& index) const { return LossInputs(all_.index_select(1, index)); }

  torch::Tensor proximal_log_prob() const { return all_[0]; }
  torch::Tensor old_log_prob() const { return all_[1]; }
  torch::Tensor returns() const { return all_[2]; }
  torch::Tensor weighted_advantage() const { return all_[3]; }
  torch::Tensor old_value_rule() const { return all_[4]; }
  torch::Tensor old_value_location() const { return all_[5]; }

 private:
  explicit LossInputs(torch::Tensor all) : all_(std::move(all)) {}
  torch::Tensor all_;  // [6, T]
};

// One pass over transitions in minibatches. Where the observations are joined already, each is taken from them. Else,
// on the CPU, each is joined when its turn comes; elsewhere as many as fit in kPassBytes (the last of them may exceed
// it) are joined at once and cross in two transfers, on a thread that does so before they are needed. So how many
// copies a pass makes depends on how much it reads, not on the number of its minibatches; none of them makes the host
// wait.
class Pass {
 public:
  static constexpr int64_t kPassBytes = int64_t{64} << 20;

  // minibatches: places in `data`; perhaps empty. `between` is called while some are waited for.
  Pass(const Transitions& data, nets::AgentImpl& agent, std::vector<std::vector<int64_t>> minibatches,
       const std::function<void()>& between, int64_t most_bytes = kPassBytes);
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;

  struct Minibatch {
    std::span<const int64_t> chosen;
    torch::Tensor index;  // `chosen` on the device
    nets::GraphBatch batch;
    nets::ActionRows actions;
  };
  // The next one, in order; an empty one has no batch.
  Minibatch next();
  int64_t size() const { return std::ssize(minibatches_); }
  const std::vector<int64_t>& part(size_t i) const { return minibatches_.at(i); }

 private:
  void add(const std::vector<int64_t>& chosen);
  std::optional<std::deque<nets::GraphBatch>> join();
  nets::GraphBatch joined();

  const Transitions& data_;
  torch::Device device_;
  torch::ScalarType type_;
  std::vector<std::vector<int64_t>> minibatches_;
  std::function<void()> between_;
  int64_t most_bytes_;
  torch::Tensor index_;  // all of them, one after the other
  nets::Collator collator_;
  size_t next_ = 0, joined_ = 0;  // of minibatches_; the second is the joining thread's
  int64_t begin_ = 0;             // of the next one, in index_
  std::deque<nets::GraphBatch> ready_;
  std::optional<Ahead<std::deque<nets::GraphBatch>>> ahead_;  // last: its thread ends first
};

}  // namespace rlgo::learner
