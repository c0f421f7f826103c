#include "core/agent/row_values.h"

#include <algorithm>

#include "core/agent/kernels.h"

namespace rlgo::agent {
namespace {

// Rows are forgotten beyond this: what is still needed is soon computed again.
constexpr size_t kMostFloats = size_t{64} << 18;  // 64 MiB

}  // namespace

void append(std::vector<float>& to, const float* x, size_t rows, const Linear& map) {
  const size_t first = to.size();
  to.resize(first + rows * static_cast<size_t>(map.out));
  kernels::linear(to.data() + first, x, map.weight.data(), map.bias.empty() ? nullptr : map.bias.data(),
                  static_cast<int64_t>(rows), map.in, map.out);
}

void update(const std::vector<float>& before, std::vector<float>& hidden, const Linear& out, const Norm& norm,
            std::vector<float>& values) {
  for (float& h : hidden) h = h < 0 ? 0 : h;
  const auto width = norm.scale.size();
  const size_t first = values.size(), rows = before.size() / width;
  append(values, hidden.data(), rows, out);
  kernels::add(values.data() + first, before.data(), static_cast<int64_t>(before.size()));
  kernels::layer_norm(values.data() + first, norm.scale.data(), norm.shift.data(), static_cast<int64_t>(rows),
                      static_cast<int64_t>(width));
}

RowValues::RowValues(std::shared_ptr<const Network> network)
    : network_(std::move(network)),
      width_(static_cast<size_t>(network_->shape.width)),
      heads_width_(static_cast<size_t>(network_->node_heads.out)),
      table_(network_->spec, network_->shape.rounds, network_->shape.both_directions),
      values_(static_cast<size_t>(network_->shape.rounds) + 1) {}

bool RowValues::forget_if_full() {
  size_t held = heads_.size();
  for (const auto& v : values_) held += v.nodes.size() + v.node_parts.size() + v.edges.size() + v.edge_in.size();
  if (held <= kMostFloats) return false;
  table_ = RowTable(network_->spec, network_->shape.rounds, network_->shape.both_directions);
  values_.assign(values_.size(), {});
  heads_.clear();
  ++generation_;
  return true;
}

void RowValues::compute() {
  compute_features();
  for (int round = 1; round <= network_->shape.rounds; ++round) {
    compute_edges(round);
    compute_nodes(round);
  }
  const auto& last = values_.back().nodes;
  const size_t first = heads_.size() / heads_width_;
  append(heads_, last.data() + first * width_, last.size() / width_ - first, network_->node_heads);
}

void RowValues::compute_features() {
  auto& now = values_[0];
  const size_t first_node = now.nodes.size() / width_, nodes = static_cast<size_t>(table_.nodes(0)) - first_node;
  const size_t columns = table_.columns().size();
  std::vector<float> x(nodes * columns);
  for (size_t i = 0; i < nodes; ++i) table_.node_features(static_cast<int32_t>(first_node + i), x.data() + i * columns);
  append(now.nodes, x.data(), nodes, network_->node_feat);
  for (size_t i = first_node; i < first_node + nodes; ++i) {
    kernels::add(now.nodes.data() + i * width_, at(network_->op_table, table_.node_op(static_cast<int32_t>(i))),
                 static_cast<int64_t>(width_));
  }
  const size_t first_edge = now.edges.size() / width_, edges = static_cast<size_t>(table_.edges(0)) - first_edge;
  const auto edge_columns = static_cast<size_t>(table_.edge_columns());
  x.resize(edges * edge_columns);
  for (size_t i = 0; i < edges; ++i)
    table_.edge_features(static_cast<int32_t>(first_edge + i), x.data() + i * edge_columns);
  append(now.edges, x.data(), edges, network_->edge_feat);
  append(now.node_parts, now.nodes.data() + first_node * width_, nodes, network_->block(1).node_parts);
  append(now.edge_in, now.edges.data() + first_edge * width_, edges, network_->block(1).edge_in);
  computed_ += static_cast<int64_t>(nodes + edges);
}

void RowValues::compute_edges(int round) {
  auto& now = values_[static_cast<size_t>(round)];
  const auto& last = values_[static_cast<size_t>(round) - 1];
  const auto& block = network_->block(round);
  const size_t first = now.edges.size() / width_, rows = static_cast<size_t>(table_.edges(round)) - first;
  const auto width = static_cast<int64_t>(width_);
  std::vector<float> before(rows * width_), hidden(rows * width_);
  for (size_t i = 0; i < rows; ++i) {
    const auto recipe = table_.edge(round, static_cast<int32_t>(first + i));
    float* h = hidden.data() + i * width_;
    std::copy_n(at(last.edges, recipe.before), width_, before.data() + i * width_);
    std::copy_n(at(last.edge_in, recipe.before), width_, h);
    kernels::add(h, at(last.node_parts, 3 * recipe.src), width);
    kernels::add(h, at(last.node_parts, 3 * recipe.dst + 1), width);
  }
  update(before, hidden, block.edge_out, block.edge_norm, now.edges);
  if (round < network_->shape.rounds)
    append(now.edge_in, now.edges.data() + first * width_, rows, network_->block(round + 1).edge_in);
  computed_ += static_cast<int64_t>(rows);
}

void RowValues::receive(std::span<const int32_t> edges, const std::vector<float>& values, float* to) const {
  for (const int32_t e : edges) kernels::add(to, at(values, e), static_cast<int64_t>(width_));
  if (!network_->shape.mean_aggregation || edges.size() < 2) return;
  for (size_t c = 0; c < width_; ++c) to[c] /= static_cast<float>(edges.size());
}

void RowValues::compute_nodes(int round) {
  auto& now = values_[static_cast<size_t>(round)];
  const auto& last = values_[static_cast<size_t>(round) - 1];
  const auto& block = network_->block(round);
  const size_t first = now.nodes.size() / width_, rows = static_cast<size_t>(table_.nodes(round)) - first;
  const auto received_width = static_cast<size_t>(block.node_in.in);
  std::vector<float> before(rows * width_), received(rows * received_width), hidden;
  for (size_t i = 0; i < rows; ++i) {
    const auto recipe = table_.node(round, static_cast<int32_t>(first + i));
    std::copy_n(at(last.nodes, recipe.before), width_, before.data() + i * width_);
    receive(recipe.in, now.edges, received.data() + i * received_width);
    if (network_->shape.both_directions) receive(recipe.out, now.edges, received.data() + i * received_width + width_);
  }
  append(hidden, received.data(), rows, block.node_in);
  for (size_t i = 0; i < rows; ++i) {
    const auto recipe = table_.node(round, static_cast<int32_t>(first + i));
    kernels::add(hidden.data() + i * width_, at(last.node_parts, 3 * recipe.before + 2), static_cast<int64_t>(width_));
  }
  update(before, hidden, block.node_out, block.node_norm, now.nodes);
  if (round < network_->shape.rounds)
    append(now.node_parts, now.nodes.data() + first * width_, rows, network_->block(round + 1).node_parts);
  computed_ += static_cast<int64_t>(rows);
}

}  // namespace rlgo::agent
