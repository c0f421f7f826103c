// What operators cost in a run: the cost model, with the table and the runtime behind it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/stopwatch.h"
#include "core/cost/cost.h"
#include "core/cost/runtime.h"
#include "core/cost/table.h"
#include "core/measure/group_cost.h"

namespace rlgo::optimise {

struct Prices {
  std::shared_ptr<cost::CostModel> model;
  std::shared_ptr<cost::TableCost> table;      // null where costs are a formula's
  std::shared_ptr<measure::GroupCost> groups;  // == model where a runtime other than LibTorch is priced, else null
  std::shared_ptr<cost::Runtime> runtime;      // that serves the model, and times its operators
};
// Costs as the runtime measures them. `table`: a file of such costs to start from; "": none.
Prices measured_prices(std::shared_ptr<cost::Runtime> runtime, const std::string& table);

// The same prices. Notes how long the table's owner spent on timing operators.
class MeteredCost : public cost::CostModel {
 public:
  explicit MeteredCost(Prices prices) : prices_(std::move(prices)) {}
  std::string name() const override { return prices_.model->name(); }
  bool is_local() const override { return prices_.model->is_local(); }
  std::vector<graph::NodeId> dependents(const graph::Graph& graph,
                                        std::span<const graph::NodeId> changed) const override {
    return prices_.model->dependents(graph, changed);
  }
  double op_us(const graph::Graph& graph, graph::NodeId id) override {
    if (!prices_.table) return prices_.model->op_us(graph, id);
    const Stopwatch watch;
    const size_t known = prices_.table->size();
    const double us = prices_.model->op_us(graph, id);
    if (prices_.table->size() > known) measuring_s_ += watch.seconds();
    return us;
  }
  bool defer() override { return prices_.model->defer(); }
  size_t deferred() const override { return prices_.model->deferred(); }
  void forget_deferred() override { prices_.model->forget_deferred(); }
  bool flush() override {
    const Stopwatch watch;
    const bool flushed = prices_.model->flush();
    measuring_s_ += watch.seconds();
    return flushed;
  }
  double measuring_s() const { return measuring_s_; }
  const Prices& prices() const { return prices_; }

 private:
  Prices prices_;
  double measuring_s_ = 0;
};

}  // namespace rlgo::optimise
