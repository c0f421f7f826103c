#include "learner/session/scale_options.h"

#include "core/base/text.h"
#include "core/base/usage.h"

namespace rlgo::learner {

void declare(OptionSink& o, ScaleOptions& scale) {
  o.heading("Bench scale");
  o.texts("scale.ranks", scale.ranks, "numbers of actor ranks, separated by commas; the learners are more");
  o.number("scale.seconds", scale.seconds, 1, 3600, "how long each run is watched once all its actors are at work, s");
  o.integer("scale.steps-per-actor", scale.steps_per_actor, 1, 1'000'000,
            "--train.steps-per-epoch is this times the number of actors");
  o.text("scale.csv", scale.csv, "write the numbers to this file, too");
  o.text("scale.launcher", scale.launcher, "what starts the ranks: mpirun or srun, with options");
  o.texts("scale.simulate", scale.simulate,
          "rank 0 alone, with its messages and its store, against this many actors that send recorded episodes "
          "(numbers, separated by commas)");
  declare(o, scale.simulation);
}

std::vector<int> ScaleOptions::counts() const {
  std::vector<int> out;
  for (const auto& text : simulated() ? simulate : ranks) {
    const auto count = parse_int(text);
    if (!count || *count < 1 || *count > 4096) fail_usage("--ranks: '{}' is no number of actors in [1..4096]", text);
    out.push_back(static_cast<int>(*count));
  }
  return out;
}

}  // namespace rlgo::learner
