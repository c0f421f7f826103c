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
    const bool divides = (op == Op::div || op == Op::mod) && !ops::is_float(call.inputs[i].dtype);
    if (divides) in[i] = i == 0 ? in[i].to(at::kLong) - 4 : in[i].to(at::kLong) * 2 - 7;
    if (divides && !exec::random_value(call.inputs[i], 0, 1, 1).is_signed()) in[i] = in[i].abs();
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
    if (op == Op::mod && !ops::is_float(dtype)) random->attrs.set(Attr::fmod, exec::pick(rng, 0, 1));
    const auto complete = ops::complete_attrs(op, random->attrs);
    if (!ops::infer(op, random->inputs, *complete)) continue;
    ++fitting;
    const auto in = some_values(op, *random, trial);
    const double narrow = dtype == DType::bf16 ? 4e-2 : dtype == DType::f16 ? 5e-3 : 2e-5;
    for (const auto& [mine, other, tolerance] : {std::tuple(Precision::f64, exec::Precision::f64, 1e-9),
                                                 {Precision::native, exec::Precision::native, narrow}}) {
      exec::Tensors expected;
      try {
        expected = exec::call_all(op, in, random->attrs, other);
      } catch (const Error& error) {  // LibTorch lacks some pools of 16-bit floats
        if (std::string_view(error.what()).find("not implemented for") == std::string_view::npos) throw;
        continue;
      }
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
  for (const auto kernel : gemm_kernels()) {
    gemm_kernel(kernel);
    exec::expect_near(run_ours(Op::matmul, {a, b}, {}, Precision::f64)[0], at::matmul(a, b), 1e-10);
  }
  gemm_kernel("");
}

// Shapes at the edges of blocks, of few rows and of few columns.
TEST(Evaluators, ProductsOfAllSizesAgree) {
  for (const auto& [m, k, n] :
       {std::tuple(1, 3000, 70), {5, 300, 700}, {8, 17, 1}, {300, 1, 33}, {241, 257, 513}, {64, 700, 3}}) {
    const at::Tensor a = at::randn({m, k}, at::kDouble), b = at::randn({k, n}, at::kDouble);
    for (const auto precision : {Precision::f64, Precision::native})
      exec::expect_near(run_ours(Op::matmul, {a, b}, {}, precision)[0], at::matmul(a, b), 1e-10);
    exec::expect_near(run_ours(Op::matmul, {a.to(at::kFloat), b.to(at::kFloat)}, {}, Precision::native)[0],
                      at::matmul(a, b), 1e-3);
  }
}

// Many products of a few elements, of which one operand may stand once for all, or once for each row of them.
TEST(Evaluators, ManySmallProductsAgree) {
  using Shape = std::vector<int64_t>;
  for (const auto& [left, right] : {std::pair(Shape{6, 3}, Shape{40, 30, 3, 3}),
                                    {Shape{40, 1, 2, 5}, Shape{30, 5, 4}},
                                    {Shape{7, 1, 1, 6}, Shape{7, 300, 6, 1}},
                                    {Shape{0, 3, 2, 2}, Shape{2, 2}}}) {
    const at::Tensor a = at::randn(left, at::kDouble), b = at::randn(right, at::kDouble);
    for (const auto precision : {Precision::f64, Precision::native})
      exec::expect_near(run_ours(Op::matmul, {a, b}, {}, precision)[0], at::matmul(a, b), 1e-12);
    exec::expect_near(run_ours(Op::matmul, {a.to(at::kFloat), b.to(at::kFloat)}, {}, Precision::native)[0],
                      at::matmul(a, b), 1e-4);
  }
}

