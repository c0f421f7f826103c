// One kernel for each operator, without LibTorch: for checks and for constant folding.
#pragma once

#include <span>

#include "core/evaluate/parallel.h"
#include "core/evaluate/tensor.h"
#include "core/graph/graph.h"

namespace rlgo::evaluate {

// `native` computes in the types of the graph (16-bit floats in float, rounded once an operator); `f64` holds all
// floats as double. `wider` holds 16-bit floats as f32 and f32 as f64: for folding, where results are rounded once at
// the end.
enum class Precision { native, f64, wider };

// Synthetic integers are in [0, kIndexBound) where nothing asks for less.
constexpr int64_t kIndexBound = 8;

// The type that holds values of `dtype`.
ops::DType held(ops::DType dtype, Precision precision);

// One computation of one node. Inputs are of the node's input types as `precision` holds them; the weight of a
// convolution and the right side of a matrix product may be f32 in place of f64.
struct Call {
  std::span<const Tensor> in;
  const graph::NodeInfo& info;
  Precision precision = Precision::native;
  Run run = {};
  // For integer outputs of opaque operators: what output p is made of stays below index_bounds[p], so that a gather
  // that reads it finds its rows. Empty: kIndexBound.
  std::span<const int64_t> index_bounds = {};

  const ops::Attrs& attrs() const { return info.attrs; }
  Tensor output(size_t port = 0) const {  // with elements that are not set
    return {held(info.outputs[port].dtype, precision), info.outputs[port].shape};
  }
};

// One tensor for each output, with the inferred shapes. Outputs may share memory with inputs (reshape). Input and
// opaque nodes have no kernel here: Error.
Tensors run_kernel(const Call& call);

// Rounded to nearest even for floats. A float outside of an integer type's range gives what LibTorch gives on x86: the
// low bits of its value in 32 (of u8 and i64: 64) bits with a sign, of the smallest such integer where it has none.
Tensor cast(const Tensor& x, ops::DType dtype, const Run& run = {});

// x with the activation word `act`, in place.
void activate(Tensor& x, std::string_view act, const Run& run);
// x + y in place; y broadcasts to x.
void add_to(Tensor& x, const Tensor& y, const Run& run);

// In each family file; one without is a link error.
#define RLGO_OP(name, id) Tensors name##_kernel(const Call& call);
#include "core/ops/op_list.def"
#undef RLGO_OP

}  // namespace rlgo::evaluate
