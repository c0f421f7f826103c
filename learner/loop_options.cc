#include "learner/loop_options.h"

#include "learner/distributed/aggregator.h"

namespace rlgo::learner {

void choose_ranks(LoopOptions& loop, actors::Inference inference, std::span<const int> nodes) {
  if (loop.aggregate) loop.via = choose_aggregators(nodes, loop.learners);
  if (inference == actors::Inference::node) loop.inference = actors::choose_inference_ranks(nodes, loop.learners);
}

void declare_length(OptionSink& o, LoopOptions& loop) {
  o.integer("epochs", loop.epochs, 0, kNoLimit, "rounds of collecting and updating");
  o.number("seconds", loop.seconds, 0, kInfinity, "end the training after this long, s; 0: no limit");
  o.integer("learners", loop.learners, 1, 100000,
            "learner ranks: ranks 0 to LEARNERS-1 train together, the others act");
}

void declare(OptionSink& o, LoopOptions& loop) {
  o.heading("Training");
  o.integer("train.steps-per-epoch", loop.steps_per_epoch, 1, 100000000,
            "environment steps collected per epoch (whole episodes)");
  o.integer("train.max-lag", loop.max_lag, 0, 1000, "versions that the weights behind a trajectory may be old");
  o.integer("train.min-actors", loop.min_actors, 1, 100000,
            "fewer living actors than this end the run (with a checkpoint)");
  o.number("train.actor-timeout", loop.actor_timeout_s, 1, 1e6,
           "an actor silent for longer is given up (one that starts: five times as long), s");
  o.flag("train.aggregate", loop.aggregate,
         "on nodes with three actors or more one of them passes on what the others send, stores their episodes, and "
         "hands out the weights");
  o.flag("train.reproducible", loop.reproducible,
         "learn from each actor's episodes in a fixed order, however fast each is: same seed and ranks, same weights "
         "(with --cost analytic)");
}

}  // namespace rlgo::learner
