#include "actors/dream_options.h"

namespace rlgo::actors {

void declare(OptionSink& o, DreamOptions& dream) {
  o.number("dream.temperature", dream.temperature, 0, 100, "of the mixtures in dreams; 0: the likeliest future");
  o.number("dream.penalty", dream.penalty, 0, 1e6,
           "reward that a standard deviation of the ensemble's predictions costs (needs --wm.ensemble of 2 or more); "
           "0: off");
  o.integer("dream.batch", dream.batch, 1, 100000, "dreams side by side");
  o.flag("dream.scale-noise", dream.scale_noise, "the temperature's square root scales the noise too");
}

}  // namespace rlgo::actors
