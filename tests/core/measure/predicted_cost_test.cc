#include "core/measure/predicted_cost.h"

#include <gmock/gmock.h>

#include <cmath>
#include <map>
#include <tuple>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/temporary_folder.h"
#include "core/cost/profile.h"
#include "core/graph/editor.h"
#include "core/measure/group.h"
#include "core/measure/group_features.h"
#include "core/measure/partition.h"
#include "core/zoo/zoo.h"

namespace rlgo::measure {
namespace {

using graph::Graph;
using graph::NodeId;
using ops::Op;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<NodeId> heads(const Graph& graph) {
  std::vector<NodeId> out;
  for (const NodeId id : graph.order()) {
    if (!graph.node(id).constant && !cost::is_free(graph.node(id)) && leader(graph, id) == graph::kNoNode)
      out.push_back(id);
  }
  return out;
}

// Trees learn from groups that were taken out of their graphs, and price groups inside of graphs.
TEST(GroupFeatures, AreThoseOfTheGroupTakenOutOfItsGraph) {
  cost::AnalyticCost formula;
  int groups = 0;
  for (const auto& name : zoo::names()) {
    const Graph graph = zoo::make(name);
    for (const NodeId head : heads(graph)) {
      const auto inside = members(graph, head);
      const Graph alone = group_graph(graph, inside);
      const auto outside = members_of_group(alone);
      ASSERT_EQ(group_features(graph, inside, formula), group_features(alone, outside, formula))
          << name << ": " << group_signature(graph, inside);
      ++groups;
    }
  }
  EXPECT_GT(groups, 1000);
}

TEST(GroupFeatures, DistinguishASpeltActivationFromItsGroupAndItsBroadcasts) {
  cost::AnalyticCost formula;
  graph::Editor editor("swish");
  const auto x = editor.add_input("x", {ops::DType::f32, {1, 8, 4, 4}});
  const auto scale = editor.add_weight("s", graph::Blob::seeded({ops::DType::f32, {8, 1, 1}}, 1, 1.0));
  const auto y = editor.op(Op::mul, {x, scale});
  editor.add_output("y", editor.op(Op::mul, {y, editor.op(Op::sigmoid, {y})}));
  const Graph graph = *editor.finish();
  const auto inside = members(graph, heads(graph).at(0));
  std::map<std::string, double> found;
  for (const auto& [name, value] : group_features(graph, inside, formula)) found[name] = value;
  EXPECT_EQ(found.at("members"), 3);
  EXPECT_EQ(found.at("count:mul"), 2);
  EXPECT_EQ(found.at("count:sigmoid"), 1);
  EXPECT_EQ(found.at("inner"), 1) << "one factor for each channel";
  EXPECT_NEAR(found.at("share:mul") + found.at("share:sigmoid"), 1, 1e-12);
  EXPECT_DOUBLE_EQ(found.at("read"), std::log1p(4 * 128));
  EXPECT_DOUBLE_EQ(found.at("constants"), std::log1p(4 * 8));
  EXPECT_DOUBLE_EQ(found.at("written"), std::log1p(4 * 128));
}

TEST(PredictedCost, IsTheFormulaWhereNothingIsLearned) {
  for (const std::string runtime : {"onnxruntime", "openvino", "mine"}) {
    PredictedCost predicted(GroupPredictor(runtime, "AMD EPYC", false));
    cost::AnalyticCost formula(cost::fitted_to(runtime));
    const Graph graph = zoo::make("squeezenet1_1");
    EXPECT_NEAR(cost::graph_cost(predicted, graph).runtime_us, cost::graph_cost(formula, graph).runtime_us, 0.2);
    EXPECT_FALSE(GroupPredictor(runtime, "AMD EPYC", false).is_learned());
  }
  EXPECT_FALSE(GroupPredictor("openvino", "AMD EPYC", true).is_learned());
}

TEST(PredictedCost, DevicesAreLikeThoseOfTheirNameThenOfTheirMaker) {
  const std::vector<std::string> known = {"AMD EPYC", "AMD EPYC 7B13", "Intel(R) Xeon(R) Processor"};
  EXPECT_THAT(devices_like("AMD EPYC", known), ElementsAre(0));
  EXPECT_THAT(devices_like("AMD Ryzen 7", known), ElementsAre(0, 1));
  EXPECT_THAT(devices_like("Intel Core i9", known), ElementsAre(2));
  EXPECT_THAT(devices_like("Neoverse-N1", known), ElementsAre(0, 1, 2));
  EXPECT_THAT(devices_like("", known), ElementsAre(0, 1, 2));
  EXPECT_THAT(devices_like("AMD EPYC", {}), IsEmpty());
}

TEST(PredictedCost, PricesOfAnUnknownMakerAreTheMeanOfThoseOfAllDevices) {
  GroupPredictor amd("onnxruntime", "AMD EPYC", true), intel("onnxruntime", "Intel(R) Xeon(R) Processor", true);
  GroupPredictor neither("onnxruntime", "Neoverse-N1", true);
  EXPECT_EQ(neither.devices(), amd.devices() + " and " + intel.devices());
  const Graph graph = zoo::make("squeezenet1_1");
  const auto group = members(graph, heads(graph).at(0));
  EXPECT_NE(amd.us(graph, group), intel.us(graph, group));
  EXPECT_NEAR(neither.us(graph, group), std::sqrt(amd.us(graph, group) * intel.us(graph, group)), 1e-9);
}

class CalibratedPrices : public testing::Test {
 protected:
  // A file in which every price is twice the formula's.
  void write(const std::string& device, const std::string& trees = "tree =0.6931471805599453\n") {
    atomic_write(file(), "model measured:mine-1.0\ndevice " + device + "\nthreads 2\nbase AMD EPYC\n" + trees);
  }
  std::filesystem::path file() const { return calibrated_file(folder_.path().string(), origin_); }
  GroupPredictor predictor(bool learned = true) const { return {"mine", origin_.device, learned, {file(), origin_}}; }

