// Observations as tensors: several graphs joined into one graph without edges between them.
#pragma once

#include <torch/types.h>

#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "core/agent/local_rows.h"
#include "core/mdp/mdp.h"
#include "core/nets/graph_ops.h"

namespace rlgo::nets {

using agent::RowIds;
using agent::RowTable;

// What the distinct rows of a round are made of: rows of the round before, and of this one. All int64.
struct RoundRows {
  int64_t nodes = 0, edges = 0;                   // U, V distinct rows of this round
  torch::Tensor edge_before, edge_src, edge_dst;  // [V] rows of the round before: the edge's, its two nodes'
  torch::Tensor node_before;                      // [U] row of the round before
  torch::Tensor in_edge, in_node;                 // [*] an edge row of this round, and a node row that gets it
  torch::Tensor out_edge, out_node;               // [*] likewise for edges that a node sends
  torch::Tensor last_node, last_edge;  // [rows of the last round] their rows of this round; undefined: themselves
};

// The graphs of a batch with each distinct row once (local_rows.h).
struct DistinctRows {
  torch::Tensor node_op, node_feat, edge_feat;  // of the rows before the first round, local columns only
  std::vector<RoundRows> rounds;
  SparseCounts node_counts, edge_counts;           // rows of the last round in each graph
  torch::Tensor nodes_per_graph, edges_per_graph;  // [B, 1] float32
};

// What an encoder makes of a batch.
struct Encoding {
  torch::Tensor nodes;   // [N, width] N, E: of the batch
  torch::Tensor edges;   // [E, width]
  torch::Tensor global;  // [B, width] the latent z of the graph
};

// B graphs with N nodes, E edges, L legal locations in all. A "pair" is a (graph, rule) with at least one location; P
// pairs, ordered by graph, then rule; locations are grouped by pair. Integers are int64, numbers float32.
struct GraphBatch {
  int64_t graphs = 0, nodes = 0, edges = 0, locations = 0, pairs = 0;
  int64_t rules = 0, max_locations = 0;

  // Where it is there, nodes and edges come as its rows alone: N and E count the rows of the last round, loc_node names
  // them, and node_op ... edge_graph are undefined.
  std::shared_ptr<DistinctRows> distinct;

  torch::Tensor node_op;     // [N]
  torch::Tensor node_feat;   // [N, node_features]
  torch::Tensor node_graph;  // [N] graph of each node
  torch::Tensor edge_src;    // [E] index into the joined nodes
  torch::Tensor edge_dst;    // [E]
  torch::Tensor edge_feat;   // [E, edge_features]
  torch::Tensor edge_graph;  // [E]
  torch::Tensor globals;     // [B, global_features]
  torch::Tensor counts;      // [B, X] legal locations per rule
  torch::Tensor latent;      // [B, latent_features]; 0 where an observation has none
  torch::Tensor loc_latent;  // [L, location_latents]; 0 where an observation has none

  torch::Tensor loc_node;    // [L] index into the joined nodes; [0] where an observation is dreamed
  torch::Tensor loc_graph;   // [L]
  torch::Tensor loc_rule;    // [L]
  torch::Tensor loc_index;   // [L] the action's `location`
  torch::Tensor loc_pair;    // [L] sorted
  torch::Tensor loc_first;   // [B] first location of each graph
  torch::Tensor pair_graph;  // [P]
  torch::Tensor pair_rule;   // [P]
  torch::Tensor pair_first;  // [P] its first location
  // None where an observation is dreamed.
  torch::Tensor loc_feat;       // [L, location_features]
  torch::Tensor rest_node;      // [R] other matched nodes of the locations, as loc_node
  torch::Tensor rest_loc;       // [R] their locations, sorted
  torch::Tensor rest_fraction;  // [L] 1 / number of other matched nodes; 1 where there are none

  // Host copies, for what cannot be a tensor operation.
  std::vector<int64_t> node_offset;  // [B+1] first node of each graph
  std::vector<int64_t> edge_offset;  // [B+1]
  std::vector<int64_t> rest_offset;  // [B+1] first other matched node
  std::vector<int64_t> loc_offset;   // [B*X+1] first location of graph b, rule x at b*X+x

  // Numbers as `type` in place of float32: for networks of double precision.
  void convert(torch::ScalarType type);
};

// Joins observations and moves them to `device`. Checks each against the spec (throws Error, see mdp::check); throws on
// an empty list, and on a device that this machine lacks.
GraphBatch collate(std::span<const mdp::Observation* const> observations, const mdp::ObservationSpec& spec,
                   torch::Device device = torch::kCPU);
GraphBatch collate(const mdp::Observation& observation, const mdp::ObservationSpec& spec,
                   torch::Device device = torch::kCPU);
// The same with distinct rows: rows[i] is what `table` made of observations[i], which was checked then and is not
// again.
GraphBatch collate(std::span<const mdp::Observation* const> observations, const mdp::ObservationSpec& spec,
                   const RowTable& table, std::span<const RowIds* const> rows, torch::Device device = torch::kCPU);

// Several batches that cross to `device` together, in two transfers whatever their number. Each is as collate() makes
// it; on a device they share memory, which is free once all of them are.
class Collator {
 public:
  Collator(const mdp::ObservationSpec& spec, torch::Device device);
  ~Collator();
  // One batch more. Observations, table and rows stay where they are until finish().
  void add(std::span<const mdp::Observation* const> observations);
  void add(std::span<const mdp::Observation* const> observations, const RowTable& table,
           std::span<const RowIds* const> rows);
  // Of those that were added and are not finished.
  int64_t bytes() const;
  // All that were added, in order; then there are none.
  std::deque<GraphBatch> finish();

 private:
  struct Pending;
  struct Parts;
  Pending& begin(std::span<const mdp::Observation* const> observations, bool checked);

  const mdp::ObservationSpec& spec_;
  torch::Device device_;
  std::unique_ptr<Parts> parts_;
};

}  // namespace rlgo::nets
