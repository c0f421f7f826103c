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

TEST(NoRoom, IntegersStayWhatTheyAre) {
  graph::Editor editor("g");
  editor.add_output("y", editor.op(ops::Op::transpose, {editor.add_input("x", {ops::DType::i32, {1000, 1000}})},
                                   {{ops::Attr::perm, ops::Ints{1, 0}}}));
  const auto graph = editor.finish();
  EXPECT_EQ(no_room(*graph, 8'000'000), "");
  EXPECT_NE(no_room(*graph, 7'999'999), "");
}

}  // namespace
}  // namespace rlgo::optimise
