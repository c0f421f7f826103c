// Sparse tensors: initialisers and what Constants hold.
#include <algorithm>

#include "tests/core/onnx/support.h"

namespace rlgo::onnx_io {
namespace {

// [3] with one number, at 1.
onnx::SparseTensorProto of_three(float number, const std::string& name) {
  onnx::SparseTensorProto sparse;
  sparse.add_dims(3);
  auto& values = *sparse.mutable_values();
  values.set_name(name);
  values.set_data_type(onnx::TensorProto::FLOAT);
  values.add_dims(1);
  values.add_float_data(number);
  auto& indices = *sparse.mutable_indices();
  indices.set_data_type(onnx::TensorProto::INT64);
  indices.add_dims(1);
  indices.add_int64_data(1);
  return sparse;
}

TEST(Sparse, IsReadAsItsDenseTypeAndStaysSparse) {
  auto given =
      test::parse("g (float[2,3] x) => (float[2,3] y, float[3] z) { h = Add(x, w) y = Relu(h) z = Identity(w) }");
  *given.mutable_graph()->add_sparse_initializer() = of_three(1.5F, "w");
  const auto model = test::import_proto(given);
  EXPECT_EQ(model.report.known, 3) << model.report.summary();  // Add, Relu, Identity
  const auto written = test::export_proto(model);
  ASSERT_EQ(written.graph().sparse_initializer_size(), 1);
  EXPECT_EQ(written.graph().sparse_initializer(0).values().name(), "w");
  EXPECT_EQ(written.graph().initializer_size(), 0);
  const auto is_identity = [](const onnx::NodeProto& node) { return node.op_type() == "Identity"; };
  // No runtime takes a sparse initialiser for an output.
  EXPECT_EQ(std::ranges::count_if(written.graph().node(), is_identity), 1);
}

// In a body, and as a Constant.
TEST(Sparse, OfConstantsAndBodies) {
  auto given = test::parse(
      "g (bool c, float[2,3] x) => (float[2,3] y) { s = Constant <value_int = 0> () h = Add(x, s) "
      "y = If(c) <then_branch = t () => (float[2,3] a) { a = Mul(h, w) }, else_branch = e () => (float[2,3] b) { b = "
      "Relu(h) }> }");
  auto& constant = *given.mutable_graph()->mutable_node(0)->mutable_attribute(0);
  constant.set_name("sparse_value");
  constant.set_type(onnx::AttributeProto::SPARSE_TENSOR);
  constant.clear_i();
  *constant.mutable_sparse_tensor() = of_three(7.0F, "");
  *given.mutable_graph()->mutable_node(2)->mutable_attribute(0)->mutable_g()->add_sparse_initializer() =
      of_three(2.0F, "w");
  const auto model = test::import_proto(given);
  EXPECT_EQ(model.report.known, 1) << model.report.summary();  // Add
  EXPECT_EQ(test::export_proto(model).graph().output(0).name(), "y");
}

}  // namespace
}  // namespace rlgo::onnx_io
