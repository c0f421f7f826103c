#include "core/agent/local_rows.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/base/hash.h"

namespace rlgo::agent {
namespace {

uint64_t hash_of(std::span<const int32_t> sequence) {
  uint64_t h = sequence.size();
  size_t i = 0;
  for (; i + 1 < sequence.size(); i += 2) {
    uint64_t pair;
    std::memcpy(&pair, sequence.data() + i, sizeof pair);
    h = mix64(h ^ pair);
  }
  return i < sequence.size() ? mix64(h ^ static_cast<uint32_t>(sequence[i])) : h;
}

}  // namespace

int32_t SequenceTable::number(std::span<const int32_t> sequence) {
  if (2 * hashes_.size() >= slots_.size()) grow();
  const uint64_t h = hash_of(sequence);
  const size_t mask = slots_.size() - 1;
  size_t at = h & mask;
  for (; slots_[at] >= 0; at = (at + 1) & mask) {
    if (hashes_[static_cast<size_t>(slots_[at])] == h && std::ranges::equal((*this)[slots_[at]], sequence))
      return slots_[at];
  }
  slots_[at] = size();
  hashes_.push_back(h);
  items_.insert(items_.end(), sequence.begin(), sequence.end());
  begin_.push_back(items_.size());
  return slots_[at];
}

void SequenceTable::grow() {
  slots_.assign(std::max<size_t>(64, 4 * hashes_.size()), -1);
  const size_t rounded = std::bit_ceil(slots_.size());
  slots_.resize(rounded, -1);
  for (size_t i = 0; i < hashes_.size(); ++i) {
    size_t at = hashes_[i] & (rounded - 1);
    while (slots_[at] >= 0) at = (at + 1) & (rounded - 1);
    slots_[at] = static_cast<int32_t>(i);
  }
}

std::vector<int64_t> local_columns(const mdp::ObservationSpec& spec) {
  std::vector<int64_t> result;
  for (int32_t c = 0; c < spec.node_features; ++c) {
    if (std::ranges::find(spec.nonlocal_node_features, c) == spec.nonlocal_node_features.end()) result.push_back(c);
  }
  return result;
}

RowTable::RowTable(const mdp::ObservationSpec& spec, int rounds, bool both_directions)
    : node_features_(static_cast<size_t>(spec.node_features)),
      edge_features_(static_cast<size_t>(spec.edge_features)),
      both_directions_(both_directions),
      columns_(local_columns(spec)),
      nodes_(static_cast<size_t>(rounds) + 1),
      edges_(static_cast<size_t>(rounds) + 1) {}

void RowTable::copy(std::span<const int32_t> bits, float* to) {
  if (!bits.empty()) std::memcpy(to, bits.data(), bits.size_bytes());
}

NodeRecipe RowTable::node(int round, int32_t id) const {
  const auto key = nodes_[static_cast<size_t>(round)][id];
  const auto in = static_cast<size_t>(key[1]);
  return {key[0], key.subspan(2, in), key.subspan(2 + in)};
}

EdgeRecipe RowTable::edge(int round, int32_t id) const {
  const auto key = edges_[static_cast<size_t>(round)][id];
  return {key[0], key[1], key[2]};
}

void RowTable::Lists::fill(const std::vector<int32_t>& node_of_edge, size_t nodes) {
  begin.assign(nodes + 1, 0);
  for (const int32_t node : node_of_edge) ++begin[static_cast<size_t>(node) + 1];
  for (size_t i = 0; i < nodes; ++i) begin[i + 1] += begin[i];
  edge.resize(node_of_edge.size());
  for (size_t e = node_of_edge.size(); e-- > 0;)  // begin[n + 1] moves down to the first edge of n
    edge[static_cast<size_t>(--begin[static_cast<size_t>(node_of_edge[e]) + 1])] = static_cast<int32_t>(e);
  begin.erase(begin.begin());
  begin.push_back(static_cast<int32_t>(edge.size()));
}

void RowTable::append(const Lists& lists, size_t node, const std::vector<int32_t>& edges) {
  for (int32_t k = lists.begin[node]; k < lists.begin[node + 1]; ++k)
    key_.push_back(edges[static_cast<size_t>(lists.edge[static_cast<size_t>(k)])]);
}

int32_t RowTable::number_key(int round) {
  const auto in = key_.begin() + 2, out = in + key_[1];
  if (key_[1] > 1) std::sort(in, out);
  if (key_.end() - out > 1) std::sort(out, key_.end());
  return nodes_[static_cast<size_t>(round)].number(key_);
}

int32_t RowTable::number_node_features(int32_t op, const float* features) {
  key_.resize(1 + columns_.size());
  key_[0] = op;
  for (size_t c = 0; c < columns_.size(); ++c) key_[c + 1] = std::bit_cast<int32_t>(features[columns_[c]]);
  return nodes_[0].number(key_);
}

int32_t RowTable::number_edge_features(const float* features) {
  key_.resize(edge_features_);
  if (edge_features_ > 0) std::memcpy(key_.data(), features, edge_features_ * sizeof(float));
  return edges_[0].number(key_);
}

int32_t RowTable::number_edge(int round, EdgeRecipe recipe) {
  const int32_t key[] = {recipe.before, recipe.src, recipe.dst};
  return edges_[static_cast<size_t>(round)].number(key);
}

int32_t RowTable::number_node(int round, NodeRecipe recipe) {
  key_.assign({recipe.before, static_cast<int32_t>(recipe.in.size())});
  key_.insert(key_.end(), recipe.in.begin(), recipe.in.end());
  if (both_directions_) key_.insert(key_.end(), recipe.out.begin(), recipe.out.end());
  return number_key(round);
}

void RowTable::number_round(const mdp::Observation& o, size_t round, RowIds& ids) {
  const int r = static_cast<int>(round);
  for (size_t e = 0; e < ids.edges.size(); ++e) {
    ids.edges[e] = number_edge(r, {ids.edges[e], ids.nodes[static_cast<size_t>(o.edge_src[e])],
                                   ids.nodes[static_cast<size_t>(o.edge_dst[e])]});
  }
  for (size_t i = 0; i < ids.nodes.size(); ++i) {
    key_.assign({ids.nodes[i], in_.begin[i + 1] - in_.begin[i]});
    append(in_, i, ids.edges);
    if (both_directions_) append(out_, i, ids.edges);
    ids.nodes[i] = number_key(r);
  }
}

RowIds RowTable::add(const mdp::Observation& o) {
  RowIds ids{std::vector<int32_t>(o.node_op.size()), std::vector<int32_t>(o.edge_src.size())};
  in_.fill(o.edge_dst, ids.nodes.size());
  if (both_directions_) out_.fill(o.edge_src, ids.nodes.size());
  for (size_t i = 0; i < ids.nodes.size(); ++i)
    ids.nodes[i] = number_node_features(o.node_op[i], o.node_feat.data() + i * node_features_);
  for (size_t e = 0; e < ids.edges.size(); ++e)
    ids.edges[e] = number_edge_features(o.edge_feat.data() + e * edge_features_);
  for (size_t round = 1; round < nodes_.size(); ++round) number_round(o, round, ids);
  return ids;
}

}  // namespace rlgo::agent
