// The model that a run's options name.
#pragma once

#include "core/optimise/model.h"
#include "launch/config.h"

namespace rlgo::launch {

using optimise::check_rewritable;
using optimise::export_model;
using optimise::LoadedModel;
using optimise::normalisation_text;
using optimise::open_input_shapes;

inline optimise::ModelOptions model_options(const RunConfig& config) {
  return {config.graph,      config.dims,         config.sizes,    config.zoo_batch,
          config.zoo_layers, config.zoo_sequence, config.zoo_image, config.onnx};
}
// `with_weights`: false for ranks that rewrite but never compute. Throws Error on an unknown name or a bad file.
inline LoadedModel load_model(const RunConfig& config, bool with_weights) {
  return optimise::load_model(model_options(config), with_weights);
}

}  // namespace rlgo::launch
