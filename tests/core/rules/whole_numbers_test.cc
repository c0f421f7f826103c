#include "core/rules/whole_numbers.h"

#include <gtest/gtest.h>

#include <string>

#include "core/graph/editor.h"
#include "core/graph/text.h"

namespace rlgo::rules {
namespace {

// Of the operand of the one output of a graph.
graph::Graph of(const std::string& constant) {
  return graph::from_text("graph \"g\"\n%0 = " + constant + "\noutput \"y\" = %0\n");
}
std::optional<Progression> numbers(const std::string& constant) {
  const auto graph = of(constant);
  return progression(graph, graph.outputs()[0].value);
}
bool varies(const std::string& constant, int64_t axis) {
  const auto graph = of(constant);
  return varies_along(graph, graph.outputs()[0].value, axis);
}

TEST(WholeNumbers, RiseByEqualSteps) {
  EXPECT_EQ(numbers("literal() shape=[3] to=i64 values=[2,5,8]"), (Progression{2, 3}));
  EXPECT_EQ(numbers("literal() shape=[2,2] to=i32 values=[0,1,2,3]"), (Progression{0, 1}));
  EXPECT_EQ(numbers("literal() shape=[] to=i64 values=[4]"), (Progression{4, 1}));
  EXPECT_EQ(numbers("fill() shape=[1] to=i64 value=7.0"), (Progression{7, 1}));
}

TEST(WholeNumbers, OthersHaveNoProgression) {
  EXPECT_FALSE(numbers("literal() shape=[3] to=i64 values=[0,1,3]"));
  EXPECT_FALSE(numbers("literal() shape=[3] to=i64 values=[2,1,0]"));
  EXPECT_FALSE(numbers("literal() shape=[2] to=i64 values=[-2,-1]"));
  EXPECT_FALSE(numbers("literal() shape=[2] to=i64 values=[9223372036854775807,-9223372036854775808]"));
  EXPECT_FALSE(numbers("fill() shape=[2] to=i64 value=7.0"));
  EXPECT_FALSE(numbers("fill() shape=[1] to=f32 value=7.0"));
  EXPECT_FALSE(numbers("input \"x\" : i64[3]"));
}

TEST(WholeNumbers, OfWeightsThatAreHere) {
  const ops::TensorType type(ops::DType::i64, ops::Shape{2});
  const std::string bytes("\3\0\0\0\0\0\0\0\4\0\0\0\0\0\0\0", 16);
  graph::Editor editor("g");
  const auto here = editor.add_weight("a", graph::Blob::bytes(type, bytes));
  const auto absent = editor.add_weight("b", graph::Blob::absent(type, 1));
  editor.add_output("y", here);
  editor.add_output("z", absent);
  const auto graph = *editor.finish();
  EXPECT_EQ(progression(graph, graph.outputs()[0].value), (Progression{3, 1}));
  EXPECT_FALSE(progression(graph, graph.outputs()[1].value));
  EXPECT_FALSE(varies_along(graph, graph.outputs()[1].value, 0));
}

TEST(WholeNumbers, VaryAlongOneAxis) {
  const std::string rows = "literal() shape=[2,3] to=i64 values=[4,4,4,1,1,1]";
  EXPECT_TRUE(varies(rows, 0));
  EXPECT_FALSE(varies(rows, 1));
  const std::string middle = "literal() shape=[2,2,2] to=i64 values=[0,0,5,5,0,0,5,5]";
  EXPECT_TRUE(varies(middle, 1));
  EXPECT_FALSE(varies(middle, 0));
  EXPECT_FALSE(varies("literal() shape=[2,2,2] to=i64 values=[0,0,5,5,0,0,5,6]", 1));
  EXPECT_TRUE(varies("fill() shape=[2,3] to=i64 value=1.0", 1));
  EXPECT_FALSE(varies("fill() shape=[2,3] to=f32 value=1.0", 1));
}

}  // namespace
}  // namespace rlgo::rules