  TemporaryFolder folder_{"calibrated"};
  cost::TableOrigin origin_{"measured:mine-1.0", "Neoverse-N1", 2};
};

TEST_F(CalibratedPrices, AreTakenWhereTheyAreOfThisOrigin) {
  EXPECT_FALSE(predictor().is_learned());
  write("Neoverse-N1");
  auto learned = predictor(), formula = predictor(false);
  EXPECT_EQ(learned.devices(), "Neoverse-N1, calibrated here on top of AMD EPYC");
  const Graph graph = zoo::make("toy_conv");
  const auto group = members(graph, heads(graph).at(0));
  EXPECT_DOUBLE_EQ(learned.us(graph, group), 2 * formula.us(graph, group));
  for (const auto& [model, device, threads] :
       {std::tuple("measured:mine-1.1", "Neoverse-N1", 2), std::tuple("measured:mine-1.0", "Neoverse-N2", 2),
        std::tuple("measured:mine-1.0", "Neoverse-N1", 1)}) {
    const cost::TableOrigin other{model, device, threads};
    EXPECT_NE(calibrated_file(folder_.path().string(), other), file()) << "of its own";
  }
}

TEST_F(CalibratedPrices, OfAnotherOriginOrDamagedAreRefusedWithARemedy) {
  const auto reason = [&]() -> std::string {
    try {
      predictor();
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  write("Neoverse-N2");
  EXPECT_THAT(reason(), HasSubstr("device 'Neoverse-N2', 2 threads, not for model 'measured:mine-1.0', device "
                                  "'Neoverse-N1', 2 threads; remove it, or run rlgo calibrate again"));
  write("Neoverse-N1", "tree 0 1");
  EXPECT_THAT(reason(), HasSubstr(".trees:5: "));
  EXPECT_THAT(reason(), HasSubstr("; remove it, or run rlgo calibrate again"));
  EXPECT_NO_THROW(predictor(false));
}

// ONNX Runtime runs a relu behind a convolution at no cost, which no formula of single operators knows.
TEST(PredictedCost, ShippedTreesKnowWhatTheRuntimeFuses) {
  const auto price = [&](const std::string& device, Op behind) {
    graph::Editor editor("conv");
    const auto x = editor.add_input("x", {ops::DType::f32, {1, 64, 56, 56}});
    const auto w = editor.add_weight("w", graph::Blob::seeded({ops::DType::f32, {64, 64, 3, 3}}, 1, 0.1));
    auto y = editor.op(Op::conv2d, {x, w}, {{ops::Attr::pads, ops::Ints{1, 1, 1, 1}}});
    if (behind == Op::relu) y = editor.op(Op::relu, {y});
    if (behind == Op::prelu) {
      const auto slope = graph::Blob::seeded({ops::DType::f32, {64, 1, 1}}, 1, 0.1);
      y = editor.op(Op::prelu, {y, editor.add_weight("a", slope)});
    }
    editor.add_output("y", y);
    PredictedCost cost(GroupPredictor("onnxruntime", device, true));
    return cost::graph_cost(cost, *editor.finish()).runtime_us;
  };
  for (const std::string device : {"AMD EPYC", "Intel(R) Xeon(R) Processor", "unknown"}) {
    EXPECT_LT(price(device, Op::relu), 1.1 * price(device, Op::conv2d)) << device;
    EXPECT_GT(price(device, Op::prelu), 1.15 * price(device, Op::conv2d)) << device << "; results/optimise.md";
  }
}

TEST(PredictedCost, DeltasAreExact) {
  PredictedCost cost(GroupPredictor("onnxruntime", "AMD EPYC", true));
  const Graph graph = zoo::make("bert");
  const double whole = cost::graph_cost(cost, graph).runtime_us;
  double sum = 0;
  for (const NodeId id : graph.order()) sum += cost.op_us(graph, id);
  EXPECT_EQ(whole, sum);
  EXPECT_GT(whole, 0);
}

}  // namespace
}  // namespace rlgo::measure
