#include "core/graph/graph.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/hash.h"

namespace rlgo::graph {

ops::Types Graph::input_types(NodeId id) const {
  ops::Types types;
  types.reserve(nodes_[id].inputs.size());
  for (const Value& v : nodes_[id].inputs) types.push_back(type(v));
  return types;
}

bool Graph::is_output(NodeId id) const {
  return std::any_of(outputs_.begin(), outputs_.end(), [id](const GraphOutput& o) { return o.value.node == id; });
}

uint64_t Graph::hash() const {
  std::vector<uint64_t> node_hash(nodes_.size());
  const auto value_hash = [&](const Value& v) {
    return hash_combine(node_hash[v.node], static_cast<uint64_t>(v.port));
  };
  for (NodeId id : order_) {
    const Node& n = nodes_[id];
    uint64_t h = n.info->local_hash;
    if (n.inputs.size() == 2 && ops::spec(n.op()).commutative) {
      const uint64_t a = value_hash(n.inputs[0]);
      const uint64_t b = value_hash(n.inputs[1]);
      h = hash_combine(hash_combine(h, std::min(a, b)), std::max(a, b));
    } else {
      for (const Value& v : n.inputs) h = hash_combine(h, value_hash(v));
    }
    node_hash[id] = h;
  }
  uint64_t h = mix64(outputs_.size());
  for (NodeId id : inputs_) h = hash_combine(h, node_hash[id]);
  for (const GraphOutput& out : outputs_) h = hash_combine(h, hash_string(out.name, value_hash(out.value)));
  return h;
}

void Graph::validate() const {
  std::vector<int32_t> place(nodes_.size(), -1);
  for (size_t i = 0; i < order_.size(); ++i) {
    const NodeId id = order_[i];
    RLGO_CHECK(contains(id));
    RLGO_CHECK_EQ(place[id], -1);
    RLGO_CHECK_EQ(position_[id], static_cast<int32_t>(i));
    place[id] = static_cast<int32_t>(i);
    const Node& n = nodes_[id];
    for (size_t k = 0; k < n.inputs.size(); ++k) {
      const Value v = n.inputs[k];
      RLGO_CHECK(contains(v.node) && place[v.node] >= 0);
      RLGO_CHECK_LT(v.port, static_cast<int32_t>(nodes_[v.node].info->outputs.size()));
      const auto& uses = nodes_[v.node].uses;
      RLGO_CHECK_EQ(std::count(uses.begin(), uses.end(), Use{id, static_cast<int32_t>(k), v.port}), 1);
    }
    for (const Use& use : n.uses) {
      RLGO_CHECK(contains(use.user));
      RLGO_CHECK((nodes_[use.user].inputs[use.input] == Value{id, use.port}));
    }
    if (!n.inputs.empty() && n.op() != ops::Op::opaque) {
      const auto types = input_types(id);
      std::vector<ops::Requirement> required;
      const auto inferred = ops::infer(n.op(), types, n.attrs(), nullptr, &required);
      RLGO_CHECK(inferred.has_value() && *inferred == n.info->outputs);
    }
  }
  for (NodeId id = 0; id < id_bound(); ++id) RLGO_CHECK(!contains(id) || place[id] >= 0);
  for (const GraphOutput& out : outputs_) RLGO_CHECK(contains(out.value.node));
}

}  // namespace rlgo::graph
