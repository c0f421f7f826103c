// Equal rows of a local encoder, found once. Without the global latent, a node's or edge's latent after round r depends
// on its surroundings of r hops alone: two rows with the same features and the same neighbours' rows are one row, in
// one graph or in many. Here rows get numbers, so that a network computes each once: a learner those of a minibatch
// (core/nets/batch.h), who acts those that it has not seen (row_values.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/mdp/mdp.h"

namespace rlgo::agent {

// Numbers sequences of integers in the order in which they first come; equal ones have one number (compared in full,
// not by hash alone).
class SequenceTable {
 public:
  int32_t number(std::span<const int32_t> sequence);  // of this sequence, a new one where it comes first
  int32_t size() const { return static_cast<int32_t>(hashes_.size()); }
  std::span<const int32_t> operator[](int32_t number) const {
    const auto i = static_cast<size_t>(number);
    return {items_.data() + begin_[i], begin_[i + 1] - begin_[i]};
  }

 private:
  void grow();

  std::vector<int32_t> items_;       // all sequences, one after the other
  std::vector<size_t> begin_ = {0};  // [size + 1] of each in items_
  std::vector<uint64_t> hashes_;     // [size]
  std::vector<int32_t> slots_;       // open addressing, a power of two; -1: free
};

// What a node's row of a round is made of: its row of the round before, and the edges' rows of this round that it gets
// (reads from, sends to), each sorted by number.
struct NodeRecipe {
  int32_t before;
  std::span<const int32_t> in, out;  // out: empty unless messages go both ways
};
// What an edge's row of a round is made of: rows of the round before.
struct EdgeRecipe {
  int32_t before, src, dst;
};

// The rows of one observation after the last round.
struct RowIds {
  std::vector<int32_t> nodes;  // [N]
  std::vector<int32_t> edges;  // [E]
};

class RowTable {  // distinct rows of each round, shared by all observations
 public:
  // For observations of `spec` under a local encoder with so many rounds, whose nodes also get the edges that they
  // send where `both_directions`.
  RowTable(const mdp::ObservationSpec& spec, int rounds, bool both_directions);

  // Numbers the rows of an observation, which fits the spec (mdp::check) and has nodes (is not dreamed).
  RowIds add(const mdp::Observation& observation);

  // The same for a single row. `features`: the spec's, of which a node's row leaves out what is not local. round >= 1.
  int32_t number_node_features(int32_t op, const float* features);
  int32_t number_edge_features(const float* features);
  int32_t number_edge(int round, EdgeRecipe recipe);
  // in, out: in any order; `out` is not looked at unless messages go both ways.
  int32_t number_node(int round, NodeRecipe recipe);

  int rounds() const { return static_cast<int>(nodes_.size()) - 1; }
  // Number of rows after round r; 0: of features.
  int32_t nodes(int round) const { return nodes_[static_cast<size_t>(round)].size(); }
  int32_t edges(int round) const { return edges_[static_cast<size_t>(round)].size(); }
  NodeRecipe node(int round, int32_t id) const;                   // round >= 1
  EdgeRecipe edge(int round, int32_t id) const;                   // round >= 1
  int32_t node_op(int32_t id) const { return nodes_[0][id][0]; }  // of round 0
  // Copies the features of a row of round 0; those of a node without the columns that are not local.
  void node_features(int32_t id, float* to) const { copy(nodes_[0][id].subspan(1), to); }
  void edge_features(int32_t id, float* to) const { copy(edges_[0][id], to); }
  int64_t edge_columns() const { return static_cast<int64_t>(edge_features_); }
  // Columns of the spec's node features that rows keep, in order.
  const std::vector<int64_t>& columns() const { return columns_; }

 private:
  // Edges of each node, by counting: edge_[begin_[i]] ... of node i.
  struct Lists {
    std::vector<int32_t> begin, edge;
    void fill(const std::vector<int32_t>& node_of_edge, size_t nodes);
  };
  static void copy(std::span<const int32_t> bits, float* to);
  int32_t number_key(int round);  // of key_, whose lists are sorted here
  void number_round(const mdp::Observation& o, size_t round, RowIds& ids);
  void append(const Lists& lists, size_t node, const std::vector<int32_t>& edges);

  size_t node_features_, edge_features_;
  bool both_directions_;
  std::vector<int64_t> columns_;
  std::vector<SequenceTable> nodes_, edges_;  // [rounds + 1]
  Lists in_, out_;
  std::vector<int32_t> key_;
};

// The columns of a spec's node features that a local encoder reads, in order.
std::vector<int64_t> local_columns(const mdp::ObservationSpec& spec);

}  // namespace rlgo::agent
