#include "core/gpu/lower.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/base/error.h"
#include "core/cost/cost.h"
#include "core/gpu/program.h"
#include "core/graph/editor.h"
#include "core/zoo/zoo.h"

namespace rlgo::gpu {
namespace {

using ops::Attr;
using ops::DType;
using ops::Ints;
using ops::Op;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

ops::TensorType f32(ops::Shape shape) { return {DType::f32, std::move(shape)}; }

Program program_of(Op op, const ops::Types& inputs, const ops::Attrs& attrs = {}) {
  graph::Editor editor("one");
  std::vector<graph::Value> values;
  for (const auto& type : inputs) values.push_back(editor.add_input(fmt::format("x{}", values.size()), type));
  const auto id = editor.add(op, values, attrs);
  for (int32_t p = 0; p < static_cast<int32_t>(editor.node(id).info->outputs.size()); ++p)
    editor.add_output(fmt::format("y{}", p), {id, p});
  return make_program(*editor.finish());
}
std::vector<Kind> kinds(const Program& program) {
  std::vector<Kind> all;
  for (const auto& step : program.steps) all.push_back(step.kind);
  return all;
}

// One call for convolution, bias and ReLU; cuDNN fuses no other activation.
TEST(Lower, ConvolutionBiasAndReluAreOneCall) {
  const ops::Types in{f32({1, 3, 8, 8}), f32({4, 3, 3, 3}), f32({4})};
  const auto fused = program_of(Op::conv2d, in, {{Attr::act, std::string("relu")}, {Attr::pads, Ints{1, 1, 1, 1}}});
  ASSERT_THAT(kinds(fused), ElementsAre(kConv));
  EXPECT_EQ(fused.steps[0].conv.relu, 1);
  EXPECT_EQ(fused.steps[0].in[2], 2);
  EXPECT_THAT(kinds(program_of(Op::conv2d, in, {{Attr::act, std::string("tanh")}})), ElementsAre(kConv, kMap));
}

// cuDNN pads both ends alike.
TEST(Lower, UnequalPaddingIsAStepOfItsOwn) {
  const ops::Types in{f32({1, 3, 8, 8}), f32({4, 3, 3, 3})};
  const auto program = program_of(Op::conv2d, in, {{Attr::pads, Ints{1, 0, 2, 0}}});
  ASSERT_THAT(kinds(program), ElementsAre(kMap, kCopy, kConv));
  EXPECT_EQ(program.steps[2].conv.pads[0], 1);
  EXPECT_EQ(program.steps[2].conv.x[2], 9);
}

TEST(Lower, OneSpatialAxisIsTwoForCudnn) {
  const auto program = program_of(Op::conv2d, {f32({1, 3, 8}), f32({4, 3, 5})}, {{Attr::pads, Ints{2, 2}}});
  const auto& conv = program.steps[0].conv;
  EXPECT_EQ(conv.axes, 2);
  EXPECT_THAT((std::vector<int64_t>(conv.w, conv.w + 4)), ElementsAre(4, 3, 1, 5));
  EXPECT_THAT((std::vector<int64_t>(conv.pads, conv.pads + 2)), ElementsAre(0, 2));
}

TEST(Lower, EpiloguesOfProducts) {
  const auto of = [](DType type, const char* act, ops::Shape bias) {
    ops::Types in{{type, {2, 5, 3}}, {type, {3, 4}}};
    if (!bias.empty()) in.push_back({type, std::move(bias)});
    return program_of(Op::matmul, in, {{Attr::act, std::string(act)}});
  };
  const auto relu = of(DType::f32, "relu", {4});
  ASSERT_THAT(kinds(relu), ElementsAre(kMatMul));
  EXPECT_EQ(relu.steps[0].matmul.epilogue, kRelu);
  EXPECT_EQ(relu.steps[0].matmul.m, 10);  // b has no batch: one product of all rows
  EXPECT_EQ(relu.steps[0].in[2], 2);
  // cuBLASLt's GELU is the tanh form: right to 16 bits only.
  EXPECT_EQ(of(DType::f16, "gelu", {4}).steps[0].matmul.epilogue, kGelu);
  EXPECT_THAT(kinds(of(DType::f32, "gelu", {4})), ElementsAre(kMatMul, kMap));
  EXPECT_THAT(kinds(of(DType::f64, "relu", {4})), ElementsAre(kMatMul, kMap, kMap));
  EXPECT_THAT(kinds(of(DType::f32, "relu", {5, 4})), ElementsAre(kMatMul, kMap, kMap));  // no row
}

// What is neighbours in memory needs no division by extents.
TEST(Lower, AxesThatMayBeJoinedAre) {
  EXPECT_EQ(program_of(Op::relu, {f32({2, 3, 4, 5})}).steps[0].map.axes, 1);
  const auto bias = program_of(Op::add, {f32({2, 3, 4, 5}), f32({3, 1, 1})});
  EXPECT_EQ(bias.steps[0].map.axes, 3);
  EXPECT_EQ(program_of(Op::add, {f32({2, 3, 4, 5}), f32({4, 5})}).steps[0].map.axes, 2);
}

TEST(Lower, RefusesByName) {
  EXPECT_THAT(
      [] {
        program_of(Op::add, {{DType::u32, {3}}, {DType::u32, {3}}});
      },
      ThrowsMessage<Error>(HasSubstr("no kernel for add of u32[3], u32[3]: elements of type u32; take another")));
  EXPECT_THAT(
      [] {
        program_of(Op::conv2d, {{DType::f64, {1, 1, 3, 3}}, {DType::f64, {1, 1, 1, 1}}});
      },
      ThrowsMessage<Error>(HasSubstr("no kernel for conv2d of f64[1,1,3,3], f64[1,1,1,1]: cuDNN convolves")));
  graph::Editor editor("opaque");
  auto mystery = std::make_shared<graph::Opaque>();
  mystery->op_type = "Mystery";
  const auto x = editor.add_input("x", f32({2}));
  editor.add_output("y", {editor.add_opaque("m", mystery, std::vector{x}, {f32({2})}), 0});
  const auto graph = *editor.finish();
  EXPECT_THAT([&] { make_program(graph); }, ThrowsMessage<Error>(HasSubstr("no kernel for Mystery of f32[2]")));
}

// Blocks of pixels are one copy over six axes at most.
TEST(Lower, BlocksOfPixelsAreOneCopy) {
  const auto up = program_of(Op::depth_to_space, {f32({1, 8, 3, 5})}, {{Attr::blocksize, int64_t{2}}});
  ASSERT_THAT(kinds(up), ElementsAre(kCopy));
  EXPECT_EQ(up.steps[0].copy.count, 120);
  EXPECT_EQ(up.steps[0].copy.axes, 4);  // channels and rows are neighbours in both
  const auto down = program_of(Op::space_to_depth, {f32({2, 2, 4, 6})}, {{Attr::blocksize, int64_t{2}}});
  ASSERT_THAT(kinds(down), ElementsAre(kCopy));
  EXPECT_EQ(down.steps[0].copy.axes, 5);
}

// Those without a kernel state so by name, before anything runs on the GPU.
TEST(Lower, RefusesWhatPlacesElementsByIndices) {
  const ops::TensorType index{DType::i64, {3, 2}};
  for (const auto& call :
       std::initializer_list<std::pair<Op, ops::Types>>{{Op::gather_elements, {f32({3, 2}), index}},
                                                        {Op::scatter_elements, {f32({3, 2}), index, f32({3, 2})}},
                                                        {Op::gather_nd, {f32({3, 2}), index}}}) {
    const Op op = call.first;
    EXPECT_THAT(
        [&] { program_of(op, call.second); },
        ThrowsMessage<Error>(testing::AllOf(HasSubstr(fmt::format("no kernel for {} of f32[3,2]", ops::name(op))),
                                            HasSubstr("it is not one of its operators; take another --target"))))
        << ops::name(op);
  }
}

// Memory is reused, never while it is read: of a chain of four, two buffers and the input's.
TEST(Program, BuffersOfAChainAlternate) {
  graph::Editor editor("chain");
  auto value = editor.add_input("x", f32({64}));
  for (const Op op : {Op::exp, Op::tanh, Op::sin, Op::cos}) value = editor.op(op, {value});
  editor.add_output("y", value);
  const auto program = make_program(*editor.finish());
  EXPECT_EQ(program.arena_bytes, 3 * kAlignment);
  for (const auto& step : program.steps)
    EXPECT_NE(program.offsets[static_cast<size_t>(step.in[0])], program.offsets[static_cast<size_t>(step.out)]);
}

TEST(Program, EveryOperatorOfTheZooHasSteps) {
  for (const auto& name : zoo::names()) {
    const auto graph = zoo::make(name);
    std::set<uint64_t> seen;
    for (const auto id : graph.order()) {
      const auto& node = graph.node(id);
      if (cost::is_free(node) || !seen.insert(node.info->signature_hash).second) continue;
      EXPECT_FALSE(make_program(single_operator(graph, id)).steps.empty()) << name << " " << ops::name(node.op());
    }
  }
}

}  // namespace
}  // namespace rlgo::gpu
