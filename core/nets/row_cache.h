// A local encoder for who acts: rows that it has seen before are looked up, only the others are computed, by plain
// loops. After a rewrite these are the rows around it, in whatever graph it was made.
#pragma once

#include <span>
#include <vector>

#include "core/nets/agent.h"
#include "core/nets/batch.h"
#include "core/nets/local_rows.h"

namespace rlgo::nets {

// [in, out] weights of a linear map and its bias [out], or none.
struct Linear {
  int64_t in = 0, out = 0;
  std::vector<float> weight, bias;
};

class RowCache {
 public:
  // For `agent`, whose encoder is local (AgentImpl::local_encoder), of float32 on the CPU. Reads its weights.
  explicit RowCache(const AgentImpl& agent);

  // Reads the weights again and forgets all rows.
  void load(const AgentImpl& agent);
  // What nets::collate makes of the observations, with the encoder's result in GraphBatch::encoded in place of what it
  // reads. Each graph's result depends on its observation alone, up to rounding. Not differentiable.
  GraphBatch collate(std::span<const mdp::Observation* const> observations);

  // Rows computed since the beginning, all rounds together.
  int64_t computed() const { return computed_; }

 private:
  struct Norm {
    std::vector<float> scale, shift;
  };
  struct BlockWeights {
    Linear edge_in, edge_out, node_in, node_out, global_in, global_out, node_parts, global_parts;
    Norm edge_norm, node_norm, global_norm;
  };
  // The latents after a round, and what the next one reads of them, by row.
  struct RoundValues {
    std::vector<float> nodes, node_parts;  // [*, width], [*, 3 * width]: as sender, as receiver, own
    std::vector<float> edges, edge_in;     // [*, width]
  };
  const BlockWeights& block(int round) const { return blocks_[options_.shared ? 0 : static_cast<size_t>(round - 1)]; }
  void forget();
  void compute_features();
  void compute_edges(int round);
  void compute_nodes(int round);
  void receive(std::span<const int32_t> edges, const std::vector<float>& values, float* to) const;
  // The last part of an update: values[first..] = norm(before + out(relu(hidden))).
  void finish(const std::vector<float>& before, std::vector<float>& hidden, const Linear& out, const Norm& norm,
              std::vector<float>& values);
  void pool(int round, const RowIds& ids, float* to) const;  // [2 * width]
  torch::Tensor globals(std::span<const mdp::Observation* const> observations, std::vector<RowIds> ids);

  mdp::ObservationSpec spec_;
  EncoderOptions options_;
  size_t width_;
  Linear node_feat_, edge_feat_, global_feat_;
  std::vector<float> op_table_;  // [ops, width]
  std::vector<BlockWeights> blocks_;
  RowTable table_;
  std::vector<RoundValues> values_;  // [rounds + 1]
  int64_t computed_ = 0;
};

}  // namespace rlgo::nets
