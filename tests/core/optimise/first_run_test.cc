#include "core/optimise/first_run.h"

#include <gtest/gtest.h>

namespace rlgo::optimise {
namespace {

// f32[1000, 1000] in and out: 16 MB where they are doubles.
TEST(NoRoom, TensorsOfOneOperatorAreHeldAtOnceInDoublePrecision) {
  graph::Editor editor("g");
  editor.add_output("y", editor.op(ops::Op::relu, {editor.add_input("x", {ops::DType::f32, {1000, 1000}})}));
  const auto graph = editor.finish();
  EXPECT_EQ(no_room(*graph, 16'000'000), "");
  EXPECT_NE(no_room(*graph, 15'999'999).find("relu makes f32[1000,1000]"), std::string::npos);
}

// 8 pictures of 100 x 100, 3 x 3 windows: 80,000 inputs, 80,000 outputs, 9 weights, 8 bytes each.
TEST(NoRoom, AConvolutionCopiesNothing) {
  graph::Editor editor("g");
  const auto x = editor.add_input("x", {ops::DType::f32, {8, 1, 100, 100}});
  const auto w = editor.add_input("w", {ops::DType::f32, {1, 1, 3, 3}});
  editor.add_output("y", editor.op(ops::Op::conv2d, {x, w}, {{ops::Attr::pads, ops::Ints{1, 1, 1, 1}}}));
  const auto graph = editor.finish();
  EXPECT_EQ(no_room(*graph, 1'280'072), "");
  EXPECT_NE(no_room(*graph, 1'280'071).find("conv2d makes f32[8,1,100,100]"), std::string::npos);
}

TEST(NoRoom, IntegersStayWhatTheyAre) {
  graph::Editor editor("g");
  editor.add_output("y", editor.op(ops::Op::transpose, {editor.add_input("x", {ops::DType::i32, {1000, 1000}})},
                                   {{ops::Attr::perm, ops::Ints{1, 0}}}));
  const auto graph = editor.finish();
  EXPECT_EQ(no_room(*graph, 8'000'000), "");
  EXPECT_NE(no_room(*graph, 7'999'999), "");
}

TEST(TooMuchFolding, IsReportedWithItsSize) {
  const auto product = [](int64_t n) {
    graph::Editor editor("g");
    const ops::TensorType square(ops::DType::f32, {n, n});
    const auto u = editor.add_weight("u", graph::Blob::absent(square, 1));
    const auto v = editor.add_weight("v", graph::Blob::absent(square, 2));
    editor.add_output("y", editor.op(ops::Op::matmul, {u, v}));
    return too_much_folding(*editor.finish());
  };
  EXPECT_EQ(product(3000), "");
  EXPECT_EQ(product(4000), "1 operators on weights alone take 1.3e+11 operations; of such at most 1e+11 are done");
}

}  // namespace
}  // namespace rlgo::optimise
