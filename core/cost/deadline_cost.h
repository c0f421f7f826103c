// Measured costs while there is time to measure; estimates after that.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/cost/analytic.h"
#include "core/cost/table.h"

namespace rlgo::cost {

// An operator that the table does not have is measured where may_measure() answers true, else it costs its analytic
// cost times the median ratio of measured and analytic costs so far. An answer holds for the life of the object;
// estimates are not kept in the table.
class DeadlineCost : public CostModel {
 public:
  // `estimates`: constants of the analytic costs.
  explicit DeadlineCost(std::shared_ptr<TableCost> table, const AnalyticOptions& estimates = {})
      : table_(std::move(table)), analytic_(estimates) {}
  // Asked before each measurement; none: it may always measure.
  void set_may_measure(std::function<bool()> may_measure) { may_measure_ = std::move(may_measure); }
  std::string name() const override { return table_->name(); }
  double op_us(const graph::Graph& graph, graph::NodeId id) override;
  size_t estimated() const { return estimated_; }

 private:
  double measured_or_estimated_us(const graph::Graph& graph, graph::NodeId id);
  double measured_us(const graph::Graph& graph, graph::NodeId id);
  double estimate_us(const graph::Graph& graph, graph::NodeId id);

  std::shared_ptr<TableCost> table_;
  std::function<bool()> may_measure_;
  AnalyticCost analytic_;
  std::unordered_map<uint64_t, double> us_by_hash_;
  std::vector<double> ratios_;
  size_t estimated_ = 0;
};

}  // namespace rlgo::cost
