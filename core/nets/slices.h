// Graphs picked out of a batch where it lies: minibatches of what was joined, and moved to a device, once.
#pragma once

#include <torch/types.h>

#include <array>
#include <span>
#include <vector>

#include "core/nets/batch.h"

namespace rlgo::nets {

class BatchSlices {
 public:
  // `all`: without distinct rows; its observations are all dreamed, or none is.
  explicit BatchSlices(GraphBatch all);
  // The graphs `chosen` of it, in this order: the very batch that collate() makes of their observations. `index` is
  // `chosen` on the batch's device, [M] int64. Nothing is copied to or from the host.
  GraphBatch take(std::span<const int64_t> chosen, const torch::Tensor& index) const;

 private:
  enum Kind { nodes, edges, locations, pairs, rest, kKinds };
  struct Rows;
  Rows rows(Kind kind, std::span<const int64_t> chosen, const torch::Tensor& table) const;
  void set_sizes(GraphBatch& batch, std::span<const int64_t> chosen) const;

  GraphBatch all_;
  std::array<std::vector<int64_t>, kKinds> offset_;  // [B+1] first row of each graph
  torch::Tensor table_;                              // [2 * kKinds, B] the same, then how many rows each graph has
};

}  // namespace rlgo::nets
