// Small graphs and tensors for tests.
#pragma once

#include <gtest/gtest.h>

#include <cstring>

#include "core/graph/editor.h"
#include "core/verify/numbers.h"

namespace rlgo::verify {

using ops::Attr;
using ops::Ints;
using ops::Op;

// An f32 tensor.
inline Tensor tensor_of(const std::vector<float>& values, const ops::Shape& shape) {
  Tensor out(ops::DType::f32, shape);
  std::ranges::copy(values, out.data<float>());
  return out;
}

inline double largest(const Tensor& tensor) { return std::ranges::max(numbers_of(tensor)); }
inline double least(const Tensor& tensor) { return std::ranges::min(numbers_of(tensor)); }

inline std::shared_ptr<const graph::Blob> f32_blob(const std::vector<float>& values, ops::Shape shape) {
  std::string bytes(values.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return graph::Blob::bytes({ops::DType::f32, std::move(shape)}, std::move(bytes));
}

inline std::vector<float> floats_of(const graph::Blob& blob) {
  const std::string bytes = blob.load();
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// y = relu(x[2,2] w[2,2] + b[2])
inline graph::Graph linear_graph(const std::vector<float>& w, const std::vector<float>& b) {
  graph::Editor editor("linear");
  const auto x = editor.add_input("x", {ops::DType::f32, {2, 2}});
  const auto product = editor.op(Op::matmul, {x, editor.add_weight("w", f32_blob(w, {2, 2}))});
  editor.add_output("y",
                    editor.op(Op::relu, {editor.op(Op::add, {product, editor.add_weight("b", f32_blob(b, {2}))})}));
  return *editor.finish();
}

inline std::shared_ptr<const graph::Opaque> opaque(std::string payload) {
  auto made = std::make_shared<graph::Opaque>();
  made->op_type = "Mystery";
  made->payload = std::move(payload);
  return made;
}

}  // namespace rlgo::verify
