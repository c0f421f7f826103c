// Both evaluators on the same numbers: LibTorch's kernels (core/exec) and those without it, in all types.
#include "core/evaluate/gemm.h"
#include "core/evaluate/kernels.h"
#include "core/exec/values.h"
#include "tests/core/exec/random_calls.h"

namespace rlgo::evaluate {
namespace {

using ops::Attr;
using ops::DType;
using ops::Op;

exec::Tensors run_ours(Op op, const exec::Tensors& in, const ops::Attrs& attrs, Precision precision) {
  ops::Types types;
  Tensors inputs;
  for (const auto& x : in) {
    types.push_back(exec::type_of(x));
    inputs.push_back(cast(exec::from_torch(x), held(types.back().dtype, precision)));
  }
  const auto info = exec::info_of(op, types, attrs);
  exec::Tensors out;
  for (const auto& x : run_kernel({.in = inputs, .info = info, .precision = precision, .run = {.threads = 2}}))
    out.push_back(exec::to_torch(x));
  return out;
}

class Evaluators : public testing::TestWithParam<Op> {};

constexpr DType kTypes[] = {DType::f32, DType::f64, DType::f16, DType::bf16, DType::u8,  DType::i8,     DType::u16,
                            DType::i16, DType::u32, DType::i32, DType::u64,  DType::i64, DType::boolean};

// The call with `dtype` in place of f32.
exec::RandomCall with_type(exec::RandomCall call, DType dtype) {
  for (auto& type : call.inputs) {
    if (type.dtype == DType::f32) type.dtype = dtype;
  }
  return call;
}

exec::Tensors some_values(Op op, const exec::RandomCall& call, uint64_t seed) {
  auto in = exec::values_for(op, call, seed);
  for (size_t i = 0; i < in.size(); ++i) {  // no integer is divided by zero; steps into 16-bit types stay exact
    if (op == Op::div && i == 1 && !ops::is_float(call.inputs[i].dtype)) in[i] = in[i].to(at::kLong).abs() + 1;
    in[i] = in[i].to(exec::to_torch(call.inputs[i].dtype));
  }
  return in;
}

TEST_P(Evaluators, Agree) {
  const Op op = GetParam();
  Rng rng({11, static_cast<uint64_t>(op)});
  int fitting = 0;
  for (uint64_t trial = 0; trial < 390; ++trial) {
    const DType dtype = kTypes[trial % std::size(kTypes)];
    auto random = exec::some_call(rng, op);
    if (!random) return;
    random = with_type(*random, dtype);
    const auto complete = ops::complete_attrs(op, random->attrs);
    if (!ops::infer(op, random->inputs, *complete)) continue;
    ++fitting;
    const auto in = some_values(op, *random, trial);
    const double narrow = dtype == DType::bf16 ? 4e-2 : dtype == DType::f16 ? 5e-3 : 2e-5;
    for (const auto& [mine, other, tolerance] : {std::tuple(Precision::f64, exec::Precision::f64, 1e-9),
                                                 {Precision::native, exec::Precision::native, narrow}}) {
      const auto expected = exec::call_all(op, in, random->attrs, other);
      const auto actual = run_ours(op, in, random->attrs, mine);
      ASSERT_EQ(actual.size(), expected.size());
      for (size_t p = 0; p < actual.size(); ++p) {
        ASSERT_EQ(actual[p].scalar_type(), expected[p].scalar_type());
        exec::expect_near(actual[p], expected[p], tolerance);
      }
      if (HasFailure()) FAIL() << ops::name(op) << " " << ops::name(dtype) << " " << to_string(*complete);
    }
  }
  EXPECT_GE(fitting, 30) << "too few random calls fit";
}

INSTANTIATE_TEST_SUITE_P(AllOps, Evaluators, testing::ValuesIn(ops::all_ops().begin(), ops::all_ops().end()),
                         [](const auto& param) { return std::string(ops::name(param.param)); });

TEST(Evaluators, EveryInstructionSetMultipliesAlike) {
  const at::Tensor a = at::randn({3, 37, 301}, at::kDouble), b = at::randn({301, 83}, at::kDouble);
  for (const auto* kernel : {"base", "avx2", "avx512"}) {
    if (std::string_view(kernel) > gemm_kernel() && gemm_kernel() == "avx2") continue;
    gemm_kernel(kernel);
    exec::expect_near(run_ours(Op::matmul, {a, b}, {}, Precision::f64)[0], at::matmul(a, b), 1e-10);
  }
  gemm_kernel();
}

TEST(Evaluators, CastLikeLibTorchWhereItRoundsOnce) {
  std::vector<float> values{0.0F,    -0.0F, 65519.9F, 65520.0F, 1e-8F, 6e-8F,   2049.0F,
                            2051.0F, 1e38F, 3.4e38F,  -1e-45F,  NAN,   INFINITY};
  const at::Tensor x = at::tensor(values);
  for (const auto* to : {"f16", "bf16", "f64", "f32"}) {
    const ops::Attrs attrs{{Attr::to, std::string(to)}};
    EXPECT_TRUE(at::allclose(run_ours(Op::cast, {x}, attrs, Precision::native)[0].to(at::kDouble),
                             exec::call(Op::cast, {x}, attrs).to(at::kDouble), 0, 0, /*equal_nan=*/true))
        << to;
  }
}

}  // namespace
}  // namespace rlgo::evaluate
