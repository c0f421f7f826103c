// Operators that rlgo does not know, subgraphs, local functions, odd element types, shape arithmetic, open dimensions.
#include "tests/core/onnx/support.h"

namespace rlgo::onnx_io::test {
namespace {

using ops::Op;

const graph::NodeInfo& only_opaque(const Model& model) {
  const graph::NodeInfo* found = nullptr;
  for (graph::NodeId id : model.graph.order()) {
    if (model.graph.node(id).op() == Op::opaque) {
      EXPECT_EQ(found, nullptr);
      found = model.graph.node(id).info.get();
    }
  }
  if (!found) fail("no opaque operator");
  return *found;
}

constexpr const char* kIf =
    "g (bool c, float[2] x) => (float[2] y) { h = Relu(x) y = If(c) <then_branch = t () => (float[2] p) { p = Exp(h) "
    "}, "
    "else_branch = e () => (float[2] q) { n = Neg(x) q = Add(n, h) }> }";

TEST(Opaque, KeepsAttributesAndLeftOutInputs) {
  const auto model = import_text(
      "g (float[1,1,2,2] x) => (float[1,1,4,4] y) <float[4] s = {1.0,1.0,2.0,2.0}> { y = Resize<mode=\"linear\", "
      "coordinate_transformation_mode=\"asymmetric\">(x, , s) }");
  const auto& info = only_opaque(model);
  EXPECT_EQ(info.opaque->formal_inputs, (std::vector<bool>{true, false, true}));
  EXPECT_EQ(ops::to_string(info.outputs[0]), "f32[1,1,4,4]");
  const auto out = export_proto(model);
  ASSERT_EQ(op_types(out), "Resize");
  EXPECT_EQ(out.graph().node(0).input_size(), 3);
  EXPECT_EQ(out.graph().node(0).input(1), "");
  EXPECT_EQ(out.graph().node(0).attribute(0).s(), "linear");
}

TEST(Opaque, CapturedNamesAreTrailingInputs) {
  const auto model = import_text(kIf);
  const auto& info = only_opaque(model);
  EXPECT_EQ(info.opaque->captured, (std::vector<std::string>{"captured 0", "captured 1", "captured 2"}));
  const auto out = export_proto(model);
  EXPECT_EQ(op_types(out), "Relu If");
  EXPECT_EQ(out.graph().node(1).attribute(0).g().node(0).input(0), "h");
}

// What stands in for an operator that nobody knows depends on this hash: it must not move with names.
TEST(Opaque, NamesOfValuesAreNoPartOfAnOperator) {
  const auto hash = [](const std::string& body) { return only_opaque(import_text(body)).opaque->hash(); };
  const auto text = [](const std::string& h, const std::string& weights, const std::string& y) {
    return "g (bool c, float[2] x) => (float[2] " + y + ") <float w = {0.5}, float v = {0.5}> { a = Add(x, w) " + h +
           " = Mul(a, v) " + y + " = If(c) <then_branch = t () => (float[2] p) { s = Mul(" + h + ", w) p = Add(s, " +
           weights + ") }, else_branch = e () => (float[2] q) { q = Exp(" + h + ") }> }";
  };
  EXPECT_EQ(hash(text("h", "w", "y")), hash(text("captured_0", "w", "other")));
  EXPECT_EQ(hash(text("h", "w", "y")), hash(text("h", "v", "y"))) << "two names of one number";
  EXPECT_EQ(hash(text("h", "w", "y")), hash(text("h", "h", "y"))) << "which value stands where is the edges' affair";
  EXPECT_NE(import_text(text("h", "w", "y")).graph.hash(), import_text(text("h", "h", "y")).graph.hash());
}

// A rewrite may take away the reader of the first part: the split is one all the same when its file is read again.
TEST(Opaque, SplitsWhoseFirstPartNobodyReadsAreKnown) {
  const auto model =
      import_text("g (float[9] x) => (float[6] y) <int64[2] s = {3, 6}> { a, b = Split<axis = 0>(x, s) y = Exp(b) }");
  for (graph::NodeId id : model.graph.order()) EXPECT_NE(model.graph.node(id).op(), Op::opaque);
  EXPECT_EQ(op_types(export_proto(model)), "Split Exp");
}

// A value of unknown shape that two outputs show is written once, and for the other name with an Identity.
TEST(Opaque, AnIdentityOfWhatIsNotKnownIsNoOperator) {
  const auto twice =
      import_text("g (float[2,4] x) => (int64[2,N] y, int64[2,N] z) { a = Relu(x) y = NonZero(a) z = Identity(y) }");
  EXPECT_EQ(only_opaque(twice).opaque->op_type, "NonZero");
  EXPECT_EQ(twice.graph.outputs()[0].value, twice.graph.outputs()[1].value);
  const auto again = import_proto(export_proto(twice));
  EXPECT_EQ(again.graph.hash(), twice.graph.hash());
  const auto sequence =
      import_text("g (float[2,4] x) => (seq(float[2,4]) y) { s = SequenceConstruct(x) y = Identity(s) }");
  EXPECT_EQ(only_opaque(sequence).opaque->op_type, "SequenceConstruct");
}

// A subgraph reads x and what a rewrite finds to be x: the operator is the same when the file is read again.
TEST(Opaque, ValuesThatBecomeOneLeaveTheOperatorAsItIs) {
  auto model = import_text(
      "g (bool c, float[2] x) => (float[2] y) { h = Concat<axis = 0>(x) y = If(c) <then_branch = t () => (float[2] p) "
      "{ p = Add(x, h) }, else_branch = e () => (float[2] q) { q = Exp(h) }> }");
  const uint64_t before = only_opaque(model).opaque->hash();
  graph::Editor editor(model.graph);
  for (graph::NodeId id : model.graph.order()) {
    if (model.graph.node(id).op() == Op::concat) editor.replace({id, 0}, {model.graph.inputs()[1], 0});
  }
  model.graph = *editor.finish();
  EXPECT_EQ(only_opaque(import_proto(export_proto(model))).opaque->hash(), before);
}

// Replaces relu by clip: the captured value changes its name, and the branches must follow.
TEST(Opaque, CapturedNamesFollowARewrite) {
  auto model = import_text(kIf);
  graph::Editor editor(model.graph);
  const graph::NodeId x = model.graph.inputs()[1];
  graph::Value relu;
  for (graph::NodeId id : model.graph.order()) {
    if (model.graph.node(id).op() == Op::relu) relu = {id, 0};
  }
  editor.replace(relu, editor.op(Op::clip, {{x, 0}}, {{ops::Attr::min, 0.0}}));
  model.graph = *editor.finish();
  const auto out = export_proto(model);
  ASSERT_EQ(op_types(out), "Clip If");
  const std::string name = out.graph().node(0).output(0);
  EXPECT_NE(name, "h");
  EXPECT_EQ(out.graph().node(1).attribute(0).g().node(0).input(0), name);
  EXPECT_EQ(out.graph().node(1).attribute(1).g().node(1).input(1), name);
}

TEST(Opaque, LoopWithSequencesAndUnknownShapes) {
  const auto model = import_text(
      "g (float[2] x, float[2] z) => (float[n] y) { s = SequenceConstruct(x, z) y = ConcatFromSequence<axis=0>(s) }");
  EXPECT_EQ(model.report.opaque.size(), 2U);
  for (graph::NodeId id : model.graph.order()) {
    if (model.graph.node(id).op() == Op::opaque && model.graph.node(id).info->opaque->op_type == "SequenceConstruct") {
      EXPECT_EQ(ops::to_string(model.graph.node(id).info->outputs[0]), "other[*]");
    }
  }
  EXPECT_EQ(op_types(export_proto(model)), "SequenceConstruct ConcatFromSequence");
}

TEST(Opaque, EqualOperatorsHaveEqualPayloads) {
  const auto model =
      import_text("g (float[2] x) => (float[2] y) { [first] a = Asinh(x) [second] b = Asinh(x) y = Add(a, b) }");
  std::vector<std::string> payloads;
  for (graph::NodeId id : model.graph.order()) {
    if (model.graph.node(id).op() == Op::opaque) payloads.push_back(model.graph.node(id).info->opaque->payload);
  }
  ASSERT_EQ(payloads.size(), 2U);
  const auto out = export_proto(model);
  EXPECT_EQ(out.graph().node(0).name(), "first");
  EXPECT_EQ(out.graph().node(1).output(0), "b");
}

TEST(Opaque, LocalFunctionsAreKept) {
  onnx::ModelProto proto;
  const std::string text =
      "<ir_version: 8, opset_import: [\"\" : 17, \"f\" : 1]> g (float[2] x) => (float[2] y) { a = Relu(x) y = "
      "f.twice(a) } "
      "<domain: \"f\", opset_import: [\"\" : 17]> twice (v) => (r) { r = Add(v, v) }";
  ASSERT_TRUE(onnx::OnnxParser::Parse(proto, text.c_str()).IsOK());
  const auto model = import_proto(proto);
  EXPECT_EQ(model.report.opaque.at("f.twice"), 1);
  EXPECT_EQ(ops::to_string(only_opaque(model).outputs[0]), "f32[2]");
  const auto out = export_proto(model);
  EXPECT_EQ(op_types(out), "Relu twice");
  EXPECT_EQ(out.functions_size(), 1);
}

TEST(Opaque, StringInitialisersComeBackAsInitialisers) {
  auto proto = parse("g () => (bool[2] y) { y = Equal(s, s) }", 19);
  auto* strings = proto.mutable_graph()->add_initializer();
  strings->set_name("s");
  strings->set_data_type(onnx::TensorProto::STRING);
  strings->add_dims(2);
  strings->add_string_data("a");
  strings->add_string_data("b");
  const auto out = export_proto(import_proto(proto));
  ASSERT_EQ(out.graph().initializer_size(), 1);
  EXPECT_EQ(out.graph().initializer(0).string_data(1), "b");
  EXPECT_EQ(op_types(out), "Equal");
}

TEST(Opaque, OperatorsOfOtherDomainsKeepTheirDeclaredTypes) {
  onnx::ModelProto proto;
  const std::string text =
      "<ir_version: 8, opset_import: [\"\" : 17, \"my\" : 1]> g (float[2] x) => (float[2] y) <float[2] a> { a = "
      "my.Op(x) y = Relu(a) }";
  ASSERT_TRUE(onnx::OnnxParser::Parse(proto, text.c_str()).IsOK());
  const auto model = import_proto(proto);
  EXPECT_EQ(model.report.known, 1);
  const auto out = export_proto(model);
  ASSERT_EQ(out.graph().value_info_size(), 1);
  EXPECT_EQ(out.graph().value_info(0).name(), "a");
}

TEST(Shapes, ArithmeticIsWorkedOut) {
  const auto model = import_text(
      "g (float[2,3,4] x) => (float[2,12] y) <int64 zero = {0}, int64[1] ax = {0}, int64[1] m = {-1}> "
      "{ s = Shape(x) b = Gather(s, zero) u = Unsqueeze(b, ax) t = Concat<axis=0>(u, m) y = Reshape(x, t) }");
  EXPECT_EQ(ops_of(model), "%1 = reshape(%0) shape=[2,12] : f32[2,12]\n");
  EXPECT_EQ(model.report.folded, 4);
  EXPECT_TRUE(model.report.opaque.empty());
}

// What PyTorch writes around expand: ONNX's own data propagation stops at Equal and Where.
TEST(Shapes, WhereEqualExpandChainsAreWorkedOut) {
  const auto model = import_text(
      "g (float[2,3] x) => (float[2,3] y) <int64[1] two = {2}, int64[2] want = {-1,3}, int64 minus = {-1}> "
      "{ ones = ConstantOfShape<value = int64[1] {1}>(two) neg = Mul(ones, minus) is = Equal(want, neg) size = "
      "Where(is, ones, want) "
      "e = Expand(x, size) r = Reshape(e, want) y = Relu(r) }");
  EXPECT_EQ(ops_of(model), "%1 = reshape(%0) shape=[2,3] : f32[2,3]\n%2 = relu(%1) : f32[2,3]\n");
}

TEST(Shapes, FloatScalesOfShapesAreWorkedOut) {
  const auto model = import_text(
      "g (float[2,9] x) => (float[6,3] y) <int64[1] one = {1}, int64[1] two = {2}, float k = {3.0}> "
      "{ s = Shape(x) d = Slice(s, one, two) f = Cast<to=1>(d) q = Div(f, k) fl = Floor(q) i = Cast<to=7>(fl) m = "
      "Mul(i, two) t = Concat<axis=0>(m, i) y = Reshape(x, t) }",
      13);
  EXPECT_EQ(ops_of(model), "%1 = reshape(%0) shape=[6,3] : f32[6,3]\n");
}

TEST(Shapes, ConstantInAllItsForms) {
  const auto model = import_text(
      "g (float[2] x) => (float[2] y) { a = Constant<value_float=2.0>() b = Constant<value_floats=[1.0,2.0]>() c = "
      "Constant<value_int=1>() "
      "d = Constant<value_ints=[0,1]>() e = Constant<value = float {3.0}>() f = Mul(x, a) g0 = Add(f, b) h = "
      "Gather(g0, d) i = Gather(h, c) j = Add(h, i) y = Mul(j, e) }");
  EXPECT_TRUE(model.report.opaque.empty());
  EXPECT_EQ(model.report.known, 6);
}

TEST(Shapes, ConstantOfShapeIsAFill) {
  EXPECT_EQ(ops_of(import_text("g (float[200,3] x) => (float[200,3] y) <int64[2] s = {200,3}> { f = "
                               "ConstantOfShape<value = float[1] {0.5}>(s) y = Mul(x, f) }")),
            "%1 = fill() shape=[200,3] value=0.5 : f32[200,3]\n%2 = mul(%0, %1) : f32[200,3]\n");
}

constexpr const char* kOpen =
    "g (float[batch,3] x, float[3,4] w) => (float[batch,4] y) { m = MatMul(x, w) y = Relu(m) }";

std::string changes_of(const Model& model) {
  std::string text;
  for (const auto& change : model.report.changes) text += to_text(change) + "\n";
  return text;
}

TEST(Changes, EqualOperatorsAndWeightsAreMergedAndReported) {
  const auto model = import_text(
      "g (float[2] x) => (float[2] y) <float[2] u = {1, 2}, float[2] v = {1, 2}> { [first] a = Mul(x, u) "
      "[second] b = Mul(x, v) y = Add(a, b) }");
  EXPECT_EQ(changes_of(model), "merged initialiser 'v': the same as 'u'\nmerged Mul 'second': the same as 'first'\n");
  EXPECT_EQ(op_types(export_proto(model)), "Mul Add");
}

TEST(Changes, WhatNoOutputNeedsIsRemovedAndReported) {
  const auto model = import_text(
      "g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Relu(x) [deep] a = Exp(x) [kept] b = Selu(a) [last] "
      "c = Add(b, x) }");
  EXPECT_EQ(changes_of(model),
            "removed initialiser 'w': no output needs it\nremoved Add 'last': no output needs it\n"
            "removed Exp 'deep': no output needs it\nremoved Selu 'kept': no output needs it\n");
  EXPECT_EQ(op_types(export_proto(model)), "Relu");
}

TEST(Changes, WhatIsComputedOrDoesNothingIsReported) {
  const auto model = import_text(
      "g (float[2,3] x) => (float[6] y) { [n] s = Size(x) k = Constant<value = int64[1] {0}>() [v] u = "
      "Unsqueeze(s, k) [i] z = Identity(x) y = Reshape(z, u) }");
  EXPECT_EQ(changes_of(model),
            "computed Size 'n': i64[]\ncomputed Unsqueeze 'v': i64[1]\nbypassed Identity 'i': does nothing\n");
  EXPECT_EQ(model.report.changes_summary(), "2 computed (Size 1, Unsqueeze 1), 1 bypassed (Identity 1)");
}

TEST(Dims, OpenOnesMakeOpaqueOperatorsAndAreReported) {
  const auto model = import_text(kOpen);
  EXPECT_EQ(model.report.known, 0);
  EXPECT_EQ(model.report.unresolved_dims, (std::vector<std::string>{"batch (input 'x', axis 0)"}));
  const auto out = export_proto(model);
  EXPECT_EQ(op_types(out), "MatMul Relu");
  EXPECT_EQ(out.graph().input(0).type().tensor_type().shape().dim(0).dim_param(), "batch");
  EXPECT_EQ(out.graph().output(0).type().tensor_type().shape().dim(0).dim_param(), "batch");
}

TEST(Dims, BoundOnesAreFixedInTheExport) {
  for (const std::string name : {"batch", "x:0"}) {
    const auto model = import_text(kOpen, 17, {.dims = {{name, 5}}});
    EXPECT_EQ(model.report.known, 2);
    EXPECT_TRUE(model.report.unresolved_dims.empty());
    EXPECT_EQ(export_proto(model).graph().input(0).type().tensor_type().shape().dim(0).dim_value(), 5);
  }
}

TEST(Dims, SamplesGoByNameOrPlace) {
  for (const std::string name : {"batch", "x:0"}) {
    const auto model = import_text(kOpen, 17, {.sample_open = true, .samples = {{name, 7}}});
    EXPECT_EQ(model.samples, (std::map<std::string, int64_t>{{"batch", 7}}));
  }
  EXPECT_NE(import_error(parse(kOpen), {.sample_open = true, .samples = {{"batch", 7}, {"x:0", 8}}})
                .find("'batch' is axis 0 of input 'x': it cannot be 7 and 8 at once"),
            std::string::npos);
  EXPECT_NE(import_error(parse(kOpen), {.dims = {{"batch", 7}, {"x:0", 8}}}).find("7 and 8 at once"),
            std::string::npos);
}

TEST(Dims, BindingNothingIsAnError) {
  const auto proto = parse(kOpen);
  EXPECT_NE(import_error(proto, {.dims = {{"bach", 5}}})
                .find("no input has an open dimension 'bach' (did you mean 'batch'?)"),
            std::string::npos);
  EXPECT_NE(import_error(proto, {.dims = {{"batch", -5}}}).find("'batch' cannot be -5"), std::string::npos);
  EXPECT_NE(import_error(proto, {.dims = {{"x:1", 5}}}).find("is 3 in the model"), std::string::npos);
}

TEST(Weights, AbsentOnesKeepTheirHash) {
  const std::string body = "g (float[2] x) => (float[2] y) <float[2] w = {1.0, 2.0}> { y = Mul(x, w) }";
  const auto with = import_text(body), without = import_text(body, 17, {.keep_weights = false});
  EXPECT_EQ(with.graph.hash(), without.graph.hash());
  for (graph::NodeId id : without.graph.order()) {
    if (without.graph.node(id).op() == Op::weight) {
      EXPECT_FALSE(without.graph.node(id).info->blob->available());
    }
  }
}

TEST(Weights, AbsentOnesStillShapeTheGraph) {
  EXPECT_EQ(ops_of(import_text("g (float[2,6] x) => (float[3,4] y) <int64[2] s = {3,4}> { y = Reshape(x, s) }", 17,
                               {.keep_weights = false})),
            "%1 = reshape(%0) shape=[3,4] : f32[3,4]\n");
}

TEST(Weights, OverridableDefaultsAreInputsSinceIrVersion4) {
  auto proto = parse("g (float[2] x, float[2] w) => (float[2] y) { y = Mul(x, w) }");
  auto* tensor = proto.mutable_graph()->add_initializer();
  *tensor = parse("g () => (float[2] w) <float[2] w = {1.0, 2.0}> { v = Relu(w) }").graph().initializer(0);
  const auto newer = import_proto(proto);
  EXPECT_EQ(newer.report.default_inputs, (std::vector<std::string>{"w"}));
  EXPECT_EQ(newer.graph.inputs().size(), 2U);
  const auto out = export_proto(newer);
  EXPECT_EQ(out.graph().initializer_size(), 1);
  EXPECT_EQ(out.graph().input_size(), 2);

  proto.set_ir_version(3);
  const auto older = import_proto(proto);
  EXPECT_EQ(older.graph.inputs().size(), 1U);
  EXPECT_EQ(export_proto(older).graph().input_size(), 2);
}

}  // namespace
}  // namespace rlgo::onnx_io::test
