// Builds and edits graphs. The only way to make one.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/graph/graph.h"

namespace rlgo::graph {

// Edits a private copy; the original is untouched. Normalises as it goes: an added node that equals an existing one
// (same operator, attributes and inputs) is the existing one, and nodes that nothing needs are gone at finish().
class Editor {
 public:
  explicit Editor(std::string graph_name) : graph_(std::move(graph_name)) {}
  explicit Editor(const Graph& graph);
  explicit Editor(Graph&& graph);  // edits the graph itself, without a copy

  Value add_input(std::string name, ops::TensorType type);  // an input or weight of this name, which must be new
  Value add_weight(std::string name, std::shared_ptr<const Blob> blob);
  // `types`: of the outputs that the payload names.
  NodeId add_opaque(std::string name, std::shared_ptr<const Opaque> opaque, std::span<const Value> inputs,
                    ops::Types types);
  // Nothing where operator, inputs and attributes do not fit; `reason` then states why. `attrs` need not be complete.
  std::optional<NodeId> try_add(ops::Op op, std::span<const Value> inputs, const ops::Attrs& attrs,
                                std::string* reason = nullptr, std::string name = {});
  // From now on try_add also takes operators that fit at some of the open sizes only (core/ops/extent.h): for what a
  // model file has, which runs at these sizes alone.
  void trust() { trusting_ = true; }
  // What try_add adds between fix(true) and fix(false) no rewrite may replace (NodeInfo::fixed).
  void fix(bool on) { fixing_ = on; }
  // The same as try_add; throws Error where it does not fit.
  NodeId add(ops::Op op, std::span<const Value> inputs, const ops::Attrs& attrs = {}, std::string name = {});
  // A node of this description (see make_info), whose inputs have the types that it was made for. Nothing is checked.
  NodeId add_made(std::shared_ptr<const NodeInfo> info, std::span<const Value> inputs);
  // Port 0 of add(...): for operators with one output.
  Value op(ops::Op op, std::initializer_list<Value> inputs, const ops::Attrs& attrs = {}, std::string name = {}) {
    return {add(op, std::span<const Value>(inputs.begin(), inputs.size()), attrs, std::move(name)), 0};
  }
  void add_output(std::string name, Value value);

  // All readers of `from` that this editor did not make, and graph outputs, read `to` instead. Operators that add()
  // found rather than made count as made: they may be what `to` is computed with. Types must be equal. A cycle is found
  // by finish().
  void replace(Value from, Value to);

  // Ids of nodes made so far are valid here.
  const ops::TensorType& type(Value value) const { return graph_.type(value); }
  const Node& node(NodeId id) const { return graph_.node(id); }
  // Ids from here on are those of nodes that this editor made.
  NodeId first_new() const { return first_new_; }

  // Removes dead nodes (unread inputs of the graph are kept), orders, and gives the graph away. Nothing where the edit
  // made a cycle. The editor is empty afterwards.
  std::optional<Graph> finish(Delta* delta = nullptr);

 private:
  friend class Trial;
  // What an edit of a Trial changed, to take it back.
  struct Journal {
    std::vector<std::pair<NodeId, Node>> nodes;  // as they were
    std::vector<uint32_t> edit;                  // by id: number of the last edit that saved the node
    uint32_t number = 1;                         // of this edit
    std::vector<NodeId> leaves;                  // of the unedited graph: nodes without inputs that may be merged
    // What the edit looked at in search of equal nodes, and old nodes whose inputs it changed. Ids, some twice.
    std::vector<NodeId> looked, rewired;
    bool looked_at_leaves = false;
  };
  Node& change(NodeId id);
  NodeId append(Node node);
  // Sets what follows from the node's inputs. False where it stood so already.
  bool derive(NodeId id);
  NodeId append_made(std::shared_ptr<const NodeInfo> info, std::span<const Value> inputs);
  void add_use(Value value, Use use);
  void remove_use(Value value, Use use);
  void touch(NodeId id);
  NodeId find_equal(uint64_t local_hash, std::span<const Value> inputs);
  const std::unordered_multimap<uint64_t, NodeId>& known_nodes();
  void note_inputs(NodeId id);
  bool order_nodes();
  void remove_dead(std::vector<NodeId>& removed);

  Graph graph_;
  bool trusting_ = false, fixing_ = false;
  NodeId first_new_ = 0;
  std::vector<NodeId> found_;  // older nodes that try_add returned
  std::vector<NodeId> touched_;
  std::unique_ptr<Journal> journal_;  // of trials only
  bool knows_nodes_ = false;
  std::unordered_multimap<uint64_t, NodeId> known_nodes_;  // see known_nodes()
};

// The description of a node as try_add makes it. `attrs` are complete, `outputs` what infer states.
std::shared_ptr<const NodeInfo> make_info(ops::Op op, ops::Attrs attrs, std::span<const ops::TensorType> inputs,
                                          ops::Types outputs, std::string name = {}, bool fixed = false);

}  // namespace rlgo::graph
