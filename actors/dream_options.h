// Options of dreams: episodes of the world model.
#pragma once

#include "core/base/options.h"

namespace rlgo::actors {

struct DreamOptions {
  int batch = 256;           // dreams side by side, >= 1
  int max_steps = 200;       // after which a dream is cut off (truncated), >= 1
  double temperature = 1.0;  // of the mixtures (see nets::sample), >= 0; 0: the likeliest future
  bool scale_noise = true;   // noise times sqrt(temperature)
  // Reward units that a standard deviation of the ensemble's predictions costs, >= 0; needs an ensemble of several.
  double penalty = 0;
};
// Options dream.*, but for the length: whoever makes an environment of it knows that of an episode.
void declare(OptionSink& sink, DreamOptions& options);

}  // namespace rlgo::actors
