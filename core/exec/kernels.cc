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

bool is_wide_unsigned(const at::Tensor& t) {
  return t.scalar_type() == at::kUInt16 || t.scalar_type() == at::kUInt32 || t.scalar_type() == at::kUInt64;
}

// LibTorch has few kernels for unsigned numbers of more than eight bits; i64 holds them, of u64 those below 2^63.
Tensors run_as_i64(const Call& call) {
  Tensors in(call.in.begin(), call.in.end());
  for (auto& tensor : in) {
    if (!is_wide_unsigned(tensor)) continue;
    tensor = tensor.to(at::kLong);
    if (tensor.lt(0).any().item<bool>())
      fail("{}: u64 values of 2^63 and more are not supported; cast them to a type with a sign", spell(call));
  }
  Call with_sign = call;
  with_sign.in = in;
  Tensors out = kernel_of(call.info.op)(with_sign);
  for (size_t k = 0; k < out.size(); ++k) out[k] = out[k].to(call.options(call.info.outputs[k].dtype));
  return out;
}

Tensors run_in_own_types(const Call& call) {
  try {
    return kernel_of(call.info.op)(call);
  } catch (const c10::Error&) {
    if (std::ranges::none_of(call.in, is_wide_unsigned)) throw;
    return run_as_i64(call);
  }
}

}  // namespace

Tensors run_kernel(const Call& call) {
  const auto& types = call.info.outputs;
  if (!types.empty() && std::ranges::none_of(types, has_elements)) return empty_outputs(call);
  try {
    Tensors out = run_in_own_types(call);
    RLGO_CHECK_EQ(out.size(), types.size());
    for (auto& tensor : out) tensor = tensor.contiguous();
    return out;
  } catch (const c10::Error& error) {
    fail("{}: {}", spell(call), reason_of(error));
  }
}

}  // namespace rlgo::exec
