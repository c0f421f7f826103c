// What the learner's loop needs of a learning algorithm, and no more.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/codec/coded.h"
#include "core/mdp/mdp.h"

namespace rlgo::learner {

struct Checkpoint;
class LearnerGroup;

// Coded as it travelled; store and algorithm share it.
using Episode = std::shared_ptr<const mdp::CodedTrajectory>;

// What an update did, for people: named numbers ("policy_loss", 0.12), the same names in the same order each time.
struct UpdateReport {
  std::vector<std::pair<std::string, double>> values;
  std::vector<std::string> notes;  // for the log
};

// What the next epoch is for, before its data is collected.
struct EpochPlan {
  int64_t real_steps = 0;        // wait for at least this many steps of real environments; 0: for none
  int64_t dream_steps = 0;       // what the dreaming actors together are permitted per version of the weights
  bool wait_for_dreams = false;  // for dream_steps too, as long as an actor that dreams lives
};

// Where in the run an update stands.
struct UpdateContext {
  int64_t version = 0;  // of the weights before the update; trajectories that carry it were made with these weights
  double progress = 0;  // fraction of the run done, by epochs or by time, [0, 1)
  std::function<void()> between = [] {};  // to be called often (between episodes and between minibatches): messages are
                                          // answered there
};

class Algorithm {  // what learns, behind the loop
 public:
  virtual ~Algorithm() = default;
  // Told before each epoch, then weights() is read. `progress` is the fraction of the run done, by epochs or by time;
  // `steps` the configured steps per epoch.
  virtual EpochPlan plan(int64_t /*epoch*/, double /*progress*/, int64_t steps) { return {steps, 0}; }
  // The policy's weights as actors::Policy::load takes them.
  virtual std::string weights() = 0;
  // The weights as at the end of a run: where an evaluation plays them, whatever phase training is in.
  virtual std::string final_weights() { return weights(); }
  // While the loop waits for data: some work on an episode that the next update will probably be given (to decode it).
  // Some milliseconds at most.
  virtual void prepare(const Episode& /*episode*/) {}
  // Learns from episodes. They come as the actors sent them; who learns from one decodes it
  // (learner/decoder.h).
  virtual UpdateReport update(std::vector<Episode> episodes, const UpdateContext& context) = 0;

  // Its whole state, into a checkpoint and back: a restored algorithm continues bit for bit as the stored one would
  // have. restore() throws Error where the checkpoint is of another algorithm or network.
  virtual void store(Checkpoint& /*checkpoint*/) const {}
  virtual void restore(const Checkpoint& /*checkpoint*/) {}
  // Who learns along (learner/distributed/learner_group.h). At first: nobody.
  virtual void set_group(const std::shared_ptr<LearnerGroup>& /*group*/) {}
};

// Tensors of a checkpoint whose names begin so are each learner's own; all others are the same on every learner.
inline constexpr const char* kOwnPrefix = "starts/";
// The checksum of all state that the learners of a run have in common.
uint64_t digest(const Algorithm& algorithm);

// Never learns: the baseline.
class NoAlgorithm : public Algorithm {
 public:
  std::string weights() override { return {}; }
  UpdateReport update(std::vector<Episode>, const UpdateContext&) override { return {}; }
};

}  // namespace rlgo::learner
