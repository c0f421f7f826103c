#include "core/verify/double_graph.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/verify/agreement.h"
#include "core/zoo/zoo.h"
#include "tests/core/verify/graphs.h"

namespace rlgo::verify {
namespace {

using graph::Editor;
using graph::Graph;

TEST(DoubleGraph, ComputesWhatChecksCompute) {
  for (const char* name : {"toy_conv", "toy_attention", "toy_residual"}) {
    const Graph graph = zoo::make(name, {});
    const auto inputs = check_inputs(graph, 1, 0);
    const auto errors =
        output_errors(exact_outputs(graph, inputs, 1), native_outputs(in_double_precision(graph), inputs, 1));
    ASSERT_FALSE(errors.empty());
    for (const auto& [output, error] : errors) EXPECT_LE(error, 1e-12) << name << " " << output;
  }
}

TEST(DoubleGraph, WidensAttributesThatNameAType) {
  Editor editor("g");
  const auto x = editor.add_input("x", {ops::DType::i64, {3}});
  const auto cast = editor.op(Op::cast, {x}, {{Attr::to, std::string("f32")}});
  editor.add_output("y", editor.op(Op::mul, {cast, editor.add_weight("w", f32_blob({0.5F}, {}))}));
  const Graph wide = in_double_precision(*editor.finish());
  EXPECT_EQ(to_string(wide.type({wide.inputs()[0], 0})), "i64[3]");
  EXPECT_EQ(to_string(wide.type(wide.outputs()[0].value)), "f64[3]");
}

TEST(DoubleGraph, RefusesOperatorsThatRlgoDoesNotKnow) {
  Editor editor("g");
  const auto x = editor.add_input("x", {ops::DType::f32, {2}});
  const graph::Value in[] = {x};
  editor.add_output("y", {editor.add_opaque("o", opaque("p"), in, {{ops::DType::f32, {2}}}), 0});
  const Graph graph = *editor.finish();
  try {
    in_double_precision(graph);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "g: operator Mystery is one that rlgo does not know");
  }
}

}  // namespace
}  // namespace rlgo::verify
