// The latents of a local encoder's rows (local_rows.h), by plain loops: rows that were seen before are looked up, only
// the others are computed. After a rewrite these are the rows around it, in whatever graph it was made.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/agent/local_rows.h"
#include "core/agent/network.h"

namespace rlgo::agent {

class RowValues {
 public:
  explicit RowValues(std::shared_ptr<const Network> network);

  const Network& network() const { return *network_; }
  // Where rows get their numbers. Those of all rounds are to be given before compute().
  RowTable& table() { return table_; }
  const RowTable& table() const { return table_; }
  // Computes the rows that were numbered since the last call.
  void compute();
  // Forgets all rows where they take too much memory: numbers that were given before mean nothing then, and true comes
  // back.
  bool forget_if_full();
  // Times that all rows were forgotten.
  int64_t generation() const { return generation_; }

  // Latents after a round, [width].
  const float* node(int round, int32_t row) const { return at(values_[static_cast<size_t>(round)].nodes, row); }
  const float* edge(int round, int32_t row) const { return at(values_[static_cast<size_t>(round)].edges, row); }
  // What heads read of a node's row of the last round: Network::node_heads.
  const float* heads(int32_t row) const { return heads_.data() + static_cast<size_t>(row) * heads_width_; }
  // Rows computed since the beginning, all rounds together.
  int64_t computed() const { return computed_; }

 private:
  // The latents after a round, and what the next one reads of them, by row.
  struct Round {
    std::vector<float> nodes, node_parts;  // [*, width], [*, 3 * width]: as sender, as receiver, own
    std::vector<float> edges, edge_in;     // [*, width]
  };
  const float* at(const std::vector<float>& values, int32_t row) const {
    return values.data() + static_cast<size_t>(row) * width_;
  }
  void compute_features();
  void compute_edges(int round);
  void compute_nodes(int round);
  void receive(std::span<const int32_t> edges, const std::vector<float>& values, float* to) const;

  std::shared_ptr<const Network> network_;
  size_t width_, heads_width_;
  RowTable table_;
  std::vector<Round> values_;  // [rounds + 1]
  std::vector<float> heads_;   // [rows of the last round, heads_width_]
  int64_t computed_ = 0, generation_ = 0;
};

// Rows x [rows, in] through a map, behind what `to` has: [rows, out].
void append(std::vector<float>& to, const float* x, size_t rows, const Linear& map);
// The last part of an update: values[end..] = norm(before + out(relu(hidden))), of rows of `before`. Changes `hidden`.
void update(const std::vector<float>& before, std::vector<float>& hidden, const Linear& out, const Norm& norm,
            std::vector<float>& values);

}  // namespace rlgo::agent
