// A graph auto-encoder (Kipf and Welling 2016, "Variational graph auto-encoders", without the variance): what trains an
// encoder where nobody else does.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "core/mdp/mdp.h"
#include "core/nets/gn.h"

namespace rlgo::learner {

struct AutoencoderOptions {
  int passes = 4;  // over the observations
  int batch = 32;  // graphs
  double learning_rate = 1e-3;
};

// Trains the encoder until decoders, which are forgotten then, read a graph from its latents: from the rows of two
// nodes whether an edge joins them, as against pairs drawn at random; from the global latent how often each operator
// occurs. Returns the loss of the last pass over that of the first. Depends on the seed, not on LibTorch's generator.
double pretrain(nets::Encoder& encoder, std::span<const mdp::Observation* const> observations,
                const mdp::ObservationSpec& spec, torch::Device device, uint64_t seed,
                const AutoencoderOptions& options = {}, const std::function<void()>& between = {});

}  // namespace rlgo::learner
