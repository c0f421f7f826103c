// The distinct rows of a batch as tensors. Internal to core/nets.
#pragma once

#include <span>
#include <vector>

#include "core/nets/batch.h"

namespace rlgo::nets {

struct Distinct {
  DistinctRows rows;
  std::vector<int64_t> node_row;  // [all nodes of all graphs, one graph after the other] row of the last round
};
// rows[i]: of graph i, numbered by `table`. Everything but the counts of rows lies on `device`.
Distinct find_distinct(const RowTable& table, std::span<const RowIds* const> rows, torch::Device device);

}  // namespace rlgo::nets
