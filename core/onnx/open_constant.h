// Shape arithmetic on integers that depend on a model's open sizes.
#pragma once

#include <optional>
#include <span>

#include "core/onnx/onnx_node.h"
#include "core/ops/extent.h"

namespace rlgo::onnx_io {

// A small tensor of integers or truth values, row-major.
struct OpenConstant {
  ops::TensorType type;  // its shape does not depend on open sizes
  ops::Extents items;
};

// Nothing where the constant is of floats.
std::optional<OpenConstant> to_open(const Constant& constant);
// Where no item depends on an open size.
std::optional<Constant> to_closed(const OpenConstant& constant);

// The value of the operator's single output for all sizes. `known` has the inputs' values, null where not known; the
// node's types are those at the sample sizes, with open extents. Nothing where it is not one function of the sizes.
std::optional<OpenConstant> evaluate_open(const OnnxNode& node, std::span<const OpenConstant* const> known);

// The extents that Reshape, Flatten, Slice, Expand, ConstantOfShape and Resize (by sizes) make, where `known` shows;
// nothing where it does not, and for other operators.
std::optional<ops::Extents> open_output(const OnnxNode& node, std::span<const OpenConstant* const> known);

}  // namespace rlgo::onnx_io
