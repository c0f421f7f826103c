#include "core/cost/deadline_cost.h"

#include <gtest/gtest.h>

#include "core/base/deadline.h"
#include "core/zoo/zoo.h"

namespace rlgo::cost {
namespace {

TEST(DeadlineCost, MeasuresWhileItMayAndEstimatesAfterwards) {
  const graph::Graph graph = zoo::make("toy_conv");
  int measured = 0;
  AnalyticCost formula;
  const auto table = std::make_shared<TableCost>(TableOrigin{"measured:paper", "paper", 1},
                                                 [&](const graph::Graph& g, graph::NodeId id) {
                                                   ++measured;
                                                   return Measured{3 * formula.op_us(g, id), 0, 1};
                                                 });
  bool may = false;
  DeadlineCost none(table);
  none.set_may_measure([&] { return may; });
  const double by_formula = graph_cost(formula, graph).runtime_us;
  EXPECT_DOUBLE_EQ(graph_cost(none, graph).runtime_us, by_formula);
  EXPECT_EQ(measured, 0);
  EXPECT_EQ(table->size(), 0u);

  DeadlineCost one(table);
  one.set_may_measure([&] { return measured == 0; });
  EXPECT_NEAR(graph_cost(one, graph).runtime_us, 3 * by_formula, 1e-9 * by_formula);
  EXPECT_EQ(measured, 1);
  EXPECT_EQ(table->size(), 1u);  // estimates are not kept
  may = true;
  EXPECT_DOUBLE_EQ(graph_cost(none, graph).runtime_us, by_formula);  // an answer holds
  EXPECT_EQ(measured, 1);
}

TEST(DeadlineCost, EstimatesWhatIsCutShort) {
  const graph::Graph graph = zoo::make("toy_conv");
  AnalyticCost formula;
  const auto table =
      std::make_shared<TableCost>(TableOrigin{"measured:paper", "paper", 1},
                                  [](const graph::Graph&, graph::NodeId) -> Measured { throw Stopped("no time"); });
  DeadlineCost cost(table);
  EXPECT_DOUBLE_EQ(graph_cost(cost, graph).runtime_us, graph_cost(formula, graph).runtime_us);
  EXPECT_EQ(table->size(), 0u);
}

}  // namespace
}  // namespace rlgo::cost
