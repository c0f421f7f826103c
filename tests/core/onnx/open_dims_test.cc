// Dimensions that a model leaves open: the graph has sample sizes, the export stays open, and nothing that holds at one
// size only gets in.
#include "core/rules/rules.h"
#include "tests/core/onnx/support.h"

namespace rlgo::onnx_io::test {
namespace {

Model sampled(const std::string& body, int opset = 17) {
  ImportOptions options;
  options.sample_open = true;
  return import_text(body, opset, options);
}

TEST(OpenDims, BatchIsSampledAndStaysOpen) {
  const auto model = sampled("g (float[batch,3] x) => (float[batch,3] y) { y = Relu(x) }");
  EXPECT_EQ(ops_of(model), "%1 = relu(%0) : f32[2,3]\n");
  EXPECT_EQ(model.graph.type(model.graph.outputs()[0].value).extent(0).text(), "s0");
  EXPECT_EQ(model.samples, (std::map<std::string, int64_t>{{"batch", 2}}));
  EXPECT_EQ(export_proto(model).graph().output(0).type().tensor_type().shape().dim(0).dim_param(), "batch");
}

TEST(OpenDims, WithoutSamplesOperatorsAreOpaque) {
  EXPECT_EQ(import_text("g (float[batch,3] x) => (float[batch,3] y) { y = Relu(x) }").report.opaque.at("Relu"), 1);
}

// x.view(x.shape[0], -1) as exporters write it.
TEST(OpenDims, ShapeArithmeticBecomesARelativeReshape) {
  const auto model = sampled(
      "g (float[batch,3,4] x) => (float[batch,12] y) <int64 zero = {0}, int64[1] first = {0}, int64[1] rest = {-1}> "
      "{ s = Shape(x) n = Gather(s, zero) u = Unsqueeze(n, first) t = Concat<axis=0>(u, rest) y = Reshape(x, t) }");
  EXPECT_EQ(ops_of(model), "%1 = reshape(%0) shape=[-2,12] : f32[2,12]\n");
  const auto out = export_proto(model);
  EXPECT_EQ(op_types(out), "Reshape");
  EXPECT_EQ(out.graph().initializer(0).raw_data(), std::string("\0\0\0\0\0\0\0\0\x0C\0\0\0\0\0\0\0", 16));
}

TEST(OpenDims, TwoOpenExtentsAreCopied) {
  EXPECT_EQ(ops_of(sampled("g (float[b,s,6] x) => (float[b,s,2,3] y) <int64[4] t = {0,0,2,3}> { y = Reshape(x, t) }")),
            "%1 = reshape(%0) shape=[-2,-2,2,3] : f32[2,48,2,3]\n");
}

TEST(OpenDims, JoinedExtentsAreTheRest) {
  EXPECT_EQ(ops_of(sampled("g (float[b,s,6] x) => (float[bs,6] y) <int64[2] t = {-1,6}> { y = Reshape(x, t) }")),
            "%1 = reshape(%0) shape=[-1,6] : f32[96,6]\n");
}

TEST(OpenDims, PositionsOnAnOpenAxisAreKeptAsTheyAre) {
  const auto model = sampled(
      "g (float[b,8] x) => (float[c,3] y) <int64[1] from = {1}, int64[1] to = {4}, int64[1] one = {1}, int64[1] zero = "
      "{0}> { u = Slice(x, from, to, zero) y = Slice(u, from, to, one) }");
  EXPECT_EQ(model.report.opaque.at("Slice"), 1);
  EXPECT_EQ(model.report.known, 1);
}

TEST(OpenDims, PaddingThatDependsOnTheSizeIsOpaque) {
  const auto conv = [](int stride) {
    return sampled(fmt::format("g (float[1,1,h,w] x, float[1,1,3,3] k) => (float[1,1,p,q] y) {{ y = "
                               "Conv<auto_pad=\"SAME_UPPER\", strides=[{},{}]>(x, k) }}",
                               stride, stride))
        .report.known;
  };
  EXPECT_EQ(conv(1), 1);
  EXPECT_EQ(conv(2), 0);
}

TEST(OpenDims, PaddingOfFixedImagesIsKnownUnderAnOpenBatch) {
  const auto model = sampled(
      "g (float[n,1,9,9] x, float[1,1,3,3] k) => (float[n,1,5,5] y) { y = Conv<auto_pad=\"SAME_UPPER\", "
      "strides=[2,2]>(x, k) }");
  EXPECT_EQ(model.report.known, 1);
}

TEST(OpenDims, ShapesThatAreReadStayComputed) {
  const auto model = sampled("g (float[batch,3] x) => (int64[2] y) { y = Shape(x) }");
  EXPECT_EQ(model.report.opaque.at("Shape"), 1);
  EXPECT_EQ(model.report.folded, 0);
}

TEST(OpenDims, SizesThatDoNotFitTogetherAreNotSampled) {
  const auto model = sampled("g (float[a,3] x, float[4,3] z) => (float[4,3] y) { y = Add(x, z) }");
  EXPECT_TRUE(model.samples.empty());
  EXPECT_EQ(model.report.opaque.at("Add"), 1);
}

TEST(OpenDims, DifferentNamesThatMustBeEqualAre) {
  const auto model = sampled("g (float[a,3] x, float[b,3] z) => (float[c,3] y) { y = Add(x, z) }");
  EXPECT_EQ(model.samples, (std::map<std::string, int64_t>{{"a", 2}, {"b", 2}}));
  EXPECT_EQ(model.report.known, 1);
}

TEST(OpenDims, MinusOneIsOpen) {
  auto proto = parse("g (float[7,3] x) => (float[7,3] y) { y = Relu(x) }");
  for (auto* value : {proto.mutable_graph()->mutable_input(0), proto.mutable_graph()->mutable_output(0)})
    value->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_value(-1);
  ImportOptions options;
  options.sample_open = true;
  const auto model = import_proto(proto, options);
  EXPECT_EQ(model.report.known, 1);
  EXPECT_FALSE(export_proto(model).graph().input(0).type().tensor_type().shape().dim(0).has_dim_value());
}

// A rewrite that writes the sample size into an attribute does not fit.
TEST(OpenDims, RewritesCannotBakeSizesIn) {
  const auto model = sampled("g (float[b,2,3] x) => (float[b,6] y) <int64[2] t = {-1,6}> { y = Reshape(x, t) }");
  graph::Editor editor(model.graph);
  const graph::Value x{model.graph.inputs()[0], 0};
  EXPECT_FALSE(editor.try_add(ops::Op::reshape, std::vector{x}, {{ops::Attr::shape, ops::Ints{2, 6}}}));
  EXPECT_TRUE(editor.try_add(ops::Op::reshape, std::vector{x}, {{ops::Attr::shape, ops::Ints{-1, 6}}}));
}

// As many frames at 1280 as at 1300 samples: the number is not written in.
TEST(OpenDims, FramesStayOpen) {
  ImportOptions options;
  options.sample_open = true;
  options.samples = {{"n", 1280}};
  const auto model =
      import_text("g (float[1,n] x) => (float[f,256] y) <int64[2] t = {-1,256}> { y = Reshape(x, t) }", 17, options);
  EXPECT_EQ(ops_of(model), "%1 = reshape(%0) shape=[-1,256] : f32[5,256]\n");
  EXPECT_TRUE(model.graph.type(model.graph.outputs()[0].value).is_open(0));
}

// The second size of an open dimension that made as many frames decided here once.
TEST(OpenDims, FramesOfAPaddedSignalStayOpen) {
  const auto model = sampled(
      "g (float[1,1,1,n] x) => (float[a,b,c,d] y) { y = MaxPool<kernel_shape=[1,256], strides=[1,256], "
      "pads=[0,224,0,0]>(x) }");
  const auto& type = model.graph.type(model.graph.outputs()[0].value);
  EXPECT_EQ(type.extent(3).text(), "((s0 + 224) / 256)");
}

// What the file states of its outputs may be true at one size only.
TEST(OpenDims, DeclaredOutputsAreNotBelieved) {
  const auto model = sampled("g (float[b,4] x) => (float[2,4] y) { y = Sin(x) }");
  EXPECT_TRUE(model.graph.type(model.graph.outputs()[0].value).is_open(0));
}

TEST(OpenDims, EqualSamplesAreNoEqualSizes) {
  ImportOptions options;
  options.sample_open = true;
  options.samples = {{"b", 8}, {"s", 8}};
  const auto model = import_text(
      "g (float[b,s,3] x) => (float[s,b,3] y) <int64[1] i = {0}, int64[1] j = {1}, int64[1] k = {3}> { z = Shape(x) u "
      "= Gather(z, i) v = Gather(z, j) w = Concat<axis=0>(v, u, k) y = Reshape(x, w) }",
      17, options);
  EXPECT_EQ(model.report.opaque.at("Reshape"), 1);
}

TEST(OpenDims, UnknownOperatorsPassExtentsOn) {
  const auto model = sampled("g (float[b,4] x) => (float[b,4] y) { z = Sin(x) y = Add(z, x) }");
  EXPECT_EQ(model.graph.type(model.graph.outputs()[0].value).extent(0).text(), "s0");
}

// An extent that is 1 at the sample alone: adding it before a softmax is no shift there, and not at other sizes.
TEST(OpenDims, WhatIsOneAtTheSampleIsNotOne) {
  const auto rules = rules::RuleSet::parse(
      "rule softmax-of-shift\n ?y = (softmax (add ?x ?m) axis=?k)\n when rank(?m) == rank(?x) and dim(?m, ?k) == 1\n"
      " => ?y = (softmax ?x axis=?k)\n",
      "test");
  const auto places = [&](const std::string& height) {
    const auto model = sampled(fmt::format(
        "g (float[1,1,{},8] a, float[1,1,9,8] x) => (float[p,q,r,s] y) {{ m = MaxPool<kernel_shape=[320,1], "
        "strides=[80,1]>(a) z = Add(x, m) y = Softmax<axis=2>(z) }}",
        height));
    EXPECT_EQ(model.report.opaque.size(), 0u);
    EXPECT_EQ(model.graph.type(model.graph.outputs()[0].value).shape, (ops::Shape{1, 1, 9, 8}));
    return rules::find_matches(*rules, 0, model.graph).size();
  };
  EXPECT_EQ(places("320"), 1u);
  EXPECT_EQ(places("h"), 0u);
}

// The list of paddings as PyTorch's exporter turns it round: [left, right, top, bottom] becomes [0, 0, t, l, 0, 0, b,
// r].
TEST(ShapeArithmetic, PaddingsOfPyTorchAreWorkedOut) {
  const auto model = import_text(
      "g (float[1,1,4,4] x) => (float[a,b,c,d] y) <int64[8] p = {1,2,3,4,0,0,0,0}, int64[2] two = {-1,2}, int64[1] "
      "minus "
      "= {-1}, int64[1] zero = {0}, int64[1] least = {-9223372036854775807}> { r = Reshape(p, two) s = Slice(r, minus, "
      "least, zero, minus) t = Transpose<perm=[1,0]>(s) f = Reshape(t, minus) y = Pad(x, f) }");
  EXPECT_EQ(ops_of(model), "%1 = pad(%0) pads=[0,0,3,1,0,0,4,2] : f32[1,1,11,7]\n");
}

TEST(OpenDims, QuestionMarksAreNoName) {
  auto proto = parse("g (float[1,2,h,w] x) => (float[a,b,c,d] y) { y = Relu(x) }");
  for (int axis : {2, 3})
    proto.mutable_graph()
        ->mutable_input(0)
        ->mutable_type()
        ->mutable_tensor_type()
        ->mutable_shape()
        ->mutable_dim(axis)
        ->set_dim_param("?");
  ImportOptions options;
  options.sample_open = true;
  EXPECT_EQ(import_proto(proto, options).samples, (std::map<std::string, int64_t>{{"x:2", 320}, {"x:3", 384}}));
}

// [0, 1, -1] fails where the batch is empty; Unsqueeze does not.
TEST(OpenDims, EmptyBatchesStayPossible) {
  const auto written = [](const std::string& body) {
    return op_types(export_proto(sampled("g (float[n,3,h,w] x, float[n,s] z) => (float[] y) " + body)));
  };
  EXPECT_EQ(written("<int64[1] axes = {1}> { y = Unsqueeze(z, axes) }"), "Unsqueeze");
  EXPECT_EQ(written("<int64[1] axes = {1}> { u = Unsqueeze(z, axes) r = Relu(u) y = Squeeze(r, axes) }"),
            "Unsqueeze Relu Squeeze");
  EXPECT_EQ(written("{ y = Flatten(x) }"), "Flatten");
}

// As the file states it: [0, 3, -1] fails by itself, a shape that is computed does not.
TEST(OpenDims, ReshapesRunWhereTheModelsOwnDo) {
  const auto written = [](const std::string& body) {
    return op_types(export_proto(sampled("g (float[n,3,h,w] x) => (float[] y) " + body)));
  };
  EXPECT_EQ(written("<int64[3] t = {0,3,-1}> { y = Reshape(x, t) }"), "Reshape");
  EXPECT_EQ(
      written("<int64[1] a = {0}, int64[1] b = {2}, int64[1] c = {4}> { s = Shape(x) n = Slice(s, a, b) "
              "i = Slice(s, b, c) k = ReduceProd<keepdims = 1>(i) t = Concat<axis = 0>(n, k) y = Reshape(x, t) }"),
      "Shape Slice Slice ReduceProd Concat Reshape");
}

}  // namespace
}  // namespace rlgo::onnx_io::test
