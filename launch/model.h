// The model that a run's options name.
#pragma once

#include "core/optimise/model.h"

namespace rlgo::launch {

using optimise::check_rewritable;
using optimise::export_model;
using optimise::load_model;
using optimise::LoadedModel;
using optimise::ModelOptions;
using optimise::normalisation_text;
using optimise::open_input_shapes;

}  // namespace rlgo::launch
