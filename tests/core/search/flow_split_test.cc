#include "core/search/flow_split.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

#include "core/zoo/zoo.h"

namespace rlgo::search {
namespace {

using graph::NodeId;

class FlowSplitTest : public testing::TestWithParam<std::string> {};

TEST_P(FlowSplitTest, EveryNodeIsInOnePart) {
  const std::array<std::filesystem::path, 1> files{"configs/rules/base.rules"};
  const graph::Graph graph = zoo::make(GetParam());
  const FlowSplit split = flow_split(graph, rules::MatchIndex(rules::RuleSet::load(files), graph), 30);
  std::set<NodeId> seen;
  for (const auto& part : split.parts) {
    EXPECT_LE(part.size(), 30u);
    for (const NodeId id : part) EXPECT_TRUE(seen.insert(id).second);
  }
  for (const NodeId id : graph.order()) {
    const bool split_too = !graph.node(id).constant && graph.node(id).op() != ops::Op::input;
    EXPECT_EQ(seen.contains(id), split_too);
  }
  EXPECT_EQ(split.cuts.size() + 1, split.parts.size());
}

INSTANTIATE_TEST_SUITE_P(Zoo, FlowSplitTest, testing::Values("resnet50", "inception_v3", "bert"),
                         [](const auto& test) { return test.param; });

// Where rewrites overlap everywhere but at one node, the cut is there.
TEST(FlowSplit, CutsWhereFewRewritesAre) {
  const auto rules = rules::RuleSet::parse(R"(
rule drop-middle
  ?y = (relu (relu (relu ?x)))
  => ?y = (relu ?x)
)",
                                           "test.rules");
  graph::Editor e("chain");
  graph::Value x = e.add_input("x", {ops::DType::f32, {4, 8}});
  NodeId narrow = graph::kNoNode;
  for (int k = 0; k < 17; ++k) {
    x = e.op(k == 7 ? ops::Op::abs : ops::Op::relu, {x});
    if (k == 7) narrow = x.node;
  }
  e.add_output("y", x);
  const graph::Graph graph = *e.finish();
  const FlowSplit split = flow_split(graph, rules::MatchIndex(rules, graph), 10);
  ASSERT_EQ(split.cuts.size(), 1u);
  const NodeId cut = split.cuts[0].at(0);
  EXPECT_TRUE(cut == narrow || cut == narrow - 1 || cut == narrow + 1) << cut;
}

}  // namespace
}  // namespace rlgo::search
