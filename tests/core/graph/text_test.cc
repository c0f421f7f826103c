#include "core/graph/text.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/rng.h"
#include "core/graph/editor.h"

namespace rlgo::graph {
namespace {

using ops::Attr;
using ops::Ints;
using ops::Op;

const std::string kToy =
    "graph \"toy\"\n"
    "%0 = input \"x\" : f32[1,3,8,8]\n"
    "%1 = weight \"w\" seed=7 scale=0.1 shift=0 positive=0 : f32[4,3,3,3]\n"
    "%2 = conv2d(%0, %1) pads=[1,1,1,1] : f32[1,4,8,8]\n"
    "%3 = split(%2) axis=1 sizes=[1,3] : f32[1,1,8,8], f32[1,3,8,8]\n"
    "%4 = add(%3.0, %3.1) : f32[1,3,8,8]\n"
    "output \"y\" = %4\n"
    "output \"rest\" = %3.1\n";

std::string error_of(const std::string& text) {
  try {
    from_text(text);
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}
// The error of a third line, behind one input %0 : f32[2,3].
std::string line_error(const std::string& line) {
  return error_of("graph \"g\"\n%0 = input \"x\" : f32[2,3]\n" + line + "\n");
}

TEST(Text, ReadsWhatItWrites) {
  const Graph graph = from_text(kToy);
  graph.validate();
  EXPECT_EQ(to_text(graph), kToy);
  EXPECT_EQ(from_text(to_text(graph)).hash(), graph.hash());
}

TEST(Text, HandWrittenFormMayLeaveOutTypesAndUseAnyNumbers) {
  const Graph graph = from_text(
      "# a comment\n\n  graph \"g\"\n%10 = input \"x\" : f32[2,3]\r\n%7=relu( %10 )\n%8 = clip(%7) max=6\noutput \"y\" "
      "= %8");
  EXPECT_EQ(to_text(graph),
            "graph \"g\"\n%0 = input \"x\" : f32[2,3]\n%1 = relu(%0) : f32[2,3]\n%2 = clip(%1) max=6.0 : "
            "f32[2,3]\noutput \"y\" = %2\n");
}

// int, float, ints and word attributes; several outputs; scalars; odd names.
TEST(Text, EveryKindOfAttributeAndNameComesBack) {
  Editor e("a \"b\"\\\n\x01");
  const Value x = e.add_input("in\tput", {ops::DType::f32, {2, 4}});
  const Value fill = e.op(Op::fill, {}, {{Attr::shape, Ints{}}, {Attr::value, 1.0 / 3.0}});
  const Value gelu = e.op(Op::gelu, {e.op(Op::mul, {x, fill})}, {{Attr::approximate, std::string("tanh")}});
  const Value cast = e.op(Op::cast, {e.op(Op::clip, {gelu}, {{Attr::max, 1e20}})}, {{Attr::to, std::string("i64")}});
  const NodeId split = e.add(Op::split, std::array{cast}, {{Attr::axis, int64_t{1}}, {Attr::sizes, Ints{1, 3}}});
  e.add_output("\xC3\xA9", {split, 1});
  e.add_output("", {split, 0});
  const Graph graph = *e.finish();
  const Graph copy = from_text(to_text(graph));
  EXPECT_EQ(copy.hash(), graph.hash());
  EXPECT_EQ(copy.name(), graph.name());
  EXPECT_EQ(to_text(copy), to_text(graph));
}

TEST(Text, WeightsInMemoryComeBackAbsent) {
  Editor e("g");
  const Value x = e.add_input("x", {ops::DType::i64, {2}});
  const Value w = e.add_weight("w", Blob::bytes({ops::DType::i64, {2}}, std::string(16, 'x')));
  e.add_output("y", e.op(Op::add, {x, w}));
  const Graph graph = *e.finish();
  const Graph copy = from_text(to_text(graph));
  EXPECT_EQ(copy.hash(), graph.hash());
  for (const NodeId id : copy.order()) {
    const auto& info = *copy.node(id).info;
    EXPECT_TRUE(info.op != Op::weight || !info.blob->available());
  }
}

TEST(Text, SeededWeightsComeBackWithTheirContents) {
  Editor e("g");
  const ops::TensorType type(ops::DType::f32, {3});
  e.add_output("y", e.add_weight("w", Blob::seeded(type, 18446744073709551615u, 0.1, -2.5e-7, true)));
  const Graph copy = from_text(to_text(*e.finish()));
  EXPECT_EQ(copy.node(copy.order()[0]).info->blob->load(),
            Blob::seeded(type, 18446744073709551615u, 0.1, -2.5e-7, true)->load());
}

TEST(Text, OpaqueNodesComeBackByteForByte) {
  Editor e("g");
  const Value x = e.add_input("x", {ops::DType::f32, {2}});
  const Value y = e.add_input("y", {ops::DType::other, {}});
  auto opaque = std::make_shared<Opaque>();
  opaque->op_type = "If";
  opaque->domain = "my.\"domain\"";
  opaque->payload = std::string("\x00\xff\n\"", 4);
  opaque->formal_inputs = {true, false};
  opaque->captured = {"a b"};
  opaque->outputs = {"p", "", "q"};
  opaque->deterministic = false;
  const ops::Types types{{ops::DType::f32, {ops::kUnknown, 2}}, ops::TensorType::unranked(ops::DType::i64)};
  const NodeId id = e.add_opaque("n", opaque, std::array{x, y}, types);
  e.add_output("p", {id, 0});
  e.add_output("q", {id, 1});
  const Graph graph = *e.finish();
  const Graph copy = from_text(to_text(graph));
  EXPECT_EQ(copy.hash(), graph.hash());
  const Node& node = copy.node(copy.outputs()[0].value.node);
  EXPECT_EQ(node.info->opaque->payload, opaque->payload);
  EXPECT_EQ(node.info->outputs, types);
}

TEST(Text, ErrorsNameTheLine) {
  EXPECT_EQ(error_of(""), "line 1: the text has no 'graph' line");
  EXPECT_EQ(error_of("%0 = relu()"), "line 1: expected 'graph' before '%0 = relu()'");
  EXPECT_EQ(error_of("graph \"g"), "line 1: a string is not closed");
  EXPECT_EQ(line_error("%1 = rely(%0)"), "line 3: 'rely' is no operator");
  EXPECT_EQ(line_error("%1 = relu(%2)"), "line 3: %2 is not defined above");
  EXPECT_EQ(line_error("%1 = relu(%1)"), "line 3: %1 is not defined above");
  EXPECT_EQ(line_error("%1 = relu(%0.1)"), "line 3: %0 has 1 outputs: there is no output 1");
  EXPECT_EQ(line_error("%0 = relu(%0)"), "line 3: %0 is defined twice");
  EXPECT_EQ(line_error("%1 = relu(%0"), "line 3: expected ')' before 'end of line'");
  EXPECT_EQ(line_error("%1 = relu(%0) colour=3"), "line 3: 'colour' is no attribute");
  EXPECT_EQ(line_error("%1 = softmax(%0) axis=1 axis=1"), "line 3: attribute 'axis' is given twice");
  EXPECT_EQ(line_error("%1 = relu(%0) : f32[3,2]"), "line 3: the stated type is not the one that relu infers");
  EXPECT_EQ(line_error("%1 = relu(%0) : f32[2,3] x"), "line 3: something is left over at the end of the line");
  EXPECT_EQ(line_error("%1 = input \"x\" : f32[1]"), "line 3: two inputs are named 'x'");
  EXPECT_EQ(line_error("%1 = input \"z\" : f33[1]"), "line 3: 'f33[1]' is not a tensor type");
  EXPECT_EQ(line_error("output \"y\" = %0\noutput \"y\" = %0"), "line 4: two outputs are named 'y'");
  EXPECT_NE(line_error("%1 = softmax(%0) axis=2").find("line 3: cannot add softmax"), std::string::npos);
  EXPECT_NE(line_error("%1 = matmul(%0, %0)").find("do not fit together"), std::string::npos);
}

TEST(Text, HostileWeightsAndPayloadsAreErrors) {
  EXPECT_EQ(line_error("%1 = weight \"w\" hash=12 : f32[1]"), "line 3: a hash has 16 digits");
  EXPECT_EQ(line_error("%1 = weight \"w\" hash=000000000000000g : f32[1]"),
            "line 3: '0g' is not a pair of hexadecimal digits");
  EXPECT_EQ(line_error("%1 = weight \"w\" seed=18446744073709551616 scale=1 shift=0 positive=0 : f32[1]"),
            "line 3: '18446744073709551616' is not a seed");
  EXPECT_EQ(line_error("%1 = weight \"w\" seed=1 scale=nan shift=0 positive=0 : f32[1]"),
            "line 3: seeded weights need a finite scale and shift");
  EXPECT_EQ(line_error("%1 = weight \"w\" seed=1 scale=1 shift=0 positive=2 : f32[1]"),
            "line 3: a flag is 0 or 1, not 2");
  EXPECT_EQ(line_error("%1 = weight \"w\" hash=0000000000000000 : f32[?]"),
            "line 3: a weight cannot have the type f32[?]: its shape must be known");
  const std::string opaque =
      "%1 = opaque(%0) type=\"T\" domain=\"\" formal=\"1\" captured=[] outputs=[\"y\"] deterministic=1 payload=";
  EXPECT_EQ(line_error(opaque + "\"abc\" : f32[1]"), "line 3: 'c' is not a pair of hexadecimal digits");
  EXPECT_EQ(line_error(opaque + "\"ab\" : f32[1], f32[1]"), "line 3: 2 types for 1 outputs");
  EXPECT_EQ(
      line_error(
          "%1 = opaque() type=\"T\" domain=\"\" formal=\"1\" captured=[] outputs=[] deterministic=1 payload=\"\""),
      "line 3: 0 inputs where 'formal' and 'captured' ask for 1");
  EXPECT_NE(line_error("%1 = fill() shape=[9223372036854775807,9]").find("too large"), std::string::npos);
}

// Changed bytes make another graph or an Error, never anything else.
TEST(Text, DamagedTextNeverCrashes) {
  Rng rng({11});
  int accepted = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    std::string text = kToy;
    for (uint64_t k = 0; k <= rng.below(3); ++k)
      text[rng.below(text.size())] =
          rng.below(2) == 0 ? static_cast<char>(rng.below(256)) : kToy[rng.below(kToy.size())];
    if (rng.below(4) == 0) text.resize(rng.below(text.size()));
    try {
      from_text(text).validate();
      ++accepted;
    } catch (const Error& e) {
      ASSERT_EQ(std::string(e.what()).substr(0, 5), "line ");
    }
  }
  EXPECT_GT(accepted, 30);
  EXPECT_LT(accepted, 2000);
}

}  // namespace
}  // namespace rlgo::graph
