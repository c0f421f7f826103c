// Products of matrices by cuBLASLt, with a bias of one row and an activation as its epilogue.
#include <algorithm>

#include "core/gpu/places.h"

namespace rlgo::gpu {

using ops::Attr;
using ops::Op;

namespace {

int64_t product(const int64_t* begin, const int64_t* end) {
  int64_t all = 1;
  for (; begin != end; ++begin) all *= *begin;
  return all;
}

// The batch axes of `x`, of rank >= 2, are those of `batch`, or all of one element. Else it is broadcast first.
Operand batched(const NodeCall& call, const Operand& x, const ops::Shape& batch, int64_t& step) {
  const auto& shape = x.type.shape;
  const size_t rank = shape.size();
  const int64_t matrix = shape[rank - 2] * shape[rank - 1], own = product(shape.begin(), shape.end() - 2);
  step = own == 1 ? 0 : matrix;
  if (own == 1 || own == product(batch.begin(), batch.end())) return x;
  ops::TensorType type(x.type.dtype, batch);
  type.shape.push_back(shape[rank - 2]);
  type.shape.push_back(shape[rank - 1]);
  const Operand wide = call.steps.temporary(type);
  add_expanded(call, x, wide);
  return wide;
}

// One row of as many numbers as the product has columns; of doubles cuBLASLt adds none.
bool is_epilogue(const ops::TensorType& bias, int64_t columns) {
  return bias.rank() >= 1 && bias.shape[bias.shape.size() - 1] == columns && bias.elements() == columns &&
         bias.dtype != ops::DType::f64;
}

// cuBLASLt's GELU is the tanh form, up to 5e-4 off the operator's: numbers of 16 bits do not hold more.
Epilogue epilogue_of(const std::string& act, ops::DType type) {
  if (act == "relu" && type != ops::DType::f64) return kRelu;
  return act == "gelu" && (type == ops::DType::f16 || type == ops::DType::bf16) ? kGelu : kPlain;
}

}  // namespace

bool lower_matmul(const NodeCall& call) {
  if (call.info.op != Op::matmul) return false;
  const auto &a = call.in[0], &b = call.in[1], &out = call.out[0];
  const auto type = a.type.dtype;
  if (a.type.elements() == 0 || b.type.elements() == 0) call.refuse("a sum over no elements");
  Step step = make_step(kMatMul, out.buffer);
  MatMul& matmul = step.matmul;
  const auto& shape = out.type.shape;
  const size_t rank = shape.size();
  matmul.type = kernel_type(call, a.type);
  matmul.n = shape[rank - 1];
  matmul.k = a.type.shape[a.type.shape.size() - 1];
  if (b.type.rank() == 2) {  // one product of many rows
    matmul.m = a.type.elements() / matmul.k;
    matmul.batch = 1;
    step.in[0] = a.buffer;
    step.in[1] = b.buffer;
  } else {
    const ops::Shape batch(std::span(shape.data(), rank - 2));
    matmul.m = shape[rank - 2];
    matmul.batch = product(batch.begin(), batch.end());
    step.in[0] = batched(call, a, batch, matmul.a_step).buffer;
    step.in[1] = batched(call, b, batch, matmul.b_step).buffer;
  }
  const auto& act = call.attrs().word(Attr::act);
  const bool biased = call.in.size() == 3, fuses_bias = biased && is_epilogue(call.in[2].type, matmul.n);
  if (fuses_bias) step.in[2] = call.in[2].buffer;
  if (!biased || fuses_bias) matmul.epilogue = epilogue_of(act, type);
  call.steps.add(step);
  if (biased && !fuses_bias) {
    const Operand both[] = {out, call.in[2]};
    call.steps.add(make_map(call, k_add, both, out));
  }
  if (matmul.epilogue == kPlain) add_activation(call, out, act);
  return true;
}

}  // namespace rlgo::gpu
