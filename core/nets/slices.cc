#include "core/nets/slices.h"

#include "core/base/error.h"
#include "core/nets/transfer.h"

namespace rlgo::nets {

using torch::Tensor;

// Some graphs' rows of one kind.
struct BatchSlices::Rows {
  int64_t count = 0;
  Tensor from;   // [count] the row in the whole batch
  Tensor graph;  // [count] which of the graphs
  Tensor moved;  // [graphs] how far each graph's rows move
  // Numbers of rows of another kind, which move with their graph.
  Tensor renumbered(const Tensor& all, const Rows& other) const {
    return all.index_select(0, from) + other.moved.index_select(0, graph);
  }
};

BatchSlices::BatchSlices(GraphBatch all) : all_(std::move(all)) {
  RLGO_CHECK(!all_.distinct);
  offset_[nodes] = all_.node_offset;
  offset_[edges] = all_.edge_offset;
  offset_[rest] = all_.rest_offset;
  offset_[locations] = offset_[pairs] = {0};
  int64_t seen = 0;
  for (int64_t g = 0; g < all_.graphs; ++g) {
    for (int64_t x = g * all_.rules; x < (g + 1) * all_.rules; ++x)
      seen += all_.loc_offset[static_cast<size_t>(x) + 1] > all_.loc_offset[static_cast<size_t>(x)];
    offset_[pairs].push_back(seen);
    offset_[locations].push_back(all_.loc_offset[static_cast<size_t>((g + 1) * all_.rules)]);
  }
  std::vector<int64_t> table;
  for (const auto& offset : offset_) table.insert(table.end(), offset.begin(), offset.end() - 1);
  for (const auto& offset : offset_) {
    for (size_t g = 0; g + 1 < offset.size(); ++g) table.push_back(offset[g + 1] - offset[g]);
  }
  table_ = to_device(torch::tensor(table, torch::kInt64), all_.counts.device()).view({2 * kKinds, all_.graphs});
}

BatchSlices::Rows BatchSlices::rows(Kind kind, std::span<const int64_t> chosen, const Tensor& table) const {
  Rows result;
  for (const int64_t g : chosen) {
    const auto at = static_cast<size_t>(g);
    result.count += offset_[kind].at(at + 1) - offset_[kind][at];
  }
  const auto begin = table[kind], count = table[kKinds + kind];
  result.moved = count.cumsum(0) - count - begin;
  // The size is given, so that the device need not be asked for it.
  result.graph = torch::repeat_interleave(torch::arange(table.size(1), table.options()), count, 0, result.count);
  result.from = torch::arange(result.count, table.options()) - result.moved.index_select(0, result.graph);
  return result;
}

// What collate() leaves on the host.
void BatchSlices::set_sizes(GraphBatch& batch, std::span<const int64_t> chosen) const {
  batch.graphs = std::ssize(chosen);
  batch.rules = all_.rules;
  batch.max_locations = all_.max_locations;
  batch.node_offset = batch.edge_offset = batch.loc_offset = batch.rest_offset = {0};
  for (const int64_t g : chosen) {
    const auto append = [&](std::vector<int64_t>& to, const std::vector<int64_t>& all, int64_t begin, int64_t end) {
      const int64_t moved = to.back() - all[static_cast<size_t>(begin)];
      for (int64_t i = begin + 1; i <= end; ++i) to.push_back(all[static_cast<size_t>(i)] + moved);
    };
    append(batch.node_offset, all_.node_offset, g, g + 1);
    append(batch.edge_offset, all_.edge_offset, g, g + 1);
    append(batch.rest_offset, all_.rest_offset, g, g + 1);
    append(batch.loc_offset, all_.loc_offset, g * all_.rules, (g + 1) * all_.rules);
  }
}

GraphBatch BatchSlices::take(std::span<const int64_t> chosen, const Tensor& index) const {
  const auto table = table_.index_select(1, index);
  const auto node = rows(nodes, chosen, table), edge = rows(edges, chosen, table),
             location = rows(locations, chosen, table), pair = rows(pairs, chosen, table),
             others = rows(rest, chosen, table);
  const auto pick = [](const Tensor& all, const Rows& of) { return all.index_select(0, of.from); };
  GraphBatch batch;
  set_sizes(batch, chosen);
  batch.nodes = node.count;
  batch.edges = edge.count;
  batch.locations = location.count;
  batch.pairs = pair.count;
  batch.node_op = pick(all_.node_op, node);
  batch.node_feat = pick(all_.node_feat, node);
  batch.node_graph = node.graph;
  batch.edge_src = edge.renumbered(all_.edge_src, node);
  batch.edge_dst = edge.renumbered(all_.edge_dst, node);
  batch.edge_feat = pick(all_.edge_feat, edge);
  batch.edge_graph = edge.graph;
  batch.globals = all_.globals.index_select(0, index);
  batch.counts = all_.counts.index_select(0, index);
  batch.latent = all_.latent.index_select(0, index);
  batch.loc_latent = pick(all_.loc_latent, location);
  batch.loc_graph = location.graph;
  batch.loc_rule = pick(all_.loc_rule, location);
  batch.loc_index = pick(all_.loc_index, location);
  batch.loc_pair = location.renumbered(all_.loc_pair, pair);
  batch.loc_first = all_.loc_first.index_select(0, index) + location.moved;
  batch.pair_graph = pair.graph;
  batch.pair_rule = pick(all_.pair_rule, pair);
  batch.pair_first = pair.renumbered(all_.pair_first, location);
  const bool dreamed = all_.loc_node.size(0) < all_.locations;
  batch.loc_node = dreamed ? all_.loc_node : location.renumbered(all_.loc_node, node);
  batch.loc_feat = dreamed ? all_.loc_feat : pick(all_.loc_feat, location);
  batch.rest_fraction = dreamed ? all_.rest_fraction : pick(all_.rest_fraction, location);
  batch.rest_node = others.renumbered(all_.rest_node, node);
  batch.rest_loc = others.renumbered(all_.rest_loc, location);
  return batch;
}

}  // namespace rlgo::nets
