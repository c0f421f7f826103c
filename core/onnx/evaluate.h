// Evaluators of operators on small constants; see evaluate() in constant.h.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "core/onnx/onnx_node.h"

namespace rlgo::onnx_io {

struct Evaluator {
  std::optional<Constant> (*evaluate)(const OnnxNode& node) = nullptr;  // null: none
  size_t least_inputs = 0;
};

// evaluate_index.cc. Without a function where the operator is none of those there.
Evaluator index_evaluator(std::string_view op);

// evaluate_move.cc. All inputs that are present are constant. Nothing where the node is damaged.
std::optional<Constant> evaluate_slice(const OnnxNode& node);
std::optional<Constant> evaluate_transpose(const OnnxNode& node);
// One output of Split.
std::optional<Constant> evaluate_split(const OnnxNode& node, size_t output);

// evaluate_elementwise.cc. Operators that compute each element by itself, in the arithmetic of its type: numbers of
// floating types are rounded as a runtime rounds them. Nothing where the operator is another one, where runtimes differ
// (overflow of integers, division by zero, NaN in Min and Max), or where its rounding is not exact (Exp, Pow).
std::optional<Constant> evaluate_elementwise(const OnnxNode& node);

// Whether an integer or truth value is one of that type; false for u64, which a Constant does not hold.
bool fits(ops::DType dtype, int64_t value);
// The number as an element of that type holds it.
double element_value(ops::DType dtype, double value);
// Of that type, without elements. Nothing where it is not small.
std::optional<Constant> empty_like(ops::DType dtype, const ops::Shape& shape);
// Calls visit(k, place) for every element k of `shape`, place = its coordinates.
void for_each_place(const ops::Shape& shape,
                    const std::function<void(int64_t k, const std::vector<int64_t>& place)>& visit);
// Index of the element of `shape` (broadcast to a larger shape) that lies at `place` of the larger one.
size_t broadcast_index(const ops::Shape& shape, const std::vector<int64_t>& place);

}  // namespace rlgo::onnx_io
