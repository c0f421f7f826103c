// Shared by the family files (elementwise.cc, conv.cc, ...): one `NAME_spec()` per line of op_list.def, and the checks
// that their inference functions have in common. Not for other modules: they use op.h.
#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "core/ops/op.h"

namespace rlgo::ops {

// Declared for every operator: one without a family file is a link error.
#define RLGO_OP(name, id) OpSpec name##_spec();
#include "core/ops/op_list.def"
#undef RLGO_OP

using Inputs = std::span<const TensorType>;
using Inferred = std::optional<Types>;

// Operations counted for one exp, tanh, erf, log, pow or the like: about what vectorised polynomial versions take.
constexpr double kTranscendentalFlops = 8.0;

inline Inferred no_infer(Inputs, const Attrs&) { return std::nullopt; }
inline Work no_work(Inputs, const Attrs&) { return {}; }

inline Inferred one(DType dtype, Shape shape) {  // a single output of this type
  Types types;
  types.emplace_back(dtype, std::move(shape));
  return types;
}

// The outputs of an operator, by the statement of its shapes (shapes.h), of this element type. What that states of
// ranks, extents and numbers is checked; types and words are the caller's.
Inferred shaped(Op op, DType dtype, Inputs in, const Attrs& attrs);

inline bool is_number(DType d) { return d != DType::other && d != DType::boolean; }
inline bool same_dtype(Inputs inputs) {  // whether all have the first one's type
  return std::ranges::all_of(inputs, [&](const TensorType& t) { return t.dtype == inputs[0].dtype; });
}
inline bool same_float(Inputs inputs) { return is_float(inputs[0].dtype) && same_dtype(inputs); }
inline bool is_axis(int64_t axis, int rank) { return axis >= 0 && axis < rank; }
inline bool is_flag(int64_t value) { return value == 0 || value == 1; }
inline bool all_at_least(const Ints& values, size_t count, int64_t least) {  // `count` values, none below `least`
  return values.size() == count && std::ranges::all_of(values, [least](int64_t v) { return v >= least; });
}
// Strictly increasing, each an axis of a tensor of that rank.
inline bool are_axes(const Ints& axes, int rank) {
  return std::ranges::adjacent_find(axes, std::greater_equal<>()) == axes.end() &&
         std::ranges::all_of(axes, [rank](int64_t a) { return is_axis(a, rank); });
}

// What infer states of the outputs' extents where an input's are open, given its answer `types` at the sample sizes
// (open_infer.cc). What is needed and not certain is appended to `required`; null: nothing may be needed.
struct Requirement;
Inferred infer_open(const OpSpec& spec, Inputs inputs, const Attrs& attrs, Types types,
                    std::vector<Requirement>* required);

// The attribute `act`: gelu is the erf form.
constexpr std::string_view kActivations[] = {"none", "relu", "sigmoid", "tanh", "gelu", "hard_swish"};
bool is_activation(std::string_view act);
// Operations for each output element; 0 for none.
double activation_flops(std::string_view act);

inline double count(const TensorType& type) { return static_cast<double>(type.elements()); }
inline double bytes_of(Inputs types) {  // of all tensors together
  double sum = 0;
  for (const auto& type : types) sum += static_cast<double>(type.bytes());
  return sum;
}
// Bytes of all inputs and outputs.
inline Work moved(double flops, Inputs inputs, const Types& outputs) {
  return {flops, bytes_of(inputs) + bytes_of(outputs)};
}

// Output extent of a window that slides along one axis (convolution, pooling); nothing where the window does not fit
// once, or the numbers overflow. With `round_up`, windows that would start behind input and begin padding are left out
// (ONNX MaxPool, ceil_mode). All arguments >= 0, window, stride and dilation >= 1.
std::optional<int64_t> window_extent(int64_t extent, int64_t pad_begin, int64_t pad_end, int64_t window, int64_t stride,
                                     int64_t dilation, bool round_up);

}  // namespace rlgo::ops
