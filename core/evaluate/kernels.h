// One kernel for each operator, without LibTorch: for checks and for constant folding.
#pragma once

#include <span>

#include "core/evaluate/parallel.h"
#include "core/evaluate/tensor.h"
#include "core/graph/graph.h"

namespace rlgo::evaluate {

// `native` computes in the types of the graph (16-bit floats in float, rounded once an operator); `f64` holds all
// floats as double.
enum class Precision { native, f64 };

// The type that holds values of `dtype`.
ops::DType held(ops::DType dtype, Precision precision);

// One computation of one node. Inputs are of the node's input types as `precision` holds them.
struct Call {
  std::span<const Tensor> in;
  const graph::NodeInfo& info;
  Precision precision = Precision::native;
  Run run = {};

  const ops::Attrs& attrs() const { return info.attrs; }
  Tensor output(size_t port = 0) const {  // with elements that are not set
    return {held(info.outputs[port].dtype, precision), info.outputs[port].shape};
  }
};

// One tensor for each output, with the inferred shapes. Outputs may share memory with inputs (reshape). Input and
// opaque nodes have no kernel here: Error.
Tensors run_kernel(const Call& call);

// Rounded to nearest even for floats. A float outside of an integer type's range gives what the processor gives.
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
