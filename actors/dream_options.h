// Options of dreams: episodes of the world model.
#pragma once

#include "core/base/options.h"

namespace rlgo::actors {

struct DreamOptions {
  int batch = 256;           // dreams side by side, >= 1
  int max_steps = 200;       // after which a dream is cut off (truncated), >= 1
  double temperature = 1.0;  // of the mixtures (see nets::sample), >= 0; 0: the likeliest future
  bool scale_noise = true;   // noise times sqrt(temperature)
  // What a deviation of the ensemble's predictions costs, as its multiple, >= 0; needs an ensemble of several.
  double penalty = 0;
  bool clip_reward = true;  // rewards stay in the range that their rule's had in training
  bool clip_latent = true;  // latents stay in the range that they had in training
};
// Options dream.*, but for the length: the caller that makes an environment of it knows that of an episode.
void declare(OptionSink& sink, DreamOptions& options);

}  // namespace rlgo::actors
