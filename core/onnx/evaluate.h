// Evaluators of single operators on small constants that stand in files of their own; see evaluate() in constant.h.
#pragma once

#include <optional>

#include "core/onnx/onnx_node.h"

namespace rlgo::onnx_io {

// evaluate_move.cc. All inputs that are present are constant. Nothing where the node is damaged.
std::optional<Constant> evaluate_slice(const OnnxNode& node);
std::optional<Constant> evaluate_transpose(const OnnxNode& node);

}  // namespace rlgo::onnx_io
