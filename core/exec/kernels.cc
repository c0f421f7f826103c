#include "core/exec/kernels.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"

namespace rlgo::exec {
namespace {

Kernel kernel_of(ops::Op op) {
  switch (op) {
#define RLGO_OP(name, id) \
  case ops::Op::name:     \
    return name##_kernel;
#include "core/ops/op_list.def"
#undef RLGO_OP
  }
  fail("internal: no operator has the id {} (this is a bug of rlgo)", static_cast<int>(op));
}

std::string spell(const Call& call) {
  std::vector<std::string> types;
  for (const auto& tensor : call.in) {
    types.push_back(to_string(type_of(tensor)));
  }
  return fmt::format("{}({}) {}", ops::name(call.info.op), join(types, ", "), to_string(call.attrs()));
}

bool has_elements(const ops::TensorType& type) { return !type.is_static() || type.elements() > 0; }

// Many LibTorch kernels refuse empty tensors that ONNX allows; there is nothing to compute.
Tensors empty_outputs(const Call& call) {
  Tensors out;
  for (const auto& type : call.info.outputs) out.push_back(at::empty(sizes_of(type), call.options(type.dtype)));
  return out;
}

}  // namespace

Tensors run_kernel(const Call& call) {
  const auto& types = call.info.outputs;
  if (!types.empty() && std::ranges::none_of(types, has_elements)) return empty_outputs(call);
  try {
    Tensors out = kernel_of(call.info.op)(call);
    RLGO_CHECK_EQ(out.size(), types.size());
    for (auto& tensor : out) tensor = tensor.contiguous();
    return out;
  } catch (const c10::Error& error) {
    fail("{}: {}", spell(call), reason_of(error));
  }
}

}  // namespace rlgo::exec
