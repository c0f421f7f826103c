#include "core/cost/kept.h"

#include <gtest/gtest.h>

#include "core/graph/editor.h"

namespace rlgo::cost {
namespace {

graph::Value unknown(graph::Editor& editor, const std::string& name, const std::string& type, graph::Value x) {
  auto opaque = std::make_shared<graph::Opaque>();
  opaque->op_type = type;
  opaque->outputs = {"0"};
  opaque->formal_inputs = {true};
  const graph::Value inputs[] = {x};
  return {editor.add_opaque(name, std::move(opaque), inputs, {editor.type(x)}), 0};
}

// Two TopK, and a Resize of each kind: one that is known under that name, and one that is not.
graph::Graph model() {
  graph::Editor editor("g");
  const auto x = editor.add_input("x", {ops::DType::f32, {2}});
  const auto top = unknown(editor, "b", "TopK", unknown(editor, "a", "TopK", x));
  const auto known = editor.op(ops::Op::relu, {unknown(editor, "d", "Resize", top)}, {}, "c");
  editor.add_output("y", known);
  return *editor.finish();
}

TEST(Kept, CountsWithoutTimes) {
  const auto kept = kept_operators(model(), {});
  EXPECT_FALSE(kept.timed);
  EXPECT_EQ(to_text(kept), "2 TopK, 1 Resize");
  EXPECT_EQ(to_text(KeptOperators{}), "none");
}

TEST(Kept, FractionsByTypeAndName) {
  const std::vector<OperatorTime> times{
      {"a", "TopK", 10}, {"b", "TopK", 20}, {"c", "Resize", 40}, {"d", "Resize", 5}, {"e", "Conv", 25}};
  const auto kept = kept_operators(model(), times);
  EXPECT_DOUBLE_EQ(kept.fraction(), 0.35);
  EXPECT_EQ(to_text(kept), "35.0 % of its time: 2 TopK 30.0 %, 1 Resize 5.0 %");
}

}  // namespace
}  // namespace rlgo::cost
