// Bodies of If, Loop and Scan, before a graph is made of the model.
#pragma once

#include <vector>

#include "core/onnx/onnx.h"

namespace onnx {
class ModelProto;
}

namespace rlgo::onnx_io {

// Constants (initialisers and Constant operators with a dense tensor) that only bodies of If, Loop and Scan read become
// initialisers of these bodies. What a body takes from around it a runtime hands over at every run; what it holds, it
// prepares once. A constant that several bodies read is copied where it has at most 16 elements, else it stays. Inputs
// of the graph, parameters of quantisation, models of ir_version 3 and before, where initialisers must be inputs, and
// models with standard operators of their own stay as they are; at most 64 MiB move (a body is one piece in memory).
// Values and their types are the same for all sizes of open dimensions. Returns what moved, in order; empty the second
// time. Throws Error where a tensor's shape is none.
std::vector<Change> move_constants_into_bodies(onnx::ModelProto& model);

}  // namespace rlgo::onnx_io
