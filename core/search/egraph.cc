#include "core/search/egraph.h"

#include <algorithm>
#include <numeric>

#include "core/base/error.h"
#include "core/base/hash.h"

namespace rlgo::search {

using graph::Node;
using graph::NodeId;
using graph::Value;

size_t EGraph::KeyHash::operator()(const std::vector<int64_t>& key) const {
  uint64_t hash = key.size();
  for (const int64_t part : key) hash = hash_combine(hash, static_cast<uint64_t>(part));
  return hash;
}

EGraph::EGraph(const graph::Graph& graph) : graph_(graph), outputs_(graph.outputs().size()) {
  for (const NodeId id : graph.order()) note(id, graph.node(id));
  rebuild();
}

void EGraph::note(NodeId id, const Node& node) {
  const auto size = static_cast<size_t>(id) + 1;
  if (first_.size() < size) {
    first_.resize(size, -1);
    rank_.resize(size, -1);
    dropped_.resize(size, 0);
  }
  first_[id] = static_cast<int32_t>(values_.size());
  rank_[id] = static_cast<int32_t>(all_.size());
  all_.push_back(id);
  for (size_t port = 0; port < node.info->outputs.size(); ++port) {
    parent_.push_back(static_cast<int32_t>(values_.size()));
    values_.push_back({id, static_cast<int32_t>(port)});
  }
}

int32_t EGraph::root(int32_t index) const {
  while (parent_[index] != index) {
    parent_[index] = parent_[parent_[index]];
    index = parent_[index];
  }
  return index;
}

EGraph::ClassId EGraph::class_of(Value value) const { return root(index_of(value)); }

// The older value stays the root. False where they are equal already.
bool EGraph::merge(int32_t a, int32_t b) {
  a = root(a);
  b = root(b);
  if (a == b) return false;
  parent_[std::max(a, b)] = std::min(a, b);
  return true;
}

std::vector<int64_t> EGraph::key_of(const graph::NodeInfo& info, std::span<const Value> inputs) const {
  std::vector<int64_t> key{static_cast<int64_t>(info.local_hash)};
  for (const Value& value : inputs) key.push_back(class_of(value));
  if (ops::spec(info.op).commutative && inputs.size() == 2 && key[1] > key[2]) std::swap(key[1], key[2]);
  return key;
}

NodeId EGraph::add(const rules::RecipeNode& node, std::span<const Value> inputs) {
  auto key = key_of(*node.info, inputs);
  if (const auto known = table_.find(key); known != table_.end()) return known->second;
  const NodeId id = editor_->add_made(node.info, inputs);
  if (static_cast<size_t>(id) >= first_.size() || first_[id] < 0) {
    note(id, editor_->node(id));
    editor_->add_output(fmt::format("e-node {}", id), {id, 0});
  }
  table_.emplace(std::move(key), id);
  return id;
}

void EGraph::apply(const rules::Recipe& recipe) {
  if (!editor_) editor_ = std::make_unique<graph::Editor>(std::move(graph_));
  std::vector<NodeId> made;
  const auto value = [&](const rules::PlanRef& ref) {
    return ref.planned < 0 ? ref.value : Value{made[static_cast<size_t>(ref.planned)], ref.value.port};
  };
  std::vector<Value> inputs;
  for (const rules::RecipeNode& node : recipe.nodes) {
    inputs.clear();
    for (const rules::PlanRef& ref : node.inputs) inputs.push_back(value(ref));
    made.push_back(add(node, inputs));
  }
  for (const auto& [old, with] : recipe.replacements) merge(index_of(old), index_of(value(with)));
}

// Of e-nodes that compute the same from the same classes the oldest stays. True where that made more values equal.
bool EGraph::close_once() {
  table_.clear();
  bool merged = false;
  for (const NodeId id : all_) {
    if (dropped_[id] == 1) continue;
    const Node& node = graph_.node(id);
    if (node.op() == ops::Op::input || node.op() == ops::Op::opaque) continue;  // never equal to another
    const auto [known, is_new] = table_.try_emplace(key_of(*node.info, node.inputs), id);
    if (is_new) continue;
    dropped_[id] = 1;
    for (size_t port = 0; port < node.info->outputs.size(); ++port) {
      merged |= merge(first_[id] + static_cast<int32_t>(port), first_[known->second] + static_cast<int32_t>(port));
    }
  }
  return merged;
}

void EGraph::index_classes() {
  makers_.assign(values_.size(), {});
  readers_.assign(values_.size(), {});
  representative_.assign(values_.size(), -1);
  live_.clear();
  for (const NodeId id : all_) {
    const Node& node = graph_.node(id);
    const auto ports = static_cast<int32_t>(node.info->outputs.size());
    for (int32_t port = 0; port < ports; ++port) {
      int32_t& chosen = representative_[class_of({id, port})];
      if (chosen < 0 || (node.constant && !graph_.node(values_[chosen].node).constant)) chosen = first_[id] + port;
    }
    if (dropped_[id] != 0) continue;
    live_.push_back(id);
    for (int32_t port = 0; port < ports; ++port) makers_[class_of({id, port})].push_back({id, port});
    for (const Value& input : node.inputs) {
      auto& readers = readers_[class_of(input)];
      if (readers.empty() || readers.back() != id) readers.push_back(id);
    }
  }
}

// Depth-first over classes. A cycle is a path of e-nodes on the stack; its youngest e-node is left out, and the walk
// continues from where that one was chosen. The youngest is never a class's oldest maker: the e-node before it on the
// cycle was made from a member of that class, so it would be younger still.
void EGraph::break_cycles() {
  enum : uint8_t { unseen, open, done };
  struct Frame {
    ClassId id;
    size_t maker = 0, input = 0;
  };
  std::vector<uint8_t> state(values_.size(), unseen);
  std::vector<Frame> stack;
  order_.clear();
  const auto maker = [&](const Frame& frame) { return makers_[frame.id][frame.maker].node; };
  const auto leave_out_youngest = [&](ClassId repeated) {
    size_t youngest = stack.size() - 1;
    for (size_t k = stack.size(); k-- > 0;) {
      if (rank_[maker(stack[k])] > rank_[maker(stack[youngest])]) youngest = k;
      if (stack[k].id == repeated) break;
    }
    dropped_[maker(stack[youngest])] = 2;
    ++left_out_;
    for (size_t k = youngest + 1; k < stack.size(); ++k) state[stack[k].id] = unseen;
    stack.resize(youngest + 1);
    ++stack.back().maker;
    stack.back().input = 0;
  };
  for (size_t start = 0; start < values_.size(); ++start) {
    const auto first = static_cast<ClassId>(start);
    if (root(first) != first || state[first] != unseen) continue;
    stack.push_back({first});
    state[first] = open;
    while (!stack.empty()) {
      Frame& frame = stack.back();
      if (frame.maker == makers_[frame.id].size()) {
        state[frame.id] = done;
        order_.push_back(frame.id);
        stack.pop_back();
        continue;
      }
      const NodeId id = maker(frame);
      const Node& node = graph_.node(id);
      if (dropped_[id] != 0 || frame.input == node.inputs.size()) {
        ++frame.maker;
        frame.input = 0;
        continue;
      }
      const ClassId below = class_of(node.inputs[frame.input]);
      if (state[below] == open) {
        leave_out_youngest(below);
        continue;
      }
      ++frame.input;
      if (state[below] == done) continue;
      state[below] = open;
      stack.push_back({below});
    }
  }
}

void EGraph::rebuild() {
  if (editor_) {
    auto graph = editor_->finish();
    RLGO_CHECK(graph.has_value());
    graph_ = std::move(*graph);
    editor_.reset();
  }
  while (close_once()) {
  }
  index_classes();
  const int64_t before = left_out_;
  break_cycles();
  if (left_out_ > before) index_classes();
}

std::vector<EGraph::ClassId> EGraph::roots() const {
  std::vector<ClassId> roots;
  for (size_t k = 0; k < outputs_; ++k) roots.push_back(class_of(graph_.outputs()[k].value));
  return roots;
}

}  // namespace rlgo::search
