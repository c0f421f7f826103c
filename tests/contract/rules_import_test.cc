// Matches on imported models must not depend on whether weights are kept: actors leave them behind, and a trace counts
// places.
#include <gtest/gtest.h>

#include <cstdlib>

#include "core/base/error.h"
#include "core/onnx/onnx.h"
#include "core/rules/rules.h"
#include "tests/support/shipped_rules.h"

namespace rlgo::rules {
namespace {

using graph::Value;
using ops::Op;

// gelu, then hard swish, spelled out with scalars that are weights.
graph::Graph spelled_out() {
  graph::Editor editor("spellings");
  const auto scalar = [&](const std::string& name, float number, ops::Shape shape) {
    std::string bytes(reinterpret_cast<const char*>(&number), sizeof(number));
    return editor.add_weight(name, graph::Blob::bytes({ops::DType::f32, std::move(shape)}, std::move(bytes)));
  };
  const Value x = editor.add_input("x", {ops::DType::f32, {2, 3}});
  const Value w = editor.add_weight("w", graph::Blob::seeded({ops::DType::f32, {3, 3}}, 1, 1.0));
  const Value c = editor.op(Op::matmul, {x, w});
  const Value d = editor.op(Op::div, {c, scalar("two", 1.4142135F, {})});
  const Value f = editor.op(Op::add, {editor.op(Op::erf, {d}), scalar("one", 1.0F, {1})});
  const Value g = editor.op(Op::mul, {editor.op(Op::mul, {c, f}), scalar("half", 0.5F, {})});
  const Value h = editor.op(Op::add, {g, scalar("three", 3.0F, {})});
  const Value k = editor.op(Op::clip, {h}, {{ops::Attr::min, 0.0}, {ops::Attr::max, 6.0}});
  editor.add_output("y", editor.op(Op::div, {editor.op(Op::mul, {g, k}), scalar("six", 6.0F, {1, 1})}));
  return *editor.finish();
}

TEST(RulesOnImports, MatchesAreTheSameWithAndWithoutWeights) {
  std::string folder = testing::TempDir() + "/rlgo_rules_XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::filesystem::path path = std::filesystem::path(folder) / "m.onnx";
  onnx_io::export_graph(spelled_out(), {}, path);
  const auto with = onnx_io::import_model(path).graph;
  const auto without = onnx_io::import_model(path, {.dims = {}, .keep_weights = false}).graph;
  std::filesystem::remove_all(folder);

  const auto rules = shipped_rules();
  std::vector<std::string> fires;
  for (int r = 0; r < rules->size(); ++r) {
    const auto here = find_matches(*rules, r, with), there = find_matches(*rules, r, without);
    EXPECT_EQ(here, there) << rules->name(r);
    if (!here.empty()) fires.push_back(rules->name(r));
  }
  EXPECT_EQ(std::count(fires.begin(), fires.end(), "erf-to-gelu"), 1);
  EXPECT_EQ(std::count(fires.begin(), fires.end(), "clip-to-hard-swish"), 1);
}

}  // namespace
}  // namespace rlgo::rules
