// Constants that only bodies of If, Loop and Scan read.
#include "core/onnx/bodies.h"

#include "tests/core/onnx/support.h"

namespace rlgo::onnx_io::test {
namespace {

// Names of the initialisers of the main graph, then of each body of its last operator.
std::string where(const onnx::ModelProto& model) {
  std::string text;
  const auto add = [&](const onnx::GraphProto& graph) {
    for (const auto& tensor : graph.initializer()) text += tensor.name() + " ";
    text += "|";
  };
  add(model.graph());
  const auto& last = model.graph().node(model.graph().node_size() - 1);
  for (const auto& attribute : last.attribute()) add(attribute.g());
  return text;
}

std::string after_move(const std::string& body, int ir_version = 8) {
  auto model = parse(body, 17, ir_version);
  move_constants_into_bodies(model);
  const std::string text = where(model);
  EXPECT_TRUE(move_constants_into_bodies(model).empty()) << "once is enough";
  return text;
}

std::string two_bodies(const std::string& weights, const std::string& then, const std::string& other,
                       const std::string& before = "h = Relu(x)") {
  return "g (bool c, float[1,20] x) => (float[1,20] y) <" + weights + "> { " + before +
         " y = If(c) <then_branch = t () => (float[1,20] p) { " + then +
         " }, else_branch = e () => (float[1,20] q) { " + other + " }> }";
}

const char* const kTwo = "float a = {1}, float b = {2}";

TEST(Bodies, HoldTheConstantsThatTheyAloneRead) {
  EXPECT_EQ(after_move(two_bodies(kTwo, "p = Add(h, a)", "q = Mul(h, b)")), "|a |b |");
}

TEST(Bodies, ConstantsThatTheGraphReadsStay) {
  EXPECT_EQ(after_move(two_bodies(kTwo, "p = Add(h, a)", "q = Mul(h, b)", "h = Add(x, a)")), "a ||b |");
}

TEST(Bodies, SmallConstantsOfSeveralBodiesAreCopiedLargeOnesStay) {
  EXPECT_EQ(after_move(two_bodies(kTwo, "p = Add(h, a)", "q = Mul(h, a)")), "b |a |a |");
  const std::string large = "float[17] a = {1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17}, float b = {0}";
  EXPECT_EQ(after_move(two_bodies(large, "p = Pad(h, a)", "q = Pad(h, a)")), "a b |||");
}

TEST(Bodies, ConstantOperatorsMoveToo) {
  const std::string text =
      two_bodies(kTwo, "p = Add(h, k)", "q = Exp(h)", "k = Constant<value = float {3}>() h = Relu(x)");
  auto model = parse(text);
  EXPECT_EQ(move_constants_into_bodies(model).size(), 1U);
  EXPECT_EQ(op_types(model), "Relu If");
  EXPECT_EQ(where(model), "a b |k ||");
}

TEST(Bodies, OldVersionsStayAsTheyAre) {
  EXPECT_EQ(after_move(two_bodies(kTwo, "p = Add(h, a)", "q = Mul(h, b)"), 3), "a b |||");
}

// Two levels down, past a body that only hands it on.
TEST(Bodies, ConstantsGoToTheInnermostReader) {
  const std::string inner =
      "p = If(c) <then_branch = u () => (float[1,20] r) { r = Add(h, a) }, else_branch = v () => (float[1,20] s) { s = "
      "Exp(h) }>";
  auto model = parse(two_bodies(kTwo, inner, "q = Mul(h, b)"));
  EXPECT_EQ(move_constants_into_bodies(model).size(), 3U) << "a moves twice";
  const auto& then = model.graph().node(1).attribute(0).g();
  EXPECT_EQ(then.initializer_size(), 0);
  EXPECT_EQ(then.node(0).attribute(0).g().initializer(0).name(), "a");
}

TEST(Bodies, DefaultsOfInputsStay) {
  auto model = parse(two_bodies(kTwo, "p = Add(h, a)", "q = Mul(h, b)"));
  auto& input = *model.mutable_graph()->add_input();
  input.set_name("a");
  input.mutable_type()->mutable_tensor_type()->set_elem_type(1);
  input.mutable_type()->mutable_tensor_type()->mutable_shape();
  move_constants_into_bodies(model);
  EXPECT_EQ(where(model), "a ||b |");
}

TEST(Bodies, ImportReportsAndExportKeepsIt) {
  const auto model = import_text(two_bodies(kTwo, "p = Add(h, a)", "q = Mul(h, b)"));
  EXPECT_EQ(model.report.moved, 2);
  EXPECT_EQ(model.report.changes_summary(), "2 moved into the bodies that read them (initialiser 2)");
  const auto out = export_proto(model);
  EXPECT_EQ(where(out), "|a |b |");
  const auto again = import_proto(out);
  EXPECT_EQ(again.report.moved, 0);
  EXPECT_EQ(again.graph.hash(), model.graph.hash());
}

// The shape goes into Reshape's attributes, so that the written file's main graph reads it no more.
TEST(Bodies, WrittenFilesAreReadAsTheyAre) {
  const auto model =
      import_text(two_bodies("int64[2] a = {1, 20}", "p = Reshape(h, a)", "q = Exp(h)", "h = Reshape(x, a)"));
  ASSERT_EQ(model.report.moved, 0);
  const auto out = export_proto(model);
  EXPECT_EQ(import_proto(out, {.change_bodies = false}).graph.hash(), model.graph.hash());
}

}  // namespace
}  // namespace rlgo::onnx_io::test