// A weight in float gives what the same numbers in double give, to the last bit.
TEST(Evaluators, NarrowWeightsAreWidenedAsTheyAreRead) {
  const auto expect_same = [](Op op, const at::Tensor& x, const at::Tensor& weight, const ops::Attrs& attrs) {
    const auto info = exec::info_of(op, {exec::type_of(x.to(at::kFloat)), exec::type_of(weight)}, attrs);
    const Tensor narrow = exec::from_torch(weight);
    const auto result = [&](const Tensor& w) {
      const Tensors in{exec::from_torch(x), w};
      return exec::to_torch(run_kernel({.in = in, .info = info, .precision = Precision::f64})[0]);
    };
    EXPECT_TRUE(at::equal(result(narrow), result(cast(narrow, DType::f64)))) << ops::name(op);
  };
  const ops::Attrs window{
      {Attr::strides, ops::Ints{1, 2}}, {Attr::dilations, ops::Ints{1, 1}}, {Attr::pads, ops::Ints{1, 0, 1, 1}}};
  for (const auto kernel : gemm_kernels()) {
    gemm_kernel(kernel);
    for (const int64_t rows : {1, 7, 37})
      expect_same(Op::matmul, at::randn({rows, 301}, at::kDouble), at::randn({301, 83}), {});
    expect_same(Op::matmul, at::randn({6, 3}, at::kDouble), at::randn({40, 3, 3}), {});
    for (const int64_t channels : {2, 5, 40})
      expect_same(Op::conv2d, at::randn({2, 8, 9, 11}, at::kDouble), at::randn({channels, 8, 3, 3}), window);
    expect_same(Op::conv_transpose, at::randn({1, 6, 5, 5}, at::kDouble), at::randn({6, 4, 3, 3}), {});
  }
  gemm_kernel("");
}

TEST(Evaluators, ConvolutionsOfManyChannelsAgree) {
  Rng rng({5});
  for (int trial = 0; trial < 40; ++trial) {
    const int64_t kernel = exec::pick(rng, 1, 4), in = exec::pick(rng, 1, 40), out = exec::pick(rng, 1, 40);
    const at::Tensor x = at::randn({2, in, exec::pick(rng, 5, 20), exec::pick(rng, 5, 40)}, at::kDouble),
                     w = at::randn({out, in, kernel, kernel}, at::kDouble);
    const ops::Attrs attrs{{Attr::strides, exec::picks(rng, 2, 1, 2)},
                           {Attr::dilations, exec::picks(rng, 2, 1, 2)},
                           {Attr::pads, exec::picks(rng, 4, 1, 2)}};
    exec::expect_near(run_ours(Op::conv2d, {x, w}, attrs, Precision::f64)[0],
                      exec::call_all(Op::conv2d, {x, w}, attrs, exec::Precision::f64)[0], 1e-9);
  }
}

TEST(Evaluators, ExponentialsAreThoseOfTheLibrary) {
  const at::Tensor x = at::cat({at::linspace(-750, 715, 4001, at::kDouble), at::randn({1000}, at::kDouble)});
  const at::Tensor found = run_ours(Op::exp, {x}, {}, Precision::f64)[0], expected = at::exp(x);
  EXPECT_TRUE(at::equal(found.isinf(), expected.isinf()));
  const at::Tensor finite = expected.isfinite();
  EXPECT_TRUE(at::allclose(found.index({finite}), expected.index({finite}), 4e-16, 5e-324));
  EXPECT_TRUE(at::allclose(run_ours(Op::sigmoid, {x}, {}, Precision::f64)[0], at::sigmoid(x), 1e-15, 5e-324));
}

const std::vector<double> kOdd{0.0,  -0.0, NAN,   INFINITY, -INFINITY, 0.5,   1.5,    2.5,  -0.5,  -1.5, -2.5,
                               1e-3, 100,  -100,  709,      -745,      1e-30, 1e30,   -7,   7,     3,    -3,
                               1,    -1,   1e-45, 65504,    65520,     88.8,  -103.9, 20.5, -20.5, 6,    -6};

