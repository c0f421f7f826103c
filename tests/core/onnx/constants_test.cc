// Operators on constants: evaluated at import, those that rlgo does not know by what is asked.
#include "core/onnx/constant.h"
#include "core/onnx/onnx_node.h"
#include "tests/core/onnx/support.h"

namespace rlgo::onnx_io {
namespace {

// A runtime that answers the same to every question, and keeps it.
struct Runtime {
  ops::TensorType type;
  std::string bytes;
  std::vector<onnx::ModelProto> asked = {};

  ImportOptions options() {
    ImportOptions options;
    options.limits.isolate = false;
    options.evaluate = [this](const std::string& model) {
      asked.emplace_back().ParseFromString(model);
      return std::vector{std::pair(type, bytes)};
    };
    return options;
  }
};

constexpr const char* kShrunk = R"(g (float[4] x) => (float[4] y)
  <float[4] w = {1, 2, 3, 4}> { e = Exp(w) s = Shrink(e) y = Add(x, s) })";

TEST(Constants, ARuntimeComputesWhatRlgoDoesNotKnow) {
  Runtime runtime{{ops::DType::f32, {4}}, std::string(16, '\0')};
  const Model model = test::import_text(kShrunk, 17, runtime.options());
  ASSERT_EQ(runtime.asked.size(), 1U);
  EXPECT_EQ(test::op_types(runtime.asked[0]), "Exp Shrink");
  EXPECT_TRUE(model.report.opaque.empty());
  EXPECT_EQ(test::op_types(test::export_proto(model)), "Add");
}

TEST(Constants, WhatNobodyComputesStays) {
  EXPECT_EQ(test::import_text(kShrunk).report.opaque.at("Shrink"), 1);
  Runtime other{{ops::DType::f32, {5}}, std::string(20, '\0')};  // of another shape than ONNX infers
  EXPECT_EQ(test::import_text(kShrunk, 17, other.options()).report.opaque.at("Shrink"), 1);
}

TEST(Constants, RandomQuantisedAndHalfOperatorsAndBodiesAreNotAsked) {
  Runtime runtime{{ops::DType::f32, {2}}, std::string(8, '\0')};
  for (const char* text : {
           "g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { r = RandomNormalLike(w) y = Add(x, r) }",
           "g (float[2] x) => (float[2] y) <int8[2] w = {1, 2}, float s = {0.5}> { r = DequantizeLinear(w, s) y = "
           "Add(x, r) }",
           "g (float[2] x) => (float[2] y) { r = Shrink(x) y = Add(x, r) }",
           "g (float[2] x) => (float[2] y) <float16[2] w = {1, 2}> { t = Tan(w) r = Cast<to = 1>(t) y = Add(x, r) }",
           "g (float[2] x, bool c) => (float[2] y) <float[2] w = {1, 2}> { r = If(c) <then_branch = t () => (float[2] "
           "a) "
           "{ a = Shrink(w) }, else_branch = f () => (float[2] b) { b = Shrink(x) }> y = Add(x, r) }",
       })
    test::import_text(text, 17, runtime.options());
  EXPECT_TRUE(runtime.asked.empty());
}

// 64 KiB in all, a quarter of it at import; as much as the weights that are gone is no growth.
TEST(Constants, ResultsMayGrowTheFileALittle) {
  const auto opaque = [](const std::string& text, int64_t elements) {
    Runtime runtime{{ops::DType::f32, {elements}}, std::string(static_cast<size_t>(elements) * 4, '\1')};
    const Model model = test::import_text(text, 17, runtime.options());
    return model.report.opaque.size();
  };
  const auto grown = [](int64_t extent) {
    return fmt::format(
        "g (float[{0}] x) => (float[{0}] y) <int64[1] n = {{{0}}}> {{ o = ConstantOfShape(n) s = Shrink(o) y = Add(x, "
        "s) }}",
        extent);
  };
  EXPECT_EQ(opaque(grown(1024), 1024), 0U);
  EXPECT_EQ(opaque(grown(1 << 20), 1 << 20), 1U);
  std::string numbers = "1";
  for (int k = 1; k < 8192; ++k) numbers += ", 1";
  EXPECT_EQ(
      opaque("g (float[8192] x) => (float[8192] y) <float[8192] w = {" + numbers + "}> { s = Shrink(w) y = Add(x, s) }",
             8192),
      0U);
}

// Checks compute with what a runtime computes there.
TEST(Constants, OperatorsThatStayKeepTheirResults) {
  std::string numbers = "-1";
  for (int k = 1; k < 8192; ++k) numbers += ", -2";
  const std::string text = "g (int64[8192] x) => (int64[8192] y) <int64[8192] w = {" + numbers +
                           "}> { a = Abs(w) b = Add(x, a) y = Mul(b, w) }";
  const auto known = [](const graph::Graph& graph) {
    std::vector<std::shared_ptr<const graph::Blob>> found;
    for (const auto id : graph.order()) {
      if (graph.node(id).op() == ops::Op::opaque) found = graph.node(id).info->opaque->known;
    }
    return found;
  };
  const Model model = test::import_text(text);
  ASSERT_EQ(model.report.opaque.at("Abs"), 1);
  ASSERT_EQ(known(model.graph).size(), 1U);
  const std::string bytes = known(model.graph)[0]->load();
  EXPECT_EQ(bytes.substr(0, 16), std::string("\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0", 16));
  ImportOptions without;
  without.keep_weights = false;
  const Model elsewhere = test::import_text(text, 17, without);
  EXPECT_TRUE(known(elsewhere.graph).empty());
  EXPECT_EQ(elsewhere.graph.hash(), model.graph.hash());
}

TEST(Constants, ProcessesWithoutWeightsReadTheSameGraph) {
  Runtime runtime{{ops::DType::f32, {4}}, std::string(16, '\2')};
  ImportOptions without = runtime.options();
  without.keep_weights = false;
  EXPECT_EQ(test::import_text(kShrunk, 17, without).graph.hash(),
            test::import_text(kShrunk, 17, runtime.options()).graph.hash());
}

// Shape arithmetic of exporters on static inputs: no operator of it stays, and the others are known.
std::string left(const char* text, int opset = 17) {
  ImportOptions options;
  options.limits.isolate = false;
  const Model model = test::import_text(text, opset, options);
  EXPECT_TRUE(model.report.opaque.empty()) << model.report.summary();
  return test::op_types(test::export_proto(model));
}

TEST(ShapeArithmetic, SamePaddingWithCeil) {
  EXPECT_EQ(left(R"(g (float[1,3,15,15] x, float[8,3,3,3] w) => (float[N,C,H,W] y)
      <int64[1] b = {2}, int64[1] e = {4}, float two = {2}, float one = {1}, float kernel = {3},
       float zero = {0}, float[2] none = {0, 0}> {
        s = Shape(x) f = Cast<to = 1>(s) hw = Slice(f, b, e) q = Div(hw, two) up = Ceil(q) less = Sub(up, one)
        far = Mul(less, two) span = Add(far, kernel) total = Sub(span, hw) pad = Max(total, zero) half = Div(pad, two)
        low = Floor(half) high = Sub(pad, low) floats = Concat<axis = 0>(none, low, none, high) pads = Cast<to = 7>(floats)
        padded = Pad(x, pads) y = Conv<strides = [2, 2]>(padded, w) })"),
            "Pad Conv");
}

TEST(ShapeArithmetic, ReshapeToGatheredExtents) {
  EXPECT_EQ(left(R"(g (float[2,8,6,6] x) => (float[N,M] y)
      <int64 i = {0}, int64 j = {1}, int64 two = {2}, int64[1] ax = {0}, int64[1] rest = {-1}> {
        s = Shape(x) n = Gather(s, i) c = Gather(s, j) d = Mul(c, two) a = Unsqueeze(n, ax) b = Unsqueeze(d, ax)
        t = Concat<axis = 0>(a, b, rest) r = Reshape(x, t) flat = Flatten(r) y = Relu(flat) })"),
            "Reshape Reshape Relu");
}

TEST(ShapeArithmetic, ResizeToComputedSizes) {
  EXPECT_EQ(left(R"(g (float[1,3,10,10] x) => (float[N,C,H,W] y)
      <int64[1] b = {2}, int64[1] e = {4}, int64[1] z = {0}, float two = {2.5}> {
        s = Shape(x) hw = Slice(s, b, e) f = Cast<to = 1>(hw) m = Mul(f, two) g = Floor(m) i = Cast<to = 7>(g)
        nc = Slice(s, z, b) q = Mod(i, hw) h = Sub(i, q) t = Concat<axis = 0>(nc, h)
        r = Resize<mode = "linear">(x, , , t) y = Relu(r) })"),
            "Resize Relu");
}

TEST(ShapeArithmetic, MasksOfConstantsExpanded) {
  EXPECT_EQ(left(R"(g (float[1,6,6] x) => (float[1,6,6] y)
      <int64[3] given = {-1, 6, 6}, int64 minus = {-1}, int64 i = {1}, int64 zero = {0}, int64 one = {1},
       int64[1] first = {0}, int64[1] last = {1}, float big = {-10000}> {
        s = Shape(x) n = Gather(s, i) r = Range(zero, n, one) row = Unsqueeze(r, first) col = Unsqueeze(r, last)
        later = Less(col, row) three = Shape(given) ones = ConstantOfShape<value = int64[1] {1}>(three)
        neg = Mul(ones, minus) open = Equal(given, neg) t = Where(open, ones, given) e = Expand(later, t)
        f = Cast<to = 1>(e) mask = Mul(f, big) y = Add(x, mask) })"),
            "Add");
}

TEST(ShapeArithmetic, PositionsAndPartsOfShapes) {
  EXPECT_EQ(left(R"(g (float[2,4,3] x, float[8,3] table) => (float[2,4,3] y)
      <int64 one = {1}, int64 ax = {1}> {
        s = Shape(x) a, b, c = Split(s) ab = Concat<axis = 0>(a, b) o = ConstantOfShape<value = int64[1] {1}>(ab)
        sum = CumSum(o, ax) at = Sub(sum, one) e = Gather(table, at) y = Add(x, e) })"),
            "Gather Add");
}

std::optional<Constant> one(const char* op, std::vector<Constant> inputs, std::map<std::string, OnnxAttr> attrs = {}) {
  OnnxNode node;
  node.op = op;
  node.opset = 17;
  node.attrs = std::move(attrs);
  node.outputs = {"y"};
  node.output_types = {{inputs[0].type.dtype, inputs[0].type.shape}};
  for (const Constant& input : inputs) {
    node.inputs.push_back({0, 0});
    node.input_types.push_back(input.type);
    node.constants.push_back(&input);
  }
  return evaluate(node);
}

Constant ints(ops::Shape shape, Ints values) { return {{ops::DType::i64, std::move(shape)}, std::move(values), {}}; }

TEST(Evaluate, IndexedOperators) {
  const Constant m = ints({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(one("CumSum", {m, ints({}, {0})})->ints, (Ints{1, 2, 3, 5, 7, 9}));
  EXPECT_EQ(one("CumSum", {m, ints({}, {-1})})->ints, (Ints{1, 3, 6, 4, 9, 15}));
  EXPECT_EQ(one("Trilu", {m}, {{"upper", int64_t{1}}})->ints, (Ints{1, 2, 3, 0, 5, 6}));
  EXPECT_EQ(one("Trilu", {m, ints({}, {-1})}, {{"upper", int64_t{0}}})->ints, (Ints{0, 0, 0, 4, 0, 0}));
  EXPECT_EQ(one("NonZero", {ints({2, 2}, {0, 7, 7, 0})})->ints, (Ints{0, 1, 1, 0}));
  EXPECT_EQ(one("GatherElements", {m, ints({1, 3}, {1, 0, -1})})->ints, (Ints{4, 2, 6}));
  EXPECT_EQ(one("GatherND", {m, ints({1, 1}, {1})})->ints, (Ints{4, 5, 6}));
  EXPECT_EQ(one("ScatterElements", {m, ints({1, 1}, {1}), ints({1, 1}, {9})})->ints, (Ints{1, 2, 3, 9, 5, 6}));
  EXPECT_EQ(one("ScatterND", {m, ints({2, 2}, {0, 0, 1, 2}), ints({2}, {8, 9})})->ints, (Ints{8, 2, 3, 4, 5, 9}));
  EXPECT_EQ(one("OneHot", {ints({2}, {0, -1}), ints({}, {3}), ints({2}, {5, 6})})->ints, (Ints{6, 5, 5, 5, 5, 6}));
  EXPECT_EQ(one("ReduceMax", {m}, {{"axes", Ints{0}}})->ints, (Ints{4, 5, 6}));
  EXPECT_EQ(one("EyeLike", {ints({2, 2}, {9, 9, 9, 9})})->ints, (Ints{1, 0, 0, 1}));
}

TEST(Evaluate, IndicesOutsideStay) {
  const Constant m = ints({2}, {1, 2});
  EXPECT_FALSE(one("GatherElements", {m, ints({1}, {2})}));
  EXPECT_FALSE(one("ScatterND", {m, ints({1, 1}, {5}), ints({1}, {9})}));
  EXPECT_FALSE(one("ScatterElements", {m, ints({1}, {0}), ints({1}, {9})}, {{"reduction", std::string("add")}}));
  EXPECT_FALSE(one("CumSum", {ints({2}, {INT64_MAX, 1}), ints({}, {0})}));
}

}  // namespace
}  // namespace rlgo::onnx_io
