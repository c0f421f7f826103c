// The cost model that measures, alone or behind a table.
#pragma once

#include <unordered_map>

#include "core/cost/cost.h"
#include "core/cost/table.h"
#include "core/exec/measure.h"

namespace rlgo::exec {

// Measures every operator once, when it is first asked for, and keeps the answer: one value per operator for the life
// of the object. Not thread-safe.
class MeasuredCost : public cost::CostModel {
 public:
  explicit MeasuredCost(Device device, MeasureOptions options = {}) : device_(device), options_(options) {}
  std::string name() const override;  // "measured:cpu", "measured:cuda"
  double op_us(const graph::Graph& graph, graph::NodeId id) override { return measurement(graph, id).median_us; }
  // With the spread; zero for what is free (cost::is_free).
  const Measurement& measurement(const graph::Graph& graph, graph::NodeId id);
  size_t measured() const { return known_.size(); }

 private:
  Device device_;
  MeasureOptions options_;
  std::unordered_map<uint64_t, Measurement> known_;  // by signature hash
};

// Measures what a TableCost does not have yet. Holds no state: the table keeps the answers.
cost::TableCost::OnMiss measure_on_miss(Device device, MeasureOptions options = {});
// What such a table's numbers hold for on this machine.
cost::TableOrigin measured_origin(const Device& device, const MeasureOptions& options = {});

}  // namespace rlgo::exec
