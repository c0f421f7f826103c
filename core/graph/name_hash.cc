// Why a sum: an edit takes away the terms of the nodes that it removes or rewires and adds those of the new ones, and
// edits at different places give the same sum in any order. Operators whose two operands may change places are hashed
// with the smaller name first.
#include "core/graph/name_hash.h"

#include <algorithm>

#include "core/base/hash.h"

namespace rlgo::graph {

NameHash::NameHash(const Graph& graph)
    : names_(static_cast<size_t>(graph.id_bound()), 0), hashes_(static_cast<size_t>(graph.id_bound()), 0) {
  for (const NodeId id : graph.order()) {
    names_[static_cast<size_t>(id)] = made_name(graph, id);
    hashes_[static_cast<size_t>(id)] = node_hash(graph, id);
    sum_ += hashes_[static_cast<size_t>(id)];
  }
  outputs_ = outputs_hash(graph);
}

uint64_t NameHash::name(Value value) const {
  if (value.port == 0) return names_[static_cast<size_t>(value.node)];
  for (const auto& [aliased, name] : aliases_) {
    if (aliased == value) return name;
  }
  return hash_combine(names_[static_cast<size_t>(value.node)], static_cast<uint64_t>(value.port));
}

// Of a node that takes no other value's place.
uint64_t NameHash::made_name(const Graph& graph, NodeId id) const {
  const Node& node = graph.node(id);
  const uint64_t local = node.info->local_hash;
  if (node.inputs.size() == 2 && ops::spec(node.op()).commutative) {
    const uint64_t a = name(node.inputs[0]), b = name(node.inputs[1]);
    return hash_combine(hash_combine(local, std::min(a, b)), std::max(a, b));
  }
  uint64_t h = local;
  for (const Value& v : node.inputs) h = hash_combine(h, name(v));
  return h;
}

uint64_t NameHash::node_hash(const Graph& graph, NodeId id) const {
  const Node& node = graph.node(id);
  uint64_t h = mix64(node.info->local_hash);
  for (int32_t port = 0; port < static_cast<int32_t>(node.info->outputs.size()); ++port) {
    h = hash_combine(h, name({id, port}));
  }
  const auto input = [&](const Value& v) { return name(v) ^ mix64(graph.node(v.node).info->local_hash); };
  if (node.inputs.size() == 2 && ops::spec(node.op()).commutative) {
    const uint64_t a = input(node.inputs[0]), b = input(node.inputs[1]);
    return hash_combine(hash_combine(h, std::min(a, b)), std::max(a, b));
  }
  for (const Value& v : node.inputs) h = hash_combine(h, input(v));
  return h;
}

uint64_t NameHash::outputs_hash(const Graph& graph) const {
  uint64_t h = 0;
  for (size_t k = 0; k < graph.outputs().size(); ++k) {
    const Value v = graph.outputs()[k].value;
    h += hash_combine(hash_combine(k, name(v)), graph.node(v.node).info->local_hash);
  }
  return h;
}

void NameHash::name_new(const Graph& now, const Delta& delta, const Replaced& replaced) {
  names_.resize(static_cast<size_t>(now.id_bound()), 0);
  for (const NodeId id : delta.added) {
    names_[static_cast<size_t>(id)] = made_name(now, id);
    for (const auto& [old, made] : replaced) {
      if (made.node != id) continue;
      if (made.port == 0) {
        names_[static_cast<size_t>(id)] = name(old);
      } else {
        aliases_.emplace_back(made, name(old));
      }
    }
  }
}

uint64_t NameHash::edited_sum(const Graph& now, const Delta& delta, std::span<const NodeId> rewired) const {
  uint64_t sum = sum_;
  for (const NodeId id : delta.removed) sum -= hashes_[static_cast<size_t>(id)];
  for (const NodeId id : rewired) {
    if (now.contains(id)) sum += node_hash(now, id) - hashes_[static_cast<size_t>(id)];
  }
  for (const NodeId id : delta.added) sum += node_hash(now, id);
  return sum;
}

uint64_t NameHash::difference(const Graph& now, const Delta& delta, std::span<const NodeId> rewired,
                              const Replaced& replaced) {
  const size_t size = names_.size(), aliases = aliases_.size();
  name_new(now, delta, replaced);
  const uint64_t hash = edited_sum(now, delta, rewired) + outputs_hash(now);
  names_.resize(size);
  aliases_.resize(aliases);
  return hash - value();
}

void NameHash::advance(const Graph& now, const Delta& delta, std::span<const NodeId> rewired,
                       const Replaced& replaced) {
  name_new(now, delta, replaced);
  sum_ = edited_sum(now, delta, rewired);
  hashes_.resize(static_cast<size_t>(now.id_bound()), 0);
  for (const NodeId id : delta.added) hashes_[static_cast<size_t>(id)] = node_hash(now, id);
  for (const NodeId id : rewired) {
    if (now.contains(id)) hashes_[static_cast<size_t>(id)] = node_hash(now, id);
  }
  std::erase_if(aliases_, [&](const Alias& alias) { return !now.contains(alias.first.node); });
  outputs_ = outputs_hash(now);
}

namespace {

std::vector<NodeId> with_other_inputs(const Graph& before, const Graph& now, const Delta& delta) {
  std::vector<NodeId> rewired;
  for (const NodeId id : delta.touched) {
    if (before.node(id).inputs != now.node(id).inputs) rewired.push_back(id);
  }
  return rewired;
}

}  // namespace

uint64_t NameHash::after(const Graph& before, const Graph& now, const Delta& delta, const Replaced& replaced) {
  return value() + difference(now, delta, with_other_inputs(before, now, delta), replaced);
}

void NameHash::advance(const Graph& before, const Graph& now, const Delta& delta, const Replaced& replaced) {
  advance(now, delta, with_other_inputs(before, now, delta), replaced);
}

}  // namespace rlgo::graph
