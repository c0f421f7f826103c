#include "core/measure/partition.h"

#include <gmock/gmock.h>

#include <set>

#include "core/cost/cost.h"
#include "core/graph/editor.h"
#include "core/graph/text.h"
#include "core/measure/group.h"
#include "core/zoo/zoo.h"

namespace rlgo::measure {
namespace {

using graph::Graph;
using graph::NodeId;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The groups as "conv2d add relu", in topological order of their heads.
std::vector<std::string> groups_of(const Graph& graph) {
  std::vector<std::string> out;
  for (const NodeId id : graph.order()) {
    if (cost::is_free(graph.node(id)) || leader(graph, id) != graph::kNoNode) continue;
    std::string text;
    for (const NodeId member : members(graph, id))
      text += (text.empty() ? "" : " ") + std::string(ops::name(graph.node(member).op()));
    out.push_back(text);
  }
  return out;
}

std::vector<std::string> groups_of(const std::string& text) { return groups_of(graph::from_text(text)); }

TEST(Partition, ResidualBlockIsTwoGroups) {
  EXPECT_THAT(groups_of(R"(graph "g"
%0 = input "x" : f32[1,4,8,8]
%1 = weight "w" hash=0000000000000001 : f32[4,4,3,3]
%2 = conv2d(%0, %1) pads=[1,1,1,1]
%3 = relu(%2)
%4 = conv2d(%3, %1) pads=[1,1,1,1]
%5 = add(%4, %0)
%6 = relu(%5)
output "y" = %6
)"),
              ElementsAre("conv2d relu", "conv2d add relu"));
}

TEST(Partition, GeluSpelledOutIsOneGroup) {
  EXPECT_THAT(groups_of(R"(graph "g"
%0 = input "x" : f32[2,8]
%1 = fill() value=1.4142135 shape=[]
%2 = fill() value=1 shape=[]
%3 = fill() value=0.5 shape=[]
%4 = weight "w" hash=0000000000000001 : f32[8,8]
%5 = matmul(%0, %4)
%6 = div(%5, %1)
%7 = erf(%6)
%8 = add(%7, %2)
%9 = mul(%5, %8)
%10 = mul(%9, %3)
%11 = softmax(%10) axis=1
output "y" = %11
)"),
              ElementsAre("matmul div erf add mul mul", "softmax"));
}

TEST(Partition, LayerNormSpelledOutIsOneGroup) {
  EXPECT_THAT(groups_of(R"(graph "g"
%0 = input "x" : f32[2,8]
%1 = fill() value=1e-5 shape=[]
%2 = weight "g" hash=0000000000000001 : f32[8]
%3 = relu(%0)
%4 = reduce_mean(%3) axes=[1] keepdims=1
%5 = sub(%3, %4)
%6 = mul(%5, %5)
%7 = reduce_mean(%6) axes=[1] keepdims=1
%8 = add(%7, %1)
%9 = sqrt(%8)
%10 = div(%5, %9)
%11 = mul(%10, %2)
output "y" = %11
)"),
              ElementsAre("relu reduce_mean sub mul reduce_mean add sqrt div mul"));
}

TEST(Partition, SeveralReadersOrAnOutputEndAGroup) {
  EXPECT_THAT(groups_of(R"(graph "g"
%0 = input "x" : f32[2,8]
%1 = exp(%0)
%2 = relu(%1)
%3 = tanh(%1)
%4 = abs(%3)
output "a" = %2
output "b" = %3
output "c" = %4
)"),
              ElementsAre("exp", "relu", "tanh", "abs"));
}

TEST(Partition, OperandsInFrontOfAMatmulJoinIt) {
  EXPECT_THAT(groups_of(R"(graph "g"
%0 = input "x" : f32[2,4,8]
%1 = input "z" : f32[2,4,8]
%2 = transpose(%1) perm=[0,2,1]
%3 = matmul(%0, %2)
%4 = fill() value=0.125 shape=[]
%5 = mul(%3, %4)
%6 = softmax(%5) axis=2
%7 = transpose(%6) perm=[1,0,2]
output "y" = %7
)"),
              ElementsAre("transpose matmul mul", "softmax", "transpose"));
}

TEST(Partition, BroadcastThatGrowsIsNotFollowed) {
  EXPECT_THAT(groups_of(R"(graph "g"
%0 = input "x" : f32[1,4,8,8]
%1 = global_avg_pool(%0)
%2 = hard_sigmoid(%1)
%3 = mul(%0, %2)
output "y" = %3
)"),
              ElementsAre("global_avg_pool", "hard_sigmoid", "mul"));
}

TEST(Partition, EveryNodeOfTheZooIsInExactlyOneGroup) {
  for (const auto& name : zoo::names()) {
    const Graph graph = zoo::make(name);
    std::set<NodeId> seen;
    size_t priced = 0;
    for (const NodeId id : graph.order()) {
      if (cost::is_free(graph.node(id))) continue;
      ++priced;
      ASSERT_FALSE(cost::is_free(graph.node(head(graph, id)))) << name;
      if (leader(graph, id) != graph::kNoNode) continue;
      for (const NodeId member : members(graph, id)) {
        EXPECT_EQ(head(graph, member), id) << name;
        EXPECT_TRUE(seen.insert(member).second) << name;
      }
    }
    EXPECT_EQ(seen.size(), priced) << name;
  }
}

TEST(Partition, Resnet50IsConvolutionsWithAllBehindThem) {
  const auto groups = groups_of(zoo::make("resnet50"));
  EXPECT_EQ(groups.size(), 56u);  // 53 convolutions, 2 pools, 1 matmul
  EXPECT_EQ(std::count(groups.begin(), groups.end(), "conv2d batch_norm add relu"), 16);
}

constexpr const char* kBlock = R"(graph "g"
%0 = input "x" : f32[1,4,8,8]
%1 = input "z" : f32[1,4,8,8]
%2 = weight "w" hash=0000000000000001 : f32[4,4,3,3]
%3 = fill() value=6 shape=[]
%4 = conv2d(%0, %2) pads=[1,1,1,1]
%5 = add(%4, %1)
%6 = min(%5, %3)
output "y" = %6
)";

TEST(Group, SignatureStatesWhatATimeDependsOn) {
  const Graph graph = graph::from_text(kBlock);
  const auto group = members(graph, head(graph, graph.outputs()[0].value.node));
  const std::string text = group_signature(graph, group);
  EXPECT_THAT(text, HasSubstr("conv2d"));
  EXPECT_THAT(text, HasSubstr("(x0:f32[1,4,8,8], c:f32[4,4,3,3]); add (%0, x1:f32[1,4,8,8]); min (%1, =6:f32[])!"));
}

TEST(Group, GraphOfItsOwnIsTheSameGroup) {
  const Graph graph = graph::from_text(kBlock);
  const NodeId root = head(graph, graph.outputs()[0].value.node);
  const auto group = members(graph, root);
  const Graph own = group_graph(graph, group);
  EXPECT_EQ(own.inputs().size(), 2u);
  const NodeId own_root = head(own, own.outputs()[0].value.node);
  EXPECT_EQ(group_signature(own, members(own, own_root)), group_signature(graph, group));
  // Numbers survive the text form in which it is sent to another rank.
  const Graph sent = graph::from_text(graph::to_text(own));
  const NodeId sent_root = head(sent, sent.outputs()[0].value.node);
  EXPECT_EQ(group_hash(sent, members(sent, sent_root)), group_hash(own, members(own, own_root)));
}

// As long as a call for each operator would run out of stack, and a look at all for each would take minutes.
TEST(Group, OfManyOperators) {
  graph::Editor editor("chain");
  graph::Value x = editor.add_input("x", {ops::DType::f32, {2, 8}});
  for (int k = 0; k < 50'000; ++k) x = editor.op(ops::Op::tanh, {editor.op(ops::Op::relu, {x})});
  editor.add_output("y", x);
  const Graph graph = *editor.finish();
  const auto group = members(graph, head(graph, x.node));
  EXPECT_EQ(group.size(), 100'000u);
  EXPECT_EQ(group.back(), x.node);
  EXPECT_TRUE(group_signature(graph, group).ends_with("tanh (%99998)!"));
}

TEST(Group, AddedImageGetsItsLayoutFromAPool) {
  const Graph graph = graph::from_text(kBlock);
  const Graph own = group_graph(graph, members(graph, head(graph, graph.outputs()[0].value.node)));
  EXPECT_EQ(measurable(own, false).hash(), own.hash());
  const std::string with = graph::to_text(measurable(own, true));
  EXPECT_THAT(with, HasSubstr("max_pool(%"));
  EXPECT_EQ(measurable(own, true).size(), own.size() + 1);
}

}  // namespace
}  // namespace rlgo::measure
