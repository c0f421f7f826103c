#include "core/evaluate/kernels.h"

#include <algorithm>

#include "core/base/text.h"

namespace rlgo::evaluate {
namespace {

bool has_elements(const ops::TensorType& type) { return !type.is_static() || type.elements() > 0; }

Tensors run(const Call& call) {
  const auto& types = call.info.outputs;
  if (!types.empty() && std::ranges::none_of(types, has_elements)) {
    Tensors empty;
    for (size_t p = 0; p < types.size(); ++p) empty.push_back(call.output(p));
    return empty;
  }
  switch (call.info.op) {
#define RLGO_OP(name, id) \
  case ops::Op::name:     \
    return name##_kernel(call);
#include "core/ops/op_list.def"
#undef RLGO_OP
  }
  fail("internal: no operator has the id {} (this is a bug of rlgo)", static_cast<int>(call.info.op));
}

std::string spell(const Call& call) {
  std::vector<std::string> types;
  for (const auto& tensor : call.in) types.push_back(to_string(tensor.type()));
  return fmt::format("{}({}) {}", ops::name(call.info.op), join(types, ", "), to_string(call.attrs()));
}

}  // namespace

ops::DType held(ops::DType dtype, Precision precision) {
  if (dtype == ops::DType::other) dtype = ops::DType::f32;
  if (precision == Precision::native || !ops::is_float(dtype)) return dtype;
  return precision == Precision::wider && ops::size_bytes(dtype) == 2 ? ops::DType::f32 : ops::DType::f64;
}

Tensors run_kernel(const Call& call) {
  try {
    Tensors out = run(call);
    RLGO_CHECK_EQ(out.size(), call.info.outputs.size());
    return out;
  } catch (const Stopped&) {
    throw;
  } catch (const Error& error) {
    fail("{}: {}", spell(call), error.what());
  }
}

}  // namespace rlgo::evaluate
