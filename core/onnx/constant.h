// Small constant tensors as numbers, and the arithmetic on them that models do with shapes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ops/types.h"

namespace rlgo::onnx_io {

struct OnnxNode;

// Elements row-major: of integer and boolean types in `ints`, of floating types in `floats`; the other one is empty.
struct Constant {
  ops::TensorType type;
  std::vector<int64_t> ints;
  std::vector<double> floats;

  bool is_float() const { return ops::is_float(type.dtype); }
  size_t size() const { return is_float() ? floats.size() : ints.size(); }
};

// Whether a tensor of that type is worth keeping as a Constant: integers up to 65,536 elements, floats up to 64.
bool is_small(const ops::TensorType& type);
// From and to raw little-endian bytes. The type must be one of rlgo's, and the bytes fit it.
Constant constant_from_bytes(const ops::TensorType& type, std::string_view bytes);
std::string to_bytes(const Constant& constant);
// One number as an element of that type, rounded (f16 and bf16 to nearest even).
std::string element_bytes(ops::DType dtype, double value);

// The value of an output of the operator (of any but Split its only one), where its inputs are known (for Shape and
// Size: their types) and the operator is one of shape arithmetic. Nothing where not, or where the result is not small.
std::optional<Constant> evaluate(const OnnxNode& node, size_t output = 0);

}  // namespace rlgo::onnx_io