// NaN, infinity, both zeros, halves, numbers at the ends of exp: every operator makes of them what LibTorch makes.
TEST_P(Evaluators, AgreeOnOddNumbers) {
  const Op op = GetParam();
  const auto& spec = ops::spec(op);
  const auto takes = [&](const ops::Types& types, const ops::Attrs& attrs) {
    const auto complete = ops::complete_attrs(op, attrs);
    return complete && ops::infer(op, types, *complete);
  };
  if (!spec.elementwise) return;
  const auto odd = at::tensor(kOdd, at::kDouble);
  const int64_t count = odd.numel();
  exec::Tensors in{odd};
  if (spec.min_inputs == 2) in = {odd.reshape({count, 1}).expand({count, count}).contiguous(), odd};
  const ops::Attrs attrs = op == Op::mod ? ops::Attrs{{Attr::fmod, int64_t{1}}} : ops::Attrs{};
  if (!takes(ops::Types(in.size(), exec::type_of(odd.reshape({count}))), attrs)) return;
  for (const auto type : {at::kDouble, at::kFloat}) {
    // LibTorch approximates these two: gelu(inf) is NaN there, and a rest may be of the divisor's size.
    if (type == at::kFloat && (op == Op::gelu || op == Op::mod)) continue;
    exec::Tensors own;
    for (const auto& x : in) own.push_back(x.to(type));
    const double tolerance = type == at::kDouble ? 1e-12 : 1e-5;
    exec::expect_near(run_ours(op, own, attrs, Precision::native)[0], exec::call(op, own, attrs), tolerance);
  }
}

TEST(Evaluators, FoldOddNumbersAlike) {
  const double inf = INFINITY;
  const at::Tensor x = at::tensor({1.0, NAN, 2.0, 3.0,  inf,  2.0, -inf, -inf, -inf, 3.0, 3.0,
                                   1.0, inf, inf, -inf, -0.0, 0.0, 0.0,  NAN,  NAN,  NAN},
                                  at::kDouble)
                           .reshape({7, 3});
  const ops::Attrs along{{Attr::axis, int64_t{1}}}, over{{Attr::axes, ops::Ints{1}}};
  for (const Op op : ops::all_ops()) {
    for (const auto& attrs : {along, over}) {
      const auto complete = ops::complete_attrs(op, attrs);
      if (!complete || !ops::infer(op, std::vector{exec::type_of(x)}, *complete)) continue;
      exec::expect_near(run_ours(op, {x}, attrs, Precision::native)[0], exec::call(op, {x}, attrs), 1e-12);
    }
    ASSERT_FALSE(HasFailure()) << ops::name(op);
  }
}

TEST(Evaluators, FoldNothing) {
  for (const auto& [op, value] : {std::pair(Op::reduce_sum, 0.0),
                                  {Op::reduce_mean, NAN},
                                  {Op::reduce_prod, 1},
                                  {Op::reduce_l2, 0},
                                  {Op::reduce_log_sum, -INFINITY}}) {
    const ops::Attrs attrs{{Attr::axes, ops::Ints{1}}};
    if (!ops::infer(op, std::vector{ops::TensorType(DType::f64, {2, 0})}, *ops::complete_attrs(op, attrs))) continue;
    exec::expect_values(run_ours(op, {at::zeros({2, 0}, at::kDouble)}, attrs, Precision::native)[0], {value, value});
  }
}

TEST(Evaluators, BroadcastRanksOfZeroToSix) {
  for (int64_t rank = 0; rank <= 6; ++rank) {
    std::vector<int64_t> left, right;
    for (int64_t d = 0; d < rank; ++d) {
      left.push_back(d % 2 == 0 ? 1 : 3);
      right.push_back(d % 2 == 0 ? 2 : 1);
    }
    const at::Tensor a = at::randn(left), b = at::randn(right), scalar = at::randn({});
    for (const auto& in : {exec::Tensors{a, b}, {b, a}, {a, scalar}, {scalar, b}})
      exec::expect_near(run_ours(Op::sub, in, {}, Precision::native)[0], exec::call(Op::sub, in), 0);
  }
}

