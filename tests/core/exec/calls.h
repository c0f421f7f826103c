// Kernel calls in tests: one operator on given numbers, and random calls that fit.
#pragma once

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/rng.h"
#include "core/exec/kernels.h"

namespace rlgo::exec {

using ops::Attr;
using ops::Attrs;
using ops::Ints;
using ops::Op;

inline at::Tensor numbers(const std::vector<double>& values, const std::vector<int64_t>& shape) {
  return at::tensor(values, at::kFloat).reshape(shape);
}
inline at::Tensor integers(const std::vector<int64_t>& values, const std::vector<int64_t>& shape) {
  return at::tensor(values, at::kLong).reshape(shape);
}

inline graph::NodeInfo info_of(Op op, const ops::Types& inputs, const Attrs& attrs) {
  std::string reason;
  graph::NodeInfo info;
  info.op = op;
  auto complete = ops::complete_attrs(op, attrs, &reason);
  if (!complete) fail("{}", reason);
  info.attrs = *complete;
  auto outputs = ops::infer(op, inputs, info.attrs, &reason);
  if (!outputs) fail("{}", reason);
  info.outputs = *outputs;
  return info;
}

// Runs the operator; outputs must be as inferred.
inline Tensors call_all(Op op, const Tensors& in, const Attrs& attrs = {}, Precision precision = Precision::native) {
  const c10::InferenceMode inference;
  ops::Types types;
  for (const auto& tensor : in) types.push_back(type_of(tensor));
  const auto info = info_of(op, types, attrs);
  Tensors held;
  for (const auto& tensor : in) held.push_back(tensor.to(to_torch(from_torch(tensor.scalar_type()), precision)));
  Call call{.in = held, .info = info};
  call.precision = precision;
  auto out = run_kernel(call);
  EXPECT_EQ(out.size(), info.outputs.size());
  for (size_t p = 0; p < out.size(); ++p) {
    EXPECT_EQ(out[p].sizes().vec(), sizes_of(info.outputs[p])) << ops::name(op) << " " << to_string(info.attrs);
    EXPECT_EQ(out[p].scalar_type(), to_torch(info.outputs[p].dtype, precision)) << ops::name(op);
    EXPECT_TRUE(out[p].is_contiguous()) << ops::name(op);
  }
  return out;
}
inline at::Tensor call(Op op, const Tensors& in, const Attrs& attrs = {}) { return call_all(op, in, attrs).at(0); }

inline void expect_near(const at::Tensor& actual, const at::Tensor& expected, double tolerance = 1e-6) {
  ASSERT_EQ(actual.sizes().vec(), expected.sizes().vec());
  EXPECT_TRUE(at::allclose(actual.to(at::kDouble), expected.to(at::kDouble), tolerance, tolerance, /*equal_nan=*/true))
      << actual << "\nexpected " << expected;
}
inline void expect_values(const at::Tensor& actual, const std::vector<double>& expected, double tolerance = 1e-6) {
  expect_near(actual.reshape({-1}), at::tensor(expected, at::kDouble), tolerance);
}

}  // namespace rlgo::exec
