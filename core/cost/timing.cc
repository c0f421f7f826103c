#include "core/cost/timing.h"

namespace rlgo::cost {

void declare(OptionSink& o, TimingOptions& timing) {
  o.integer("cost.warmup", timing.warmup, 0, 1000, "runs before timing");
  o.integer("cost.repeats", timing.repeats, 1, 10000, "timed samples of an operator; the median counts");
  o.number("cost.min-sample-us", timing.min_sample_us, 0, 1e9,
           "shortest sample: quick operators run several times in one, us");
  o.integer("cost.threads", timing.threads, 1, 1024,
            "threads of an operator while it is timed, and of the end-to-end measurement");
  o.flag("cost.learned", timing.learned,
         "what is not timed is estimated by prices learned from other models, where the target has them; else by a "
         "formula");
}

}  // namespace rlgo::cost
