// Changes to ONNX models that a byte at a time would never make.
#pragma once

#include <string>
#include <vector>

#include "core/base/rng.h"

namespace onnx {
class ModelProto;
}

namespace rlgo::fuzz {

// One change of the model; `other` is a model to take parts from.
void change_model(onnx::ModelProto& model, const onnx::ModelProto& other, Rng& rng);

}  // namespace rlgo::fuzz
