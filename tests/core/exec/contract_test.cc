// Every operator with a kernel, called with random types and attributes: outputs are as inferred (call_all checks), in
// native and in double precision, inputs are left alone, and both precisions agree.
#include "tests/core/exec/random_calls.h"

namespace rlgo::exec {
namespace {

class KernelContract : public testing::TestWithParam<Op> {};

TEST_P(KernelContract, OutputsAreAsInferred) {
  const Op op = GetParam();
  Rng rng({7, static_cast<uint64_t>(op)});
  int fitting = 0;
  for (uint64_t trial = 0; trial < 150; ++trial) {
    const auto random = some_call(rng, op);
    if (!random) return;
    const auto complete = ops::complete_attrs(op, random->attrs);
    ASSERT_TRUE(complete.has_value());
    if (!ops::infer(op, random->inputs, *complete)) continue;
    ++fitting;
    const Tensors in = values_for(op, *random, trial);
    Tensors before;
    for (const auto& tensor : in) before.push_back(tensor.clone());
    const auto native = call_all(op, in, random->attrs), exact = call_all(op, in, random->attrs, Precision::f64);
    for (size_t i = 0; i < in.size(); ++i) EXPECT_TRUE(at::equal(in[i], before[i])) << "an input was written to";
    for (size_t p = 0; p < native.size(); ++p) expect_near(native[p], exact[p], 1e-4);
  }
  EXPECT_GE(fitting, 60) << "too few random calls fit";
}

INSTANTIATE_TEST_SUITE_P(AllOps, KernelContract, testing::ValuesIn(ops::all_ops().begin(), ops::all_ops().end()),
                         [](const auto& param) { return std::string(ops::name(param.param)); });

}  // namespace
}  // namespace rlgo::exec