TEST(Evaluators, CastLikeLibTorch) {
  std::vector<double> values = kOdd;
  for (const double edge : {127.9, 128.0, 255.9, 256.0, 32768.0, 65536.0, 2147483647.0, 2147483648.0, 3e9, 4294967296.0,
                            9.3e18, 1.9e19, 65519.9, 2049.0, 2051.0, 3.4e38, 1e-8, 6e-8})
    values.insert(values.end(), {edge, -edge});
  for (const auto from : {at::kDouble, at::kFloat, at::kLong}) {
    const at::Tensor x =
        from == at::kLong ? at::arange(-300, 300, 7, at::kLong) * 1234567 : at::tensor(values, at::kDouble).to(from);
    for (const DType to : kTypes) {
      const ops::Attrs attrs{{Attr::to, std::string(ops::name(to))}};
      const auto actual = run_ours(Op::cast, {x}, attrs, Precision::native)[0],
                 expected = exec::call(Op::cast, {x}, attrs);
      EXPECT_TRUE(at::allclose(actual.to(at::kDouble), expected.to(at::kDouble), 0, 0, /*equal_nan=*/true))
          << from << " to " << ops::name(to) << "\n"
          << at::stack({x.to(at::kDouble), actual.to(at::kDouble), expected.to(at::kDouble)}, 1);
    }
  }
}

TEST(Evaluators, ReadEveryNumberOfSixteenBits) {
  const at::Tensor bits = at::arange(65536, at::kInt).to(at::kUInt16);
  for (const auto type : {at::kHalf, at::kBFloat16}) {
    const at::Tensor x = bits.view(type);
    EXPECT_TRUE(at::allclose(exec::to_torch(cast(exec::from_torch(x), DType::f32)), x.to(at::kFloat), 0, 0,
                             /*equal_nan=*/true));
    EXPECT_TRUE(at::equal(exec::to_torch(cast(cast(exec::from_torch(x), DType::f64), exec::from_torch(type))).isnan(),
                          x.isnan()));
  }
}

TEST(Evaluators, NoIntegerIsDividedByZero) {
  const at::Tensor one = at::ones({2}, at::kInt), zero = at::zeros({2}, at::kInt);
  EXPECT_THROW(run_ours(Op::div, {one, zero}, {}, Precision::native), Error);
  EXPECT_THROW(run_ours(Op::mod, {one, zero}, {}, Precision::native), Error);
}

// One operator that would take long.
TEST(Evaluators, StopWithinAnOperator) {
  const auto stops = [](Op op, const ops::Types& types, const ops::Attrs& attrs) {
    Tensors in;
    for (const auto& type : types) in.push_back(cast(Tensor(DType::boolean, type.shape), type.dtype));
    const auto info = exec::info_of(op, types, attrs);
    int asked = 0;
    const evaluate::Run run{.threads = 1, .deadline = Deadline([&] { return ++asked > 1 ? 0.0 : 1.0; })};
    EXPECT_THROW(run_kernel({.in = in, .info = info, .run = run}), Stopped) << ops::name(op);
  };
  const ops::TensorType image(DType::f32, {1, 1, 900, 900}), window(DType::f32, {1, 1, 200, 200});
  stops(Op::matmul, {{DType::f32, {100, 1 << 16}}, {DType::f32, {1 << 16, 128}}}, {});
  stops(Op::conv2d, {image, window}, {});
  stops(Op::conv_transpose, {image, window}, {});
  stops(Op::max_pool, {image}, {{Attr::kernel, ops::Ints{200, 200}}, {Attr::strides, ops::Ints{1, 1}}});
  stops(Op::add, {image, image}, {});
}

}  // namespace
}  // namespace rlgo::evaluate
