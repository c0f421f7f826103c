// A rule is applied within its scope alone.
#include "core/rules/proof_scope.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/rules/rules.h"

namespace rlgo::rules {
namespace {

using graph::Editor;
using graph::Graph;
using graph::Value;
using ops::Attr;
using ops::DType;
using ops::Ints;
using ops::Op;
using ops::Shape;
using ops::TensorType;

size_t matches(const std::string& rule, const Graph& graph) {
  return find_matches(*RuleSet::parse("rule r\n" + rule, "test.rules"), 0, graph).size();
}
Graph of(Editor& editor, Value output) {
  editor.add_output("y", output);
  return *editor.finish();
}
Value input(Editor& editor, DType type, const Shape& shape) { return editor.add_input("x", TensorType(type, shape)); }

constexpr const char* kReluRelu = "?y = (relu (relu ?x)) => ?y = (relu ?x)";
constexpr const char* kTransposes =
    "?y = (transpose (transpose ?x perm=?p) perm=?q) => ?y = (transpose ?x perm=pick(?p, ?q))";

Graph twice(Op op, DType type, const Shape& shape) {
  Editor editor("g");
  return of(editor, editor.op(op, {editor.op(op, {input(editor, type, shape)})}));
}

TEST(ProofScope, WhatComputesIsForFloats) {
  for (const auto& [type, wanted] : {std::pair(DType::f32, 1u), {DType::f16, 1u}, {DType::i64, 0u}, {DType::i32, 0u}}) {
    Editor editor("g");
    const Value x = input(editor, type, {2, 3}), z = editor.add_input("z", TensorType(type, {2, 3}));
    const Graph graph = of(editor, editor.op(Op::div, {editor.op(Op::mul, {x, z}), z}));
    EXPECT_EQ(matches("?y = (div (mul ?x ?a) ?a) => ?y = ?x", graph), wanted);
  }
}

TEST(ProofScope, WhatMovesElementsIsForAllTypes) {
  for (const DType type : {DType::f32, DType::i64, DType::boolean}) {
    Editor editor("g");
    const Ints turn{2, 0, 1};
    const Value first = editor.op(Op::transpose, {input(editor, type, {2, 3, 4})}, {{Attr::perm, turn}});
    EXPECT_EQ(matches(kTransposes, of(editor, editor.op(Op::transpose, {first}, {{Attr::perm, turn}}))), 1u);
  }
}

// Proofs were made for images first: a rule reports so where it holds for windows of one and of three axes, too.
TEST(ProofScope, WindowsHaveTwoAxesUnlessTheProofStatesMore) {
  const std::string body = "?y = (relu (conv2d ?x ?w ..?A)) => ?y = (clip (conv2d ?x ?w ..?A) min=0)";
  const std::string image = "proof proved for floats, ranks to 6: clip-relu\n" + body,
                    any = "proof proved for floats, ranks to 6, windows of 1 to 3 axes: clip-relu\n" + body;
  for (const size_t axes : {1, 2, 3}) {
    Editor editor("g");
    Shape x{1, 2}, w{3, 2};
    for (size_t d = 0; d < axes; ++d) x.push_back(5), w.push_back(3);
    const Value weight = editor.add_input("w", TensorType(DType::f32, w));
    const Value conv = editor.op(Op::conv2d, {input(editor, DType::f32, x), weight});
    const Graph graph = of(editor, editor.op(Op::relu, {conv}));
    EXPECT_EQ(matches(image, graph), axes == 2 ? 1u : 0u);
    EXPECT_EQ(matches(any, graph), 1u);
  }
}

// Nor is a window of another number of axes made.
TEST(ProofScope, NewWindowsHaveTwoAxesUnlessTheProofStatesMore) {
  Editor editor("g");
  const Graph graph = of(editor, editor.op(Op::reduce_mean, {input(editor, DType::f32, {2, 3, 5})},
                                           {{Attr::axes, Ints{2}}, {Attr::keepdims, int64_t{1}}}));
  const std::string body = "?y = (reduce_mean ?x axes=[2] keepdims=1) => ?y = (global_avg_pool ?x)";
  EXPECT_EQ(matches("proof proved for floats, ranks to 6: global-avg-pool-is\n" + body, graph), 0u);
  EXPECT_EQ(matches("proof proved for floats, ranks to 6, windows of 1 to 3 axes: global-avg-pool-is\n" + body, graph),
            1u);
}

TEST(ProofScope, AllTensorsAreOfOneType) {
  const std::string rule = "?y = (cast (cast ?x to=?t) to=?u) => ?y = (cast ?x to=?u)";
  const auto casts = [](const char* t, const char* u) {
    Editor editor("g");
    const Value first = editor.op(Op::cast, {input(editor, DType::f32, {2})}, {{Attr::to, std::string(t)}});
    return of(editor, editor.op(Op::cast, {first}, {{Attr::to, std::string(u)}}));
  };
  EXPECT_EQ(matches(rule, casts("i64", "f32")), 0u);
  EXPECT_EQ(matches(rule, casts("f16", "f32")), 0u);
}

TEST(ProofScope, ExtentsOfZeroAreOutside) { EXPECT_EQ(matches(kReluRelu, twice(Op::relu, DType::f32, {0, 3})), 0u); }

TEST(ProofScope, RanksAreThoseOfTheProofLine) {
  const std::string rule = std::string("proof proved for floats, ranks to 4: relu-relu\n") + kReluRelu;
  EXPECT_EQ(matches(rule, twice(Op::relu, DType::f32, {1, 2, 1, 2})), 1u);
  EXPECT_EQ(matches(rule, twice(Op::relu, DType::f32, {1, 1, 2, 1, 2})), 0u);
  EXPECT_EQ(matches(kReluRelu, twice(Op::relu, DType::f32, {1, 1, 2, 1, 2})), 1u);
}

Graph relu_of_concat(int count) {
  Editor editor("g");
  const Value x = input(editor, DType::f32, {2, 3});
  const std::vector<Value> all(static_cast<size_t>(count), x);
  return of(editor, editor.op(Op::relu, {Value{*editor.try_add(Op::concat, all, {{Attr::axis, int64_t{0}}}), 0}}));
}

TEST(ProofScope, ListsAreAsLongAsTheProofLineStates) {
  const std::string body = "?y = (relu (concat ?xs... axis=?k)) => ?y = (concat (relu ?xs)... axis=?k)";
  EXPECT_EQ(matches("proof proved for floats, ranks to 4, lists to 3: relu-concat\n" + body, relu_of_concat(3)), 1u);
  EXPECT_EQ(matches("proof proved for floats, ranks to 4, lists to 3: relu-concat\n" + body, relu_of_concat(4)), 0u);
  EXPECT_EQ(matches("proof proved relu-concat\n" + body, relu_of_concat(4)), 0u);
  EXPECT_EQ(
      matches("proof proved for floats, ranks to 4, lists of any length: relu-concat\n" + body, relu_of_concat(9)), 1u);
}

Graph relu_of_reshape(const Ints& shape) {
  Editor editor("g");
  const Value x = input(editor, DType::f32, {4, 6});
  return of(editor, editor.op(Op::relu, {editor.op(Op::reshape, {x}, {{Attr::shape, shape}})}));
}

TEST(ProofScope, OpenItemsOfAReshapeArePassedOnOnly) {
  const std::string passed = "?y = (relu (reshape ?x shape=?s)) => ?y = (reshape (relu ?x) shape=?s)";
  const std::string read = "?y = (relu (reshape ?x shape=?s)) when ?s[0] != 7 => ?y = (reshape (relu ?x) shape=?s)";
  const std::string taken_apart = "?y = (relu (reshape ?x shape=[?a, ?b])) => ?y = (reshape (relu ?x) shape=[?a, ?b])";
  for (const auto& shape : {Ints{-1, 3}, Ints{-2, 6}}) {
    EXPECT_EQ(matches(passed, relu_of_reshape(shape)), 1u);
    EXPECT_EQ(matches(read, relu_of_reshape(shape)), 0u);
    EXPECT_EQ(matches(taken_apart, relu_of_reshape(shape)), 0u);
  }
  EXPECT_EQ(matches(read, relu_of_reshape({8, 3})), 1u);
}

TEST(ProofScope, OpenItemsMeanTheSameOnBothSides) {
  // -2 is the input's extent, 3: so it is over another input, too.
  const std::string rule = "?y = (reshape (reshape ?x shape=?r) shape=?s) => ?y = (reshape ?x shape=?s)";
  Editor editor("g");
  const Value x = input(editor, DType::f32, {4, 6});
  const Value first = editor.op(Op::reshape, {x}, {{Attr::shape, Ints{3, 8}}});
  EXPECT_EQ(matches(rule, of(editor, editor.op(Op::reshape, {first}, {{Attr::shape, Ints{-2, 4, 2}}}))), 1u);
}

Graph pool_of_relu(int64_t dilation, int64_t pad, int64_t extent) {
  Editor editor("g");
  const Value relu = editor.op(Op::relu, {input(editor, DType::f32, {1, 1, extent, extent})});
  return of(editor, editor.op(Op::max_pool, {relu},
                              {{Attr::kernel, Ints{2, 2}},
                               {Attr::dilations, Ints{dilation, 1}},
                               {Attr::pads, Ints{pad, 0, pad, 0}}}));
}

TEST(ProofScope, NoWindowIsPaddingAlone) {
  const std::string rule = "?y = (max_pool (relu ?x) ..?A) => ?y = (relu (max_pool ?x ..?A))";
  EXPECT_EQ(matches(rule, pool_of_relu(1, 1, 2)), 1u);
  EXPECT_EQ(matches(rule, pool_of_relu(2, 1, 2)), 1u);
  EXPECT_EQ(matches(rule, pool_of_relu(3, 0, 4)), 1u);
  EXPECT_EQ(matches(rule, pool_of_relu(3, 1, 2)), 0u);  // positions -1 and 2 of an image of 2
}

TEST(ProofScope, IsReadAndWritten) {
  const char* text =
      "rule r\n  proof proved for all types, ranks to 6, lists to 32: a b\n"
      "  ?y = (concat ?xs... axis=?k)\n  =>\n  ?y = (concat ?xs... axis=?k)\n";
  EXPECT_NE(RuleSet::parse(text, "f")->to_text().find("proof proved for all types, ranks to 6, lists to 32: a b\n"),
            std::string::npos);
  const std::string windows = "proof proved for floats, ranks to 6, windows of 1 to 3 axes, lists to 32: a\n";
  EXPECT_NE(RuleSet::parse("rule r\n" + windows + "?y = (relu ?x) => ?y = ?x", "f")->to_text().find(windows),
            std::string::npos);
  EXPECT_THROW(RuleSet::parse("rule r\n proof proved for ints, ranks to 6: a\n ?y = (relu ?x) => ?y = ?x", "f"), Error);
  EXPECT_THROW(RuleSet::parse("rule r\n proof proved for floats, ranks to 0: a\n ?y = (relu ?x) => ?y = ?x", "f"),
               Error);
}

// Each constant is a number, their product is none of the type: 1e30 * 1e30 is infinite in f32, NaN * 1 is NaN.
TEST(ProofScope, NumbersThatARuleMakesAreFiniteInTheirType) {
  const auto planned = [](DType type, float a, float b) {
    Editor editor("g");
    const auto number = [&](const char* name, float v) {
      return editor.add_weight(
          name, graph::Blob::bytes(TensorType(DType::f32, {}), std::string(reinterpret_cast<char*>(&v), sizeof v)));
    };
    const Value x = editor.op(Op::mul, {input(editor, type, {2, 3}), number("a", a)});
    const Graph graph = of(editor, editor.op(Op::mul, {x, number("b", b)}));
    return matches("?y = (mul (mul ?x ?a) ?b) => ?y = (mul ?x {value(?a) * value(?b)})", graph);
  };
  EXPECT_GT(planned(DType::f32, 1e10F, 1e10F), 0u);
  EXPECT_EQ(planned(DType::f32, 1e30F, 1e30F), 0u);
  EXPECT_EQ(planned(DType::f32, std::nanf(""), 1.0F), 0u);
}

// softmax(x + m) where m is a mask, and what the rule makes of it.
size_t softmax_matches(Value (*mask)(Editor&)) {
  Editor editor("g");
  const Value x = input(editor, DType::f32, {2, 3});
  const Value sum = editor.op(Op::add, {x, mask(editor)});
  return matches("?y = (softmax (add ?x ?m) axis=?k) when dim(?m, ?k) == 1 => ?y = (softmax ?x axis=?k)",
                 of(editor, editor.op(Op::softmax, {sum}, {{Attr::axis, int64_t{1}}})));
}

std::shared_ptr<const graph::Blob> two(const Shape& shape, float a, float b) {
  const float numbers[] = {a, b};
  return graph::Blob::bytes({DType::f32, shape}, std::string(reinterpret_cast<const char*>(numbers), sizeof numbers));
}
std::shared_ptr<const graph::Blob> column(float a, float b) { return two({2, 1}, a, b); }

TEST(ProofScope, WhatMayBeInfiniteIsNotDropped) {
  EXPECT_EQ(softmax_matches([](Editor& e) { return e.add_weight("m", column(0, -1e9F)); }), 1u);
  EXPECT_EQ(softmax_matches([](Editor& e) { return e.add_weight("m", column(0, -HUGE_VALF)); }), 0u);
  EXPECT_EQ(softmax_matches([](Editor& e) {
              const Value m = e.add_weight("m", column(0, -HUGE_VALF));
              const Value c = e.add_input("c", TensorType(DType::boolean, {2, 1}));
              return e.op(Op::where, {c, e.add_input("z", TensorType(DType::f32, {2, 1})), m});
            }),
            0u);
  EXPECT_EQ(softmax_matches(
                [](Editor& e) { return e.op(Op::tanh, {e.op(Op::neg, {e.add_weight("m", column(0, -HUGE_VALF))})}); }),
            1u);
}

TEST(ProofScope, InfiniteNumbersMayBeMovedAround) {
  Editor editor("g");
  const Value x = input(editor, DType::f32, {2, 1}), m = editor.add_weight("m", column(0, -HUGE_VALF));
  const Graph graph = of(editor, editor.op(Op::transpose, {editor.op(Op::add, {x, m})}, {{Attr::perm, Ints{1, 0}}}));
  EXPECT_EQ(matches("?y = (transpose (add ?x ?m) perm=?p) => ?y = (add (transpose ?x perm=?p) (transpose ?m perm=?p))",
                    graph),
            1u);
}

// A kernel that is padded multiplies its new zeros with channels that it did not read: NaN where these are infinite.
TEST(ProofScope, InfiniteNumbersMeetNoZerosOfAPad) {
  const auto of_groups = [](float last) {
    const Shape image{1, 2, 1, 1};
    Editor editor("g");
    const Value sum =
        editor.op(Op::add, {input(editor, DType::f32, image), editor.add_weight("m", two(image, 0, last))});
    const Value kernel = editor.add_weight("w", two({2, 1, 1, 1}, 1, 2));
    return of(editor, editor.op(Op::conv2d, {sum, kernel}, {{Attr::group, int64_t{2}}}));
  };
  const std::string rule =
      "?y = (conv2d ?x ?w group=2 ..?A) when constant(?w) and dim(?w, 0) == 2 and dim(?w, 1) == 1\n"
      "  => ?u = (split ?w axis=0 sizes=[1, 1])\n"
      "     ?p = (pad ?u.0 pads=[0, 0, 0, 0, 0, 1, 0, 0])\n"
      "     ?q = (pad ?u.1 pads=[0, 1, 0, 0, 0, 0, 0, 0])\n"
      "     ?y = (conv2d ?x (concat ?p ?q axis=0) group=1 ..?A)";
  EXPECT_EQ(matches(rule, of_groups(1)), 1u);
  EXPECT_EQ(matches(rule, of_groups(HUGE_VALF)), 0u);
}

TEST(ProofScope, ProductsWithInfiniteNumbersAreNotDistributed) {
  Editor editor("g");
  const Value x = input(editor, DType::f32, {2, 1}), z = editor.add_input("z", TensorType(DType::f32, {2, 1}));
  const Value m = editor.add_weight("m", column(1, HUGE_VALF));
  const Graph graph = of(editor, editor.op(Op::mul, {editor.op(Op::add, {x, z}), m}));
  EXPECT_EQ(matches("?y = (mul (add ?x ?z) ?m) => ?y = (add (mul ?x ?m) (mul ?z ?m))", graph), 0u);
}

}  // namespace
}  // namespace rlgo::rules
