// One kernel per operator: the LibTorch computation of what core/ops infers.
#pragma once

#include <span>

#include "core/exec/tensors.h"
#include "core/graph/graph.h"

namespace rlgo::exec {

// One computation of one node. Input tensors are contiguous, on `device`, of the node's input types (as `precision`
// holds them), and must not be written to.
struct Call {
  std::span<const at::Tensor> in;
  const graph::NodeInfo& info;
  at::Device device{at::kCPU};
  Precision precision = Precision::native;
  // For integer outputs of opaque operators: what output p is made of stays below index_bounds[p], so that a gather
  // that reads it finds its rows. Empty: evaluate::kIndexBound.
  std::span<const int64_t> index_bounds = {};

  const ops::Attrs& attrs() const { return info.attrs; }
  at::TensorOptions options(ops::DType dtype) const {  // type and device of a new tensor
    return at::TensorOptions(to_torch(dtype, precision)).device(device);
  }
};

using Kernel = Tensors (*)(const Call& call);

// Runs the node's kernel: one contiguous tensor per output, with the inferred shapes and dtypes. Outputs may share
// memory with inputs (reshape). LibTorch's errors come back as Error with the call spelled out.
// An input node has no computation: Error.
Tensors run_kernel(const Call& call);

// x with the activation word `act` applied in place.
void activate_in_place(at::Tensor& x, std::string_view act);

// In each family file; one without is a link error.
#define RLGO_OP(name, id) Tensors name##_kernel(const Call& call);
#include "core/ops/op_list.def"
#undef RLGO_OP

}  // namespace rlgo::exec
