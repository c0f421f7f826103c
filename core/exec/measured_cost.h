// Operators' measured times as the rows of a cost table.
#pragma once

#include "core/cost/table.h"
#include "core/exec/measure.h"

namespace rlgo::exec {

// Measures what a TableCost does not have yet. Holds no state: the table keeps the answers.
cost::TableCost::OnMiss measure_on_miss(Device device, MeasureOptions options = {});
// What such a table's numbers hold for on this machine.
cost::TableOrigin measured_origin(const Device& device, const MeasureOptions& options = {});

}  // namespace rlgo::exec
