#include "actors/dream_options.h"

namespace rlgo::actors {

void declare(OptionSink& o, DreamOptions& dream) {
  o.number("dream.temperature", dream.temperature, 0, 100, "of the mixtures in dreams; 0: the likeliest future");
  o.number(
      "dream.penalty", dream.penalty, 0, 1e6,
      "multiple of the deviation of the ensemble's rewards, and of its latents in deviations of the reward, that is "
      "taken off a dreamed reward (needs --wm.ensemble of 2 or more); 0: off");
  o.flag("dream.clip-reward", dream.clip_reward,
         "dreamed rewards stay in the range that their rule's had in training (--wm.ranges)");
  o.flag("dream.clip-latent", dream.clip_latent,
         "dreamed latents stay in the range that latents had in training (--wm.ranges)");
  o.integer("dream.batch", dream.batch, 1, 100000, "dreams side by side");
  o.flag("dream.scale-noise", dream.scale_noise, "the temperature's square root scales the noise too");
}

}  // namespace rlgo::actors
