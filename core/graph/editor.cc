#include "core/graph/editor.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/graph/infinities.h"
#include "core/ops/windows.h"

namespace rlgo::graph {
namespace {

constexpr size_t kRoom = 16;
constexpr size_t kManyUses = 64;  // a table finds equal nodes among more

uint64_t hash_op(ops::Op op, const ops::Attrs& attrs) { return hash_combine(static_cast<uint64_t>(op), attrs.hash()); }

uint64_t hash_local(uint64_t of_op, bool fixed) { return fixed ? hash_combine(of_op, hash_string("fixed")) : of_op; }

uint64_t hash_inputs(uint64_t local_hash, std::span<const Value> inputs) {
  uint64_t h = local_hash;
  for (const Value& v : inputs)
    h = hash_combine(hash_combine(h, static_cast<uint64_t>(v.node)), static_cast<uint64_t>(v.port));
  return h;
}

bool may_merge(const NodeInfo& info) {
  if (info.op == ops::Op::input || info.op == ops::Op::weight) return false;
  return info.op != ops::Op::opaque || info.opaque->deterministic;
}

}  // namespace

std::shared_ptr<const NodeInfo> make_info(ops::Op op, ops::Attrs attrs, std::span<const ops::TensorType> inputs,
                                          ops::Types outputs, std::string name, bool fixed) {
  auto info = std::make_shared<NodeInfo>();
  info->op = op;
  info->work = ops::spec(op).work(inputs, attrs);
  info->fixed = fixed;
  info->signature_hash = hash_op(op, attrs);
  info->local_hash = hash_local(info->signature_hash, fixed);
  for (const auto& t : inputs) info->signature_hash = hash_combine(info->signature_hash, t.hash());
  info->attrs = std::move(attrs);
  info->outputs = std::move(outputs);
  info->name = std::move(name);
  return info;
}

// Room for a few new nodes: what an edit adds must not move all the others.
Editor::Editor(const Graph& graph) : first_new_(graph.id_bound()) {
  graph_.nodes_.reserve(graph.nodes_.size() + kRoom);
  graph_ = graph;
}

Editor::Editor(Graph&& graph) : graph_(std::move(graph)), first_new_(graph_.id_bound()) {}

Value Editor::add_input(std::string name, ops::TensorType type) {
  auto info = std::make_shared<NodeInfo>();
  info->op = ops::Op::input;
  info->local_hash = hash_combine(hash_string(name, hash_op(info->op, {})), type.hash());
  info->signature_hash = info->local_hash;
  info->name = std::move(name);
  info->outputs.push_back(std::move(type));
  Node node;
  node.info = std::move(info);
  const NodeId id = append(std::move(node));
  graph_.inputs_.push_back(id);
  return {id, 0};
}

Value Editor::add_weight(std::string name, std::shared_ptr<const Blob> blob) {
  auto info = std::make_shared<NodeInfo>();
  info->op = ops::Op::weight;
  info->local_hash = hash_combine(hash_op(info->op, {}), blob->content_hash());
  info->signature_hash = hash_combine(hash_op(info->op, {}), blob->type().hash());
  info->name = std::move(name);
  info->outputs.push_back(blob->type());
  info->blob = std::move(blob);
  Node node;
  node.info = std::move(info);
  node.constant = true;
  return {append(std::move(node)), 0};
}

NodeId Editor::add_opaque(std::string name, std::shared_ptr<const Opaque> opaque, std::span<const Value> inputs,
                          ops::Types types) {
  auto info = std::make_shared<NodeInfo>();
  info->op = ops::Op::opaque;
  info->local_hash = hash_combine(hash_op(info->op, {}), opaque->hash());
  info->signature_hash = info->local_hash;
  for (const Value& v : inputs) info->signature_hash = hash_combine(info->signature_hash, type(v).hash());
  info->name = std::move(name);
  info->outputs = std::move(types);
  info->opaque = std::move(opaque);
  Node node;
  node.info = std::move(info);
  node.inputs.assign(inputs);
  return append(std::move(node));
}

std::optional<NodeId> Editor::try_add(ops::Op op, std::span<const Value> inputs, const ops::Attrs& given,
                                      std::string* reason, std::string name) {
  auto attrs = ops::complete_attrs(op, given, reason);
  if (!attrs) return std::nullopt;
  ops::Types types;
  types.reserve(inputs.size());
  for (const Value& v : inputs) types.push_back(type(v));
  ops::fit_window_lists(op, types, given, *attrs);
  std::vector<ops::Requirement> required;
  auto outputs = ops::infer(op, types, *attrs, reason, trusting_ ? &required : nullptr);
  if (!outputs) return std::nullopt;

  const uint64_t local_hash = hash_local(hash_op(op, *attrs), fixing_);
  if (const NodeId equal = find_equal(local_hash, inputs); equal != kNoNode) {
    if (equal < first_new_) found_.push_back(equal);
    return equal;
  }
  return append_made(make_info(op, std::move(*attrs), types, std::move(*outputs), std::move(name), fixing_), inputs);
}

NodeId Editor::add_made(std::shared_ptr<const NodeInfo> info, std::span<const Value> inputs) {
  if (const NodeId equal = find_equal(info->local_hash, inputs); equal != kNoNode) {
    if (equal < first_new_) found_.push_back(equal);
    return equal;
  }
  return append_made(std::move(info), inputs);
}

NodeId Editor::append_made(std::shared_ptr<const NodeInfo> info, std::span<const Value> inputs) {
  Node node;
  node.info = std::move(info);
  node.inputs.assign(inputs);
  node.constant = inputs.empty();
  return append(std::move(node));
}

NodeId Editor::add(ops::Op op, std::span<const Value> inputs, const ops::Attrs& attrs, std::string name) {
  std::string reason;
  const auto id = try_add(op, inputs, attrs, &reason, name);
  if (!id) fail("cannot add {}{}{}: {}", ops::name(op), name.empty() ? "" : " ", name, reason);
  return *id;
}

void Editor::add_output(std::string name, Value value) {
  touch(value.node);
  graph_.outputs_.push_back({value, std::move(name)});
}

void Editor::replace(Value from, Value to) {
  if (from == to) return;
  RLGO_CHECK(type(from) == type(to));
  std::vector<Use> moved;
  for (const Use& use : graph_.nodes_[from.node].uses) {
    const bool made_here = use.user >= first_new_ || std::find(found_.begin(), found_.end(), use.user) != found_.end();
    if (use.port == from.port && !made_here) moved.push_back(use);
  }
  touch(from.node);
  touch(to.node);
  for (const Use& use : moved) {
    remove_use(from, use);
    change(use.user).inputs[use.input] = to;
    if (journal_) journal_->rewired.push_back(use.user);
    add_use(to, {use.user, use.input, to.port});
    touch(use.user);
  }
  for (GraphOutput& out : graph_.outputs_) {
    if (out.value == from) out.value = to;
  }
  for (const Use& use : moved) note_inputs(use.user);
  // Readers may have become equal to other nodes: merge them, and so on down the graph.
  for (const Use& use : moved) {
    const Node& user = graph_.nodes_[use.user];
    // Its equal would read `to` in the same place: of a long list all others need not be looked at.
    if (journal_) journal_->looked.push_back(to.node);
    const auto& readers = graph_.nodes_[to.node].uses;
    const bool alone = readers.size() <= kManyUses && std::ranges::none_of(readers, [&](const Use& other) {
                         return other.user != use.user && other.input == use.input && other.port == to.port;
                       });
    if (alone || !may_merge(*user.info)) continue;
    const NodeId equal = find_equal(user.info->local_hash, user.inputs);
    if (equal == kNoNode || equal == use.user || graph_.nodes_[equal].info->outputs != user.info->outputs) continue;
    const auto ports = static_cast<int32_t>(user.info->outputs.size());
    for (int32_t p = 0; p < ports; ++p) replace({use.user, p}, {equal, p});
  }
}

std::optional<Graph> Editor::finish(Delta* delta) {
  if (!order_nodes()) return std::nullopt;
  std::vector<NodeId> removed;
  remove_dead(removed);
  // Replacing a value by a constant (or the reverse) changes what depends on weights alone further down.
  for (NodeId id : graph_.order_) {
    if (graph_.nodes_[id].inputs.empty() || !derive(id)) continue;
    touch(id);
    for (const Use& use : graph_.nodes_[id].uses) touch(use.user);
  }
  if (delta != nullptr) {
    std::sort(touched_.begin(), touched_.end());
    touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
    delta->added.clear();
    delta->removed = std::move(removed);
    delta->touched.clear();
    for (NodeId id : touched_) {
      if (graph_.contains(id)) delta->touched.push_back(id);
    }
    for (NodeId id = first_new_; id < graph_.id_bound(); ++id) {
      if (graph_.contains(id)) delta->added.push_back(id);
    }
  }
  touched_.clear();
  return std::move(graph_);
}

// The node, to be changed: a trial notes first what it was.
Node& Editor::change(NodeId id) {
  Node& node = graph_.nodes_[id];
  if (journal_ && id < first_new_ && journal_->edit[id] != journal_->number) {
    journal_->edit[id] = journal_->number;
    journal_->nodes.emplace_back(id, node);
  }
  return node;
}

NodeId Editor::append(Node node) {
  const NodeId id = graph_.id_bound();
  graph_.nodes_.push_back(std::move(node));
  const auto inputs = graph_.nodes_[id].inputs;
  for (size_t i = 0; i < inputs.size(); ++i) add_use(inputs[i], {id, static_cast<int32_t>(i), inputs[i].port});
  derive(id);
  note_inputs(id);
  return id;
}

bool Editor::derive(NodeId id) {
  const Node& node = graph_.nodes_[id];
  bool constant = true;
  uint8_t any = kFinite;
  for (const Value& v : node.inputs) {
    any |= graph_.nodes_[v.node].infinities;
    constant = constant && graph_.nodes_[v.node].constant;
  }
  if (node.inputs.empty() || node.op() == ops::Op::opaque) constant = node.constant;
  uint8_t infinities = kFinite;
  if (any != kFinite || node.inputs.empty() || node.op() == ops::Op::opaque || node.op() == ops::Op::pad) {
    SmallVector<uint8_t, 8> inputs;
    for (const Value& v : node.inputs) inputs.push_back(graph_.nodes_[v.node].infinities);
    infinities = infinities_of(*node.info, std::span<const uint8_t>(inputs.begin(), inputs.size()));
  }
  if (constant == node.constant && infinities == node.infinities) return false;
  Node& changed = change(id);
  changed.constant = constant;
  changed.infinities = infinities;
  return true;
}

void Editor::add_use(Value value, Use use) {
  auto& uses = change(value.node).uses;
  uses.insert(std::lower_bound(uses.begin(), uses.end(), use), use);
  touch(value.node);
}

void Editor::remove_use(Value value, Use use) {
  auto& uses = change(value.node).uses;
  const auto at = std::lower_bound(uses.begin(), uses.end(), use);
  RLGO_CHECK(at != uses.end() && *at == use);
  uses.erase(at);
  touch(value.node);
}

void Editor::touch(NodeId id) {
  if (id < first_new_) touched_.push_back(id);
}

NodeId Editor::find_equal(uint64_t local_hash, std::span<const Value> inputs) {
  const auto equal = [&](NodeId id) {
    const Node& n = graph_.nodes_[id];
    return n.info && n.info->local_hash == local_hash && may_merge(*n.info) &&
           std::equal(inputs.begin(), inputs.end(), n.inputs.begin(), n.inputs.end());
  };
  if (inputs.empty()) {
    NodeId first = 0;
    if (journal_) {
      journal_->looked_at_leaves = true;
      for (NodeId id : journal_->leaves) {
        if (equal(id)) return id;
      }
      first = first_new_;
    }
    for (NodeId id = first; id < graph_.id_bound(); ++id) {
      if (equal(id)) return id;
    }
    return kNoNode;
  }
  const auto uses = [&](const Value& v) { return graph_.nodes_[v.node].uses.size(); };
  const auto fewest = std::ranges::min_element(inputs, {}, uses);
  if (!journal_ && uses(*fewest) > kManyUses) {
    NodeId first = kNoNode;
    const auto [begin, end] = known_nodes().equal_range(hash_inputs(local_hash, inputs));
    for (auto at = begin; at != end; ++at) {
      if (equal(at->second) && (first == kNoNode || at->second < first)) first = at->second;
    }
    return first;
  }
  if (journal_) journal_->looked.push_back(fewest->node);
  for (const Use& use : graph_.nodes_[fewest->node].uses) {
    if (use.input != fewest - inputs.begin() || use.port != fewest->port) continue;
    if (journal_) journal_->looked.push_back(use.user);
    if (equal(use.user)) return use.user;
  }
  return kNoNode;
}

// Nodes by hash_inputs, made where it is first asked for. Some no longer have these inputs.
const std::unordered_multimap<uint64_t, NodeId>& Editor::known_nodes() {
  if (!knows_nodes_) {
    knows_nodes_ = true;
    for (NodeId id = 0; id < graph_.id_bound(); ++id) note_inputs(id);
  }
  return known_nodes_;
}

void Editor::note_inputs(NodeId id) {
  const Node& node = graph_.nodes_[id];
  if (knows_nodes_ && node.info) known_nodes_.emplace(hash_inputs(node.info->local_hash, node.inputs), id);
}

// Depth-first postorder from the graph's inputs and outputs. False where there is a cycle.
bool Editor::order_nodes() {
  constexpr int32_t kNew = -1, kOpen = -2;  // else the place of a node that is done
  std::vector<std::pair<NodeId, uint32_t>> stack;
  auto& position = graph_.position_;
  graph_.order_.clear();
  position.assign(graph_.nodes_.size(), kNew);
  const auto visit = [&](NodeId root) {
    if (position[root] >= 0) return true;
    position[root] = kOpen;
    stack.emplace_back(root, 0);
    while (!stack.empty()) {
      const NodeId id = stack.back().first;
      const auto& inputs = graph_.nodes_[id].inputs;
      uint32_t next = stack.back().second;
      while (next < inputs.size() && position[inputs[next].node] >= 0) ++next;
      if (next == inputs.size()) {
        position[id] = static_cast<int32_t>(graph_.order_.size());
        graph_.order_.push_back(id);
        stack.pop_back();
        continue;
      }
      const NodeId child = inputs[next].node;
      if (position[child] == kOpen) return false;
      stack.back().second = next + 1;
      position[child] = kOpen;
      stack.emplace_back(child, 0);
    }
    return true;
  };
  for (NodeId id : graph_.inputs_) {
    if (!visit(id)) return false;
  }
  for (const GraphOutput& out : graph_.outputs_) {
    if (!visit(out.value.node)) return false;
  }
  return true;
}

void Editor::remove_dead(std::vector<NodeId>& removed) {
  for (NodeId id = 0; id < graph_.id_bound(); ++id) {
    Node& n = graph_.nodes_[id];
    if (!n.info || graph_.position_[id] >= 0) continue;
    for (size_t i = 0; i < n.inputs.size(); ++i) {
      const Value v = n.inputs[i];
      if (graph_.position_[v.node] >= 0) remove_use(v, {id, static_cast<int32_t>(i), v.port});
    }
    if (id < first_new_) removed.push_back(id);
  }
  for (NodeId id = 0; id < graph_.id_bound(); ++id) {
    if (graph_.nodes_[id].info && graph_.position_[id] < 0) graph_.nodes_[id] = Node();
  }
}

}  // namespace rlgo::graph
