// What becomes of each operator, in the forms that different opsets have for it.
#include "tests/core/onnx/support.h"

namespace rlgo::onnx_io::test {
namespace {

TEST(Convert, ElementwiseWithBroadcast) {
  EXPECT_EQ(ops_of(import_text(
                "g (float[2,3] x, float[3] b) => (float[2,3] y) { a = Mul(x, b) c = Sub(a, b) y = Div(c, x) }")),
            "%2 = mul(%0, %1) : f32[2,3]\n%3 = sub(%2, %1) : f32[2,3]\n%4 = div(%3, %0) : f32[2,3]\n");
}

TEST(Convert, SumOfThreeIsTwoAdds) {
  EXPECT_EQ(ops_of(import_text("g (float[2] x, float[2] y, float[2] z) => (float[2] r) { r = Sum(x, y, z) }")),
            "%3 = add(%0, %1) : f32[2]\n%4 = add(%3, %2) : f32[2]\n");
}

TEST(Convert, SumOfOneIsItsInput) {
  EXPECT_EQ(ops_of(import_text("g (float[2] x) => (float[2] r) { a = Sum(x) r = Relu(a) }")),
            "%1 = relu(%0) : f32[2]\n");
}

TEST(Convert, ClipHasAttributesBeforeOpset11) {
  EXPECT_EQ(ops_of(import_text("g (float[2] x) => (float[2] y) { y = Clip<min=0.0, max=6.0>(x) }", 10)),
            "%1 = clip(%0) max=6.0 min=0.0 : f32[2]\n");
}

TEST(Convert, ClipHasInputsSinceOpset11) {
  EXPECT_EQ(ops_of(import_text("g (float[2] x) => (float[2] y) <float six = {6.0}> { y = Clip(x, , six) }")),
            "%1 = clip(%0) max=6.0 : f32[2]\n");
}

TEST(Convert, ClipWithComputedBoundIsOpaque) {
  EXPECT_EQ(import_text("g (float[2] x, float b) => (float[2] y) { y = Clip(x, b) }").report.opaque.at("Clip"), 1);
}

TEST(Convert, PowOfIntegerExponentCastsIt) {
  EXPECT_EQ(ops_of(import_text("g (float[2] x) => (float[2] y) <int64 two = {2}> { y = Pow(x, two) }")),
            "%2 = cast(%1) to=f32 : f32[]\n%3 = pow(%0, %2) : f32[2]\n");
}

TEST(Convert, AttributesThatAreFloatsReadAsPeopleWriteThem) {
  EXPECT_EQ(ops_of(import_text(
                "g (float[2] x) => (float[2] y) { a = LeakyRelu<alpha=0.1>(x) y = HardSigmoid<alpha=0.25>(a) }")),
            "%1 = leaky_relu(%0) alpha=0.1 : f32[2]\n%2 = hard_sigmoid(%1) alpha=0.25 : f32[2]\n");
}

// ONNX broadcasts slopes to x; those that would enlarge it, and integers, are not rlgo's.
TEST(Convert, PRelu) {
  EXPECT_EQ(ops_of(import_text("g (float[1,3,4,4] x, float[3,1,1] a) => (float[1,3,4,4] y) { y = PRelu(x, a) }")),
            "%2 = prelu(%0, %1) : f32[1,3,4,4]\n");
  EXPECT_EQ(import_text("g (int32[2] x, int32[2] a) => (int32[2] y) { y = PRelu(x, a) }").report.opaque.at("PRelu"), 1);
}

TEST(Convert, ConvPadsAreKeptExactly) {
  EXPECT_EQ(ops_of(import_text("g (float[1,4,9,9] x, float[6,2,3,3] w, float[6] b) => (float[1,6,5,4] y) "
                               "{ y = Conv<pads=[1,0,2,1], strides=[2,2], group=2, dilations=[1,1]>(x, w, b) }")),
            "%3 = conv2d(%0, %1, %2) group=2 pads=[1,0,2,1] strides=[2,2] : f32[1,6,5,4]\n");
}

// 8 wide, stride 2, kernel 3: 4 outputs, one padding, at the end for SAME_UPPER and at the begin for SAME_LOWER.
TEST(Convert, AutoPadBecomesPads) {
  const auto pads = [](const std::string& mode) {
    return ops_of(import_text("g (float[1,1,8,8] x, float[1,1,3,3] w) => (float[1,1,h,v] y) { y = Conv<auto_pad=\"" +
                              mode + "\", strides=[2,2]>(x, w) }"));
  };
  EXPECT_EQ(pads("SAME_UPPER"), "%2 = conv2d(%0, %1) pads=[0,0,1,1] strides=[2,2] : f32[1,1,4,4]\n");
  EXPECT_EQ(pads("SAME_LOWER"), "%2 = conv2d(%0, %1) pads=[1,1,0,0] strides=[2,2] : f32[1,1,4,4]\n");
  EXPECT_EQ(pads("VALID"), "%2 = conv2d(%0, %1) strides=[2,2] : f32[1,1,3,3]\n");
}

TEST(Convert, WindowsHaveAsManyAxesAsTheImage) {
  const auto line = import_text(
      "g (float[1,1,9] x, float[1,1,3] w) => (float[1,1,5] y) { y = Conv<auto_pad=\"SAME_UPPER\", strides=[2]>(x, w) "
      "}");
  EXPECT_EQ(ops_of(line), "%2 = conv2d(%0, %1) dilations=[1] pads=[1,1] strides=[2] : f32[1,1,5]\n");
  EXPECT_EQ(op_types(export_proto(line)), "Conv");
  const auto volume =
      import_text("g (float[1,2,4,4,4] x) => (float[1,2,3,3,3] y) { y = MaxPool<kernel_shape=[2,2,2]>(x) }");
  EXPECT_EQ(ops_of(volume),
            "%1 = max_pool(%0) kernel=[2,2,2] pads=[0,0,0,0,0,0] strides=[1,1,1] dilations=[1,1,1] : f32[1,2,3,3,3]\n");
  EXPECT_EQ(import_text("g (float[1,1,2,2,2,2] x, float[1,1,1,1,1,1] w) => (float[1,1,2,2,2,2] y) { y = Conv(x, w) }")
                .report.opaque.at("Conv"),
            1);
}

TEST(Convert, MatMulOfVectorsGoesThroughMatrices) {
  EXPECT_EQ(
      ops_of(import_text("g (float[3] x, float[3,4] w) => (float[4] y) { y = MatMul(x, w) }")),
      "%2 = reshape(%0) shape=[1,3] : f32[1,3]\n%3 = matmul(%2, %1) : f32[1,4]\n%4 = reshape(%3) shape=[4] : f32[4]\n");
  EXPECT_EQ(ops_of(import_text("g (float[3] x, float[3] w) => (float y) { y = MatMul(x, w) }")),
            "%2 = reshape(%0) shape=[1,3] : f32[1,3]\n%3 = reshape(%1) shape=[3,1] : f32[3,1]\n%4 = matmul(%2, %3) : "
            "f32[1,1]\n"
            "%5 = reshape(%4) shape=[] : f32[]\n");
  EXPECT_EQ(ops_of(import_text("g (float[5,2,3] x, float[3] w) => (float[5,2] y) { y = MatMul(x, w) }")),
            "%2 = reshape(%1) shape=[3,1] : f32[3,1]\n%3 = matmul(%0, %2) : f32[5,2,1]\n%4 = reshape(%3) shape=[5,2] : "
            "f32[5,2]\n");
}

TEST(Convert, PlainGemmIsMatmulWithBias) {
  EXPECT_EQ(ops_of(import_text(
                "g (float[2,3] a, float[4,3] b, float[4] c) => (float[2,4] y) { y = Gemm<transB=1>(a, b, c) }")),
            "%3 = transpose(%1) perm=[1,0] : f32[3,4]\n%4 = matmul(%0, %3, %2) : f32[2,4]\n");
}

TEST(Convert, GemmKeepsAlphaAndBeta) {
  EXPECT_EQ(ops_of(import_text("g (float[3,2] a, float[3,4] b, float[4] c) => (float[2,4] y) { y = Gemm<transA=1, "
                               "alpha=0.5, beta=2.0>(a, b, c) }")),
            "%3 = transpose(%0) perm=[1,0] : f32[2,3]\n%4 = matmul(%3, %1) : f32[2,4]\n%5 = fill() shape=[] value=0.5 "
            ": f32[]\n"
            "%6 = mul(%4, %5) : f32[2,4]\n%7 = fill() shape=[] value=2.0 : f32[]\n%8 = mul(%2, %7) : f32[4]\n%9 = "
            "add(%6, %8) : f32[2,4]\n");
}

TEST(Convert, MaxPoolWithIndicesThatAreReadIsOpaque) {
  const std::string head = "g (float[1,1,4,4] x) => (float[1,1,2,2] y";
  const std::string node = "{ y, i = MaxPool<kernel_shape=[2,2], strides=[2,2]>(x) }";
  EXPECT_EQ(import_text(head + ", int64[1,1,2,2] i) " + node).report.opaque.at("MaxPool"), 1);
  EXPECT_EQ(ops_of(import_text(head + ") " + node)), "%1 = max_pool(%0) kernel=[2,2] strides=[2,2] : f32[1,1,2,2]\n");
}

// SAME's paddings of dilated windows differ from runtime to runtime.
TEST(Convert, DilatedMaxPoolWithSamePaddingIsOpaque) {
  const auto opaque = [](const std::string& attributes) {
    const std::string head = "g (float[1,1,8,8] x) => (float y) ";
    return import_text(head + "{ y = MaxPool<kernel_shape=[3,3], " + attributes + ">(x) }")
        .report.opaque.contains("MaxPool");
  };
  EXPECT_TRUE(opaque("dilations=[2,2], auto_pad=\"SAME_UPPER\""));
  EXPECT_FALSE(opaque("dilations=[1,1], auto_pad=\"SAME_UPPER\""));
  EXPECT_FALSE(opaque("dilations=[2,2], auto_pad=\"VALID\""));
}

TEST(Convert, AveragePoolCountsPadding) {
  EXPECT_EQ(ops_of(import_text("g (float[1,1,4,4] x) => (float[1,1,3,3] y) { y = AveragePool<kernel_shape=[2,2], "
                               "strides=[2,2], pads=[1,1,1,1], count_include_pad=1>(x) }")),
            "%1 = avg_pool(%0) kernel=[2,2] pads=[1,1,1,1] strides=[2,2] count_include_pad=1 : f32[1,1,3,3]\n");
}

TEST(Convert, BatchNormalizationInTrainingModeIsOpaque) {
  const std::string head = "g (float[2,3] x, float[3] s, float[3] b, float[3] m, float[3] v) => (float[2,3] y) ";
  EXPECT_EQ(ops_of(import_text(head + "{ y = BatchNormalization<epsilon=0.001>(x, s, b, m, v) }")),
            "%5 = batch_norm(%0, %1, %2, %3, %4) eps=0.001 : f32[2,3]\n");
  EXPECT_EQ(import_text(head + "{ y, p, q = BatchNormalization<training_mode=1>(x, s, b, m, v) }")
                .report.opaque.at("BatchNormalization"),
            1);
}

TEST(Convert, SoftmaxBeforeOpset13FlattensBehindItsAxis) {
  const std::string body = "g (float[2,3,4] x) => (float[2,3,4] y) { y = Softmax<axis=1>(x) }";
  EXPECT_EQ(ops_of(import_text(body, 12)),
            "%1 = reshape(%0) shape=[2,12] : f32[2,12]\n%2 = softmax(%1) axis=1 : f32[2,12]\n%3 = reshape(%2) "
            "shape=[2,3,4] : f32[2,3,4]\n");
  EXPECT_EQ(ops_of(import_text(body, 13)), "%1 = softmax(%0) axis=1 : f32[2,3,4]\n");
}

TEST(Convert, SoftmaxDefaultAxisDependsOnTheOpset) {
  const std::string body = "g (float[2,3] x) => (float[2,3] y) { y = Softmax(x) }";
  EXPECT_EQ(ops_of(import_text(body, 11)), "%1 = softmax(%0) axis=1 : f32[2,3]\n");
  EXPECT_EQ(ops_of(import_text("g (float[2,3,4] x) => (float[2,3,4] y) { y = Softmax(x) }", 17)),
            "%1 = softmax(%0) axis=2 : f32[2,3,4]\n");
}

TEST(Convert, ReduceAxesAsAttributeOrInput) {
  EXPECT_EQ(
      ops_of(import_text("g (float[2,3,4] x) => (float[2,4] y) { y = ReduceMean<axes=[-2], keepdims=0>(x) }", 13)),
      "%1 = reduce_mean(%0) axes=[1] keepdims=0 : f32[2,4]\n");
  EXPECT_EQ(ops_of(import_text("g (float[2,3] x) => (float[1,1] y) { y = ReduceMax(x) }", 18)),
            "%1 = reduce_max(%0) axes=[0,1] : f32[1,1]\n");
  EXPECT_EQ(ops_of(import_text("g (float[2,3] x) => (float[2,1] y) <int64[1] a = {1}> { y = ReduceSum(x, a) }", 13)),
            "%1 = reduce_sum(%0) axes=[1] : f32[2,1]\n");
}

TEST(Convert, ReduceOfNothingIsItsInput) {
  EXPECT_EQ(ops_of(import_text(
                "g (float[2,3] x) => (float[2,3] y) { a = ReduceSum<noop_with_empty_axes=1>(x) y = Relu(a) }", 13)),
            "%1 = relu(%0) : f32[2,3]\n");
}

TEST(Convert, SplitSizesFromAttributeInputOrCount) {
  const std::string expected = "%1 = split(%0) axis=1 sizes=[2,3] : f32[1,2], f32[1,3]\n";
  const std::string head = "g (float[1,5] x) => (float[1,2] a, float[1,3] b) ";
  EXPECT_EQ(ops_of(import_text(head + "{ a, b = Split<axis=1, split=[2,3]>(x) }", 11)), expected);
  EXPECT_EQ(ops_of(import_text(head + "<int64[2] s = {2,3}> { a, b = Split<axis=-1>(x, s) }", 13)), expected);
  EXPECT_EQ(ops_of(import_text(
                "g (float[1,5] x) => (float[1,3] a, float[1,2] b) { a, b = Split<axis=1, num_outputs=2>(x) }", 18)),
            "%1 = split(%0) axis=1 sizes=[3,2] : f32[1,3], f32[1,2]\n");
}

TEST(Convert, SliceIsBroughtIntoCanonicalForm) {
  EXPECT_EQ(ops_of(import_text("g (float[4,6] x) => (float[3,2] y) <int64[2] s = {-4,0}, int64[2] e = "
                               "{-2,9223372036854775807}, int64[2] a = {1,0}, int64[2] p = {1,2}> "
                               "{ z = Slice(x, s, e, a, p) y = Transpose(z) }",
                               13))
                .substr(0, 66),
            "%1 = slice(%0) axes=[0,1] ends=[4,4] starts=[0,2] steps=[2,1] : f3");
  EXPECT_EQ(
      ops_of(import_text("g (float[4,6] x) => (float[4,2] y) { y = Slice<starts=[1], ends=[3], axes=[1]>(x) }", 9)),
      "%1 = slice(%0) axes=[1] ends=[3] starts=[1] steps=[1] : f32[4,2]\n");
}

TEST(Convert, BackwardSliceIsOpaque) {
  EXPECT_EQ(import_text("g (float[4] x) => (float[4] y) <int64[1] s = {3}, int64[1] e = {-9}, int64[1] a = {0}, "
                        "int64[1] p = {-1}> { y = Slice(x, s, e, a, p) }")
                .report.opaque.at("Slice"),
            1);
}

TEST(Convert, PadAsAttributeInputAndForSomeAxes) {
  EXPECT_EQ(ops_of(import_text("g (float[2,3] x) => (float[2,6] y) { y = Pad<pads=[0,1,0,2], value=1.5>(x) }", 10)),
            "%1 = pad(%0) pads=[0,1,0,2] value=1.5 : f32[2,6]\n");
  EXPECT_EQ(
      ops_of(import_text(
          "g (float[2,3] x) => (float[2,6] y) <int64[2] p = {1,2}, int64[1] a = {-1}> { y = Pad(x, p, , a) }", 18)),
      "%1 = pad(%0) pads=[0,1,0,2] : f32[2,6]\n");
}

TEST(Convert, PadThatReflectsOrCropsIsOpaque) {
  EXPECT_EQ(
      import_text("g (float[3,3] x) => (float[3,4] y) <int64[4] p = {0,1,0,0}> { y = Pad<mode=\"reflect\">(x, p) }")
          .report.opaque.at("Pad"),
      1);
  EXPECT_EQ(import_text("g (float[3,3] x) => (float[3,2] y) <int64[4] p = {0,-1,0,0}> { y = Pad(x, p) }")
                .report.opaque.at("Pad"),
            1);
}

TEST(Convert, ViewsAreReshapes) {
  EXPECT_EQ(
      ops_of(import_text(
          "g (float[2,3,4] x) => (float[2,1,12] y) <int64[1] one = {1}> { a = Flatten(x) y = Unsqueeze(a, one) }")),
      "%1 = reshape(%0) shape=[2,12] : f32[2,12]\n%2 = reshape(%1) shape=[2,1,12] : f32[2,1,12]\n");
  EXPECT_EQ(ops_of(import_text("g (float[2,3,4] x) => (float[6,4] y) <int64[2] s = {-1,4}> { y = Reshape(x, s) }")),
            "%1 = reshape(%0) shape=[6,4] : f32[6,4]\n");
  EXPECT_EQ(ops_of(import_text("g (float[2,1,4] x) => (float[2,4] y) { y = Squeeze<axes=[1]>(x) }", 11)),
            "%1 = reshape(%0) shape=[2,4] : f32[2,4]\n");
}

TEST(Convert, IdentityAndDropoutDisappear) {
  EXPECT_EQ(ops_of(import_text("g (float[2] x) => (float[2] y) { a = Identity(x) b, m = Dropout(a) y = Relu(b) }")),
            "%1 = relu(%0) : f32[2]\n");
}

TEST(Convert, DropoutThatTrainsIsOpaqueAndRandom) {
  const auto model = import_text(
      "g (float[2] x) => (float[2] y, float[2] z) <float r = {0.5}, bool t = {1}> { y = Dropout(x, r, t) z = "
      "Dropout(x, r, t) }");
  EXPECT_EQ(model.report.opaque.at("Dropout"), 2);
  for (graph::NodeId id : model.graph.order()) {
    if (model.graph.node(id).op() == ops::Op::opaque) {
      EXPECT_FALSE(model.graph.node(id).info->opaque->deterministic);
    }
  }
}

TEST(Convert, NormalisationsAndActivations) {
  EXPECT_EQ(ops_of(import_text("g (float[2,3] x, float[3] s) => (float[2,3] y) { a = LayerNormalization(x, s) b = "
                               "Gelu<approximate=\"tanh\">(a) y = HardSwish(b) }",
                               20)),
            "%2 = layer_norm(%0, %1) axis=1 : f32[2,3]\n%3 = gelu(%2) approximate=tanh : f32[2,3]\n%4 = hard_swish(%3) "
            ": f32[2,3]\n");
  EXPECT_EQ(
      import_text("g (float[2,3] x, float[3] s) => (float[2,3] y, float[2,1] m) { y, m = LayerNormalization(x, s) }")
          .report.opaque.at("LayerNormalization"),
      1);
}

TEST(Convert, ActivationsWithAndWithoutTheirDefaults) {
  EXPECT_EQ(ops_of(import_text("g (float[2] x) => (float[2] y) { a = Softplus(x) b = Elu<alpha=0.5>(a) c = Selu(b) d = "
                               "Celu<alpha=2.0>(c) e = Mish(d) y = Swish<alpha=0.5>(e) }",
                               24)),
            "%1 = softplus(%0) : f32[2]\n%2 = elu(%1) alpha=0.5 : f32[2]\n%3 = selu(%2) : f32[2]\n%4 = celu(%3) "
            "alpha=2.0 : f32[2]\n%5 = mish(%4) : f32[2]\n%6 = swish(%5) alpha=0.5 : f32[2]\n");
}

TEST(Convert, ModOfIntegersAndOfFloats) {
  EXPECT_EQ(ops_of(import_text("g (int64[2] x, int64[2] z) => (int64[2] y) { y = Mod(x, z) }")),
            "%2 = mod(%0, %1) : i64[2]\n");
  EXPECT_EQ(ops_of(import_text("g (float[2] x, float[2] z) => (float[2] y) { y = Mod<fmod=1>(x, z) }")),
            "%2 = fixed mod(%0, %1) fmod=1 : f32[2]\n");
  EXPECT_EQ(import_text("g (int32[2] x) => (int32[2] y) { y = Sign(x) }").report.opaque.at("Sign"), 1);
}

TEST(Convert, PlacesOfExtremes) {
  EXPECT_EQ(ops_of(import_text("g (float[2,3] x) => (int64[2] y) { y = ArgMax<axis=-1, keepdims=0, "
                               "select_last_index=1>(x) }")),
            "%1 = fixed arg_max(%0) axis=1 keepdims=0 select_last=1 : i64[2]\n");
}

TEST(Convert, NormsOfGroupsAndLengths) {
  EXPECT_EQ(ops_of(import_text("g (float[1,6,2] x, float[6] s, float[6] b) => (float[1,6,2] y) { y = "
                               "GroupNormalization<num_groups=3>(x, s, b) }",
                               21)),
            "%3 = group_norm(%0, %1, %2) group=3 : f32[1,6,2]\n");
  EXPECT_EQ(ops_of(import_text("g (float[2,3] x, float[3] s) => (float[2,3] y) { a = RMSNormalization(x, s) y = "
                               "LpNormalization<p=1>(a) }",
                               23)),
            "%2 = rms_norm(%0, %1) axis=1 : f32[2,3]\n%3 = lp_norm(%2) axis=1 order=1 : f32[2,3]\n");
}

TEST(Convert, ReductionsThatMeanMoreThanTheirAxesStayWhereThereAreNone) {
  const std::string axes = "float[2,3] x) => (float[2,3] y) { y = ";
  EXPECT_EQ(import_text("g (" + axes + "ReduceSumSquare<noop_with_empty_axes=1>(x) }", 18)
                .report.opaque.at("ReduceSumSquare"),
            1);
  EXPECT_EQ(
      ops_of(import_text("g (float[2,3] x) => (float[2,1] y) <int64[1] k = {-1}> { y = ReduceLogSumExp(x, k) }", 18)),
      "%1 = reduce_log_sum_exp(%0) axes=[1] : f32[2,1]\n");
}

TEST(Convert, GatherCastConcat) {
  EXPECT_EQ(ops_of(import_text("g (float[5,3] x, int64[2] i) => (double[4,3] y) { a = Gather(x, i) b = "
                               "Concat<axis=-2>(a, a) y = Cast<to=11>(b) }")),
            "%2 = gather(%0, %1) : f32[2,3]\n%3 = concat(%2, %2) axis=0 : f32[4,3]\n%4 = cast(%3) to=f64 : f64[4,3]\n");
}

TEST(Convert, BeforeOpset7AllIsOpaque) {
  const auto model = import_text("g (float[2,3] x, float[3] b) => (float[2,3] y) { y = Add<broadcast=1>(x, b) }", 6);
  EXPECT_EQ(model.report.opaque.at("Add"), 1);
  EXPECT_EQ(model.report.notes.size(), 1U);
}

TEST(Convert, IntegerMatMulIsOpaque) {
  EXPECT_EQ(import_text("g (int32[2,2] x) => (int32[2,2] y) { y = MatMul(x, x) }").report.opaque.at("MatMul"), 1);
}

TEST(Convert, GreaterIsLessTheOtherWayRound) {
  EXPECT_EQ(ops_of(import_text("g (float[2] x, float[2] z) => (bool[2] y) { a = Greater(x, z) b = GreaterOrEqual(x, z) "
                               "c = And(a, b) y = Not(c) }")),
            "%2 = fixed less(%1, %0) : bool[2]\n%3 = fixed less_equal(%1, %0) : bool[2]\n%4 = logical_and(%2, %3) : "
            "bool[2]\n%5 = logical_not(%4) : bool[2]\n");
}

TEST(Convert, WhereAndExpand) {
  const auto model = import_text(
      "g (bool[2] c, float[2] x, float z) => (float[3,2] y) <int64[2] s = {3,1}> { w = Where(c, x, z) y = Expand(w, s) "
      "}");
  EXPECT_EQ(ops_of(model), "%3 = where(%0, %1, %2) : f32[2]\n%4 = expand(%3) shape=[3,2] : f32[3,2]\n");
  EXPECT_EQ(op_types(export_proto(model)), "Where Expand");
}

TEST(Convert, ResizeByScalesOrWholeRatios) {
  const std::string by_scales =
      "g (float[1,1,2,2] x) => (float[1,1,4,6] y) <float[4] s = {1.0,1.0,2.0,3.0}> { y = Resize(x, , s) }";
  const std::string text = "%1 = resize(%0) scale_h=2.0 scale_w=3.0 : f32[1,1,4,6]\n";
  EXPECT_EQ(ops_of(import_text(by_scales)), text);
  EXPECT_EQ(
      ops_of(import_text("g (float[1,1,2,2] x) => (float[1,1,4,6] y) <int64[4] s = {1,1,4,6}> { y = Resize(x, , , "
                         "s) }")),
      text);
  const auto out =
      export_proto(import_text("g (float[1,1,2,2] x) => (float[1,1,4,6] y) <float[4] s = {1.0,1.0,2.0,3.0}, float[1] r "
                               "= {0.0}> { y = Resize(x, r, s) }",
                               11));
  ASSERT_EQ(op_types(out), "Resize");
  EXPECT_NE(out.graph().node(0).input(1), "");  // opset 11 asks for a region
}

TEST(Convert, ResizeThatLibTorchComputesOtherwiseIsOpaque) {
  const auto opaque = [](const std::string& attributes) {
    return import_text("g (float[1,1,2,2] x) => (float[1,1,3,3] y) <float[4] s = {1.0,1.0,1.5,1.5}> { y = Resize<" +
                       attributes + ">(x, , s) }")
        .report.opaque.contains("Resize");
  };
  EXPECT_FALSE(opaque("mode=\"cubic\""));  // products with constant matrices
  EXPECT_TRUE(opaque("mode=\"nearest\""));
  EXPECT_TRUE(opaque("mode=\"linear\", coordinate_transformation_mode=\"asymmetric\""));
  EXPECT_FALSE(opaque("mode=\"linear\""));
  EXPECT_FALSE(opaque("mode=\"nearest\", coordinate_transformation_mode=\"asymmetric\", nearest_mode=\"floor\""));
}

TEST(Convert, ConvTransposeKeepsAllItsAttributes) {
  const auto model = import_text(
      "g (float[1,4,5,5] x, float[4,1,3,3] w) => (float[1,2,9,10] y) { y = ConvTranspose<group=2, strides=[2,2], "
      "pads=[1,0,1,2], output_padding=[0,1]>(x, w) }");
  EXPECT_EQ(ops_of(model),
            "%2 = conv_transpose(%0, %1) group=2 output_padding=[0,1] pads=[1,0,1,2] strides=[2,2] : f32[1,2,9,10]\n");
  EXPECT_EQ(op_types(export_proto(model)), "ConvTranspose");
}

}  // namespace
}  // namespace rlgo::onnx_io::test
