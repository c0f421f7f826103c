// Options of agents with a world model: how the model is trained, what dreams are for, when they count.
#pragma once

#include <cstdint>
#include <string>

#include "actors/dream_options.h"
#include "core/base/options.h"
#include "core/nets/options.h"

namespace rlgo::learner {

struct WorldTrainerOptions {
  bool train_encoder = false;       // jointly with the rest, against a slow copy of itself; else it stays as it is
  double learning_rate = 1e-3;      // > 0, of Adam, at the start
  double learning_rate_end = 1e-5;  // <= learning_rate; reached at progress 1 by a polynomial of degree 2
  int passes = 16;                  // over the trajectories of an update
  int batch = 4;                    // episodes side by side, >= 1
  int sequence = 16;           // steps of back-propagation through time; longer episodes continue with the state so far
  double max_grad_norm = 1.0;  // 0 = off
  double reward_weight = 1, terminal_weight = 1, terminal_positive_weight = 1, present_weight = 1, count_weight = 1;
  double variance_weight = 1;  // train_encoder: keeps the deviation of each latent above kMinLatentDeviation
  double target_decay = 0.99;  // train_encoder: of the slow copy, per gradient step
  double holdout = 0.1;        // fraction of episodes that are measured before, and not trained on, [0, 0.5]
};
// Options wm.passes, wm.lr, ...
void declare(OptionSink& sink, WorldTrainerOptions& options);
// Throws Error naming the option that is out of bounds.
void check(const WorldTrainerOptions& options);

// Where the encoder of the world model comes from: trained with it, taken from a model-free run, fixed at random, or
// trained before it, on what was played in the first epoch (autoencoder.h).
enum class EncoderSource : uint8_t { joint, ppo, random, autoencoder };
inline constexpr Named<EncoderSource> kEncoderSources[] = {{"joint", EncoderSource::joint},
                                                           {"ppo", EncoderSource::ppo},
                                                           {"random", EncoderSource::random},
                                                           {"autoencoder", EncoderSource::autoencoder}};
// What the world model trains on: what has just arrived, or also draws from a rollout store.
enum class WorldData : uint8_t { online, store };
inline constexpr Named<WorldData> kWorldData[] = {{"online", WorldData::online}, {"store", WorldData::store}};
// Where dreams begin: at the unmodified graph, or at states of real episodes.
enum class DreamStart : uint8_t { initial, replayed };
inline constexpr Named<DreamStart> kDreamStarts[] = {{"initial", DreamStart::initial},
                                                     {"replayed", DreamStart::replayed}};

// What a world model predicts: the next observation and its reward, which agents dream in; or the latency of a graph
// that exact rewriting makes (learner/session/latency_agent.h).
enum class WorldKind : uint8_t { dream, latency };
inline constexpr Named<WorldKind> kWorldKinds[] = {{"dream", WorldKind::dream}, {"latency", WorldKind::latency}};

struct DreamAgentOptions {
  WorldKind kind = WorldKind::dream;
  // False (model-based): random play trains the world model, then the controller learns in its dreams alone and its
  // evaluations train the model on. True (hybrid): real play trains both; dreams join in once the model predicts
  // rewards well enough.
  bool hybrid = false;
  EncoderSource encoder = EncoderSource::random;
  std::string encoder_from;  // ppo: folder of the model-free run
  WorldData data = WorldData::online;
  std::string store;           // WorldData::store: rollouts of another run; "": this run's own
  int64_t store_steps = 1024;  // ... drawn per epoch, >= 1
  double fraction = 0.5;       // model-based: of the run in which random play trains the world model, (0, 1)
  bool play_noop = false;      // random play may end an episode by NO-OP; else it stops at nothing but the step limit
  bool on_policy = true;  // model-based: the world model learns from evaluations, too: the controller's own episodes
  DreamStart start = DreamStart::replayed;
  int actors = 0;                  // ranks that dream; 0: the learner dreams itself
  int64_t steps_per_epoch = 4096;  // dreamed, >= 1
  int length = 10;                 // steps after which a dream is cut off; 0: that of a real episode
  // Dreams are learned from while what they err by on the controller's own episodes is at most so many times the gain
  // that they and reality agree on (keeps_promise); 0: always.
  double guard = 1;
  int64_t evaluate_every = 10;  // epochs of dreaming between two evaluations in the real environment, >= 1
  double warmup = 0.1;          // hybrid: fraction of the run that is played at random, [0, 1]
  double threshold = 0.5;       // hybrid: correlation of predicted and real rewards from which dreams count, [-1, 1]
  double real_fraction = 0.3;   // hybrid: least fraction of real steps in what the controller learns from, (0, 1]
  int branch_length = 10;       // hybrid: steps of a dream that branches from a real state, >= 1

  nets::WorldOptions world;  // its encoder's size and the controller's NO-OP bias are those of nets::AgentOptions
  WorldTrainerOptions trainer;
  nets::LatentAgentOptions controller;
  actors::DreamOptions dream;  // max_steps is set from `length` and `branch_length`
};
// Options wm.*, dream.*, hybrid.*, evaluate.every: those of its parts too.
void declare(OptionSink& sink, DreamAgentOptions& options);
// Throws Error where options do not fit each other, or name what is not there.
void check(const DreamAgentOptions& options);

}  // namespace rlgo::learner
