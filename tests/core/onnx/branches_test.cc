// If whose condition is known, and what is simplified in branches whose condition is not.
#include <gmock/gmock.h>

#include "tests/core/onnx/support.h"

namespace rlgo::onnx_io::test {
namespace {

std::string if_of(const std::string& condition, const std::string& then, const std::string& other) {
  return "If(" + condition + ") <then_branch = t () => (float[] p) { " + then +
         " }, else_branch = e () => (float[] q) { " + other + " }> ";
}

// One input x, with a batch that stays open; `k` is a number to ask for.
std::string graph(const std::string& nodes, const std::string& shape = "N,4",
                  const std::string& weights = "int64 k = {4}") {
  return "g (float[" + shape + "] x) => (float[] y) <" + weights + "> { " + nodes + " }";
}

Model read(const std::string& text, bool sample_open = true) {
  ImportOptions options;
  options.sample_open = sample_open;
  return import_text(text, 17, options);
}

// The extent of x along an axis equals k.
std::string asks(int axis) {
  return "s = Shape(x) i = Constant<value = int64 {" + std::to_string(axis) + "}>() n = Gather(s, i) c = Equal(n, k) ";
}

TEST(Branches, TakeTheIfsPlaceWhereTheConditionIsKnown) {
  const std::string both = if_of("c", "p = Relu(x)", "q = Exp(x)");
  const auto then = read("g (float[2] x) => (float[2] y) <bool c = {1}> { y = " + both + "}");
  EXPECT_EQ(op_types(export_proto(then)), "Relu");
  EXPECT_EQ(then.report.changes_summary(), "1 replaced by the branch that they take (If 1)");
  const auto other = read("g (float[2] x) => (float[2] y) <bool c = {0}> { y = " + both + "}");
  EXPECT_EQ(op_types(export_proto(other)), "Exp");
}

TEST(Branches, AnExtentThatIsOneAtEverySizeDecides) {
  const auto model = read(graph(asks(1) + "y = " + if_of("c", "p = Relu(x)", "q = Exp(x)")));
  EXPECT_EQ(op_types(export_proto(model)), "Relu");
}

TEST(Branches, AnOpenExtentDoesNot) {
  const auto model = read(graph(asks(0) + "y = " + if_of("c", "p = Relu(x)", "q = Exp(x)")));
  EXPECT_EQ(op_types(export_proto(model)), "Shape Gather Equal If");
}

// The file states that h has four columns, which is true at one size only.
TEST(Branches, WhatTheFileDeclaresInsideDoesNotDecide) {
  auto file =
      parse(graph("h = Concat<axis = 1>(x, x) s = Shape(h) i = Constant<value = int64 {1}>() n = Gather(s, i) "
                  "c = Equal(n, k) y = " +
                      if_of("c", "p = Relu(h)", "q = Exp(h)"),
                  "2,M"));
  auto& value = *file.mutable_graph()->add_value_info();
  value.set_name("h");
  auto* type = value.mutable_type()->mutable_tensor_type();
  type->set_elem_type(1);
  type->mutable_shape()->add_dim()->set_dim_value(2);
  type->mutable_shape()->add_dim()->set_dim_value(4);
  ImportOptions options;
  options.sample_open = true;
  EXPECT_THAT(op_types(export_proto(import_proto(file, options))), testing::HasSubstr("If"));
}

// The state is declared at the size at which the import looks at open batches, two; what is collected would have it.
TEST(Branches, NorDoesWhatItDeclaresOfABodysInputs) {
  const std::string scan =
      "last, all = Scan<num_scan_inputs = 1, body = b (float[2,4] v, float[5] item) => (float[] v2, float[] w) { v2 = "
      "Relu(v) w = Exp(v) }>(x, z) ";
  const std::string asks_for_two =
      "s = Shape(all) i = Constant<value = int64 {1}>() k = Constant<value = int64 {2}>() m = Gather(s, i) c = "
      "Equal(m, "
      "k) ";
  const auto text = [&](const std::string& batch) {
    return "g (float[" + batch + ",4] x, float[3,5] z) => (float[] y) { " + scan + asks_for_two +
           "y = " + if_of("c", "p = Relu(x)", "q = Exp(x)") + "}";
  };
  EXPECT_EQ(op_types(export_proto(read(text("2")))), "Relu");
  EXPECT_THAT(op_types(export_proto(read(text("N")))), testing::HasSubstr("If"));
}

TEST(Branches, ACallerMayOverrideADefault) {
  auto file =
      parse("g (float[2] x) => (float[2] y) <bool c = {1}> { y = " + if_of("c", "p = Relu(x)", "q = Exp(x)") + "}");
  auto& input = *file.mutable_graph()->add_input();
  input.set_name("c");
  input.mutable_type()->mutable_tensor_type()->set_elem_type(9);
  input.mutable_type()->mutable_tensor_type()->mutable_shape();
  EXPECT_EQ(op_types(export_proto(import_proto(file))), "If");
}

// Both Ifs call their values the same; both branches stand in the main graph then.
TEST(Branches, EqualNamesOfTwoBranchesAreKeptApart) {
  const std::string one = if_of("c", "h = Relu(x) p = Neg(h)", "q = Exp(x)");
  const std::string two = if_of("c", "h = Exp(a) p = Neg(h)", "q = Exp(x)");
  const auto model = read("g (float[2] x) => (float[2] y) <bool c = {1}> { a = " + one + "y = " + two + "}");
  EXPECT_EQ(op_types(export_proto(model)), "Relu Neg Exp Neg");
}

// One h is renamed inside a branch that stays, the other one in the main graph, which the file has first.
TEST(Branches, NamesMadeInsideAreNotMadeAgainAround) {
  const std::string inner =
      "k = Constant<value = bool {1}>() p = " + if_of("k", "h = Relu(x) p = Neg(h)", "q = Exp(x)");
  const auto model =
      read("g (bool d, float[2] x) => (float[2] y) <bool c = {1}> { a = " + if_of("d", inner, "q = Abs(x)") +
           "b = " + if_of("c", "h = Exp(x) p = Neg(h)", "q = Abs(x)") + "y = Add(b, a) }");
  EXPECT_EQ(op_types(export_proto(model)), "Exp Neg If Add");
}

TEST(Branches, HoldWeightsAndOtherBranches) {
  const std::string inner = if_of("c", "p = Add(x, w)", "q = Exp(x)");
  const auto model = read("g (float[2] x) => (float[2] y) <bool c = {1}, float[2] w = {1, 2}> { y = " +
                          if_of("c", "r = " + inner + "p = Neg(r)", "q = Exp(x)") + "}");
  EXPECT_EQ(op_types(export_proto(model)), "Add Neg");
}

TEST(Branches, ShowWhatIsMadeAroundThem) {
  const auto model = read("g (float[2] x) => (float[2] y) <bool c = {1}> { h = Relu(x) y = " +
                          if_of("c", "p = Identity(h)", "q = Exp(x)") + "}");
  EXPECT_EQ(op_types(export_proto(model)), "Relu");
}

TEST(Branches, BranchesThatTheDataChooseAreSimplifiedInside) {
  const std::string inner = asks(1) + "p = " + if_of("c", "p2 = Relu(x) p = Neg(p2)", "q = Exp(x)");
  const auto model =
      read("g (bool d, float[N,4] x) => (float[] y) <int64 k = {4}> { y = " + if_of("d", inner, "q = Abs(x)") + "}");
  const auto out = export_proto(model);
  ASSERT_EQ(op_types(out), "If");
  onnx::ModelProto branch;
  *branch.mutable_graph() = out.graph().node(0).attribute(0).g();
  EXPECT_EQ(op_types(branch), "Relu Neg");
  EXPECT_EQ(branch.graph().input_size(), 0);
}

TEST(Branches, SimplifiedFilesAreReadAsTheyAre) {
  const std::string inner = asks(1) + "p = " + if_of("c", "p2 = Relu(x) p = Neg(p2)", "q = Exp(x)");
  const auto model =
      read("g (bool d, float[N,4] x) => (float[] y) <int64 k = {4}> { y = " + if_of("d", inner, "q = Abs(x)") + "}");
  ImportOptions options;
  options.sample_open = true;
  options.change_bodies = false;
  EXPECT_EQ(import_proto(export_proto(model), options).graph.hash(), model.graph.hash());
}

// At N = 4 more is known, and one more branch could be decided: it stays, as it does in the file that is written.
TEST(Branches, ALaterLookKnowsTheSameOperators) {
  const std::string inner =
      asks(0) + "w = Identity(x) r = " + if_of("c", "p = Relu(x)", "q = Exp(x)") + "p = Add(r, w)";
  const std::string text =
      "g (bool d, float[N,4] x) => (float[] y) <int64 k = {4}> { y = " + if_of("d", inner, "q = Abs(x)") + "}";
  ImportOptions first, later, written;
  first.sample_open = later.sample_open = written.sample_open = true;
  later.later_dims = written.later_dims = {{"N", 4}};
  written.change_bodies = false;
  const auto out = export_proto(import_text(text, 17, first));
  EXPECT_EQ(import_text(text, 17, later).graph.hash(), import_proto(out, written).graph.hash());
  first.dims = {{"N", 4}};
  EXPECT_NE(import_text(text, 17, first).graph.hash(), import_proto(out, written).graph.hash())
      << "the test sees nothing";
}

// At N = 4 the first If gives way, too, and its values are called as those of the second.
TEST(Branches, ALaterLookThatKnowsMoreDoesNotMixOperatorsUp) {
  const std::string known = "k2 = Constant<value = bool {1}>() p = ";
  const std::string one = known + if_of("k2", "g = Relu(h) p = Neg(g)", "q = Exp(h)");
  const std::string two = known + if_of("k2", "g = Tanh(h) p = Abs(g)", "q = Exp(h)");
  const std::string text = "g (bool d, float[N,4] x) => (float[] y) <int64 k = {4}, bool t = {1}> { " + asks(0) +
                           "a = " + if_of("c", "h = Sin(x) p = " + if_of("d", one, "q = Cos(h)"), "q = Abs(x)") +
                           "b = " + if_of("t", "h = Exp(x) p = " + if_of("d", two, "q = Floor(h)"), "q = Abs(x)") +
                           "y = Add(b, a) }";
  ImportOptions first, later, written;
  first.sample_open = later.sample_open = written.sample_open = true;
  later.later_dims = written.later_dims = {{"N", 4}};
  written.change_bodies = false;
  const auto out = export_proto(import_text(text, 17, first));
  EXPECT_EQ(import_text(text, 17, later).graph.hash(), import_proto(out, written).graph.hash());
}

}  // namespace
}  // namespace rlgo::onnx_io::test
