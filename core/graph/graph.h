// The tensor graph: immutable once built, cheap to copy, edited through graph::Editor.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/small_vector.h"
#include "core/graph/blob.h"
#include "core/ops/op.h"

namespace rlgo::graph {

// Names a node for the node's whole life, also in the graphs that are made from its graph by editing. Never reused
// there.
using NodeId = int32_t;
constexpr NodeId kNoNode = -1;

// One output of a node.
struct Value {
  NodeId node = kNoNode;
  int32_t port = 0;
  auto operator<=>(const Value&) const = default;
};

// One consumer of a value: input number `input` of node `user` reads output `port`.
struct Use {
  NodeId user = kNoNode;
  int32_t input = 0;
  int32_t port = 0;
  auto operator<=>(const Use&) const = default;
};

// The part of a node that does not depend on its neighbours' identity; shared by all copies of the graph.
struct NodeInfo {
  ops::Op op = ops::Op::input;
  ops::Attrs attrs;                      // complete
  ops::Types outputs;                    // one type per output
  ops::Work work;                        // zero for leaves and opaque operators
  std::shared_ptr<const Blob> blob;      // weight only
  std::shared_ptr<const Opaque> opaque;  // opaque only
  bool fixed = false;           // no rewrite may replace it: its last bit decides something; part of local_hash
  std::string name;             // from the model file, "" for new nodes; not part of any hash (except for inputs)
  uint64_t local_hash = 0;      // op, attributes, blob or payload; an input's name; not the neighbours
  uint64_t signature_hash = 0;  // op, attributes, input types: what a measured cost depends on
};

struct Node {
  std::shared_ptr<const NodeInfo> info;
  SmallVector<Value, 3> inputs;
  SmallVector<Use, 2> uses;      // sorted
  bool constant = false;         // depends on weights and fills alone: folded at export, costs nothing
  uint8_t infinities = kFinite;  // that constants of the model bring into its outputs (infinities.h)

  ops::Op op() const { return info->op; }
  const ops::Attrs& attrs() const { return info->attrs; }
};

struct GraphOutput {  // what the model returns under a name
  Value value;
  std::string name;
};

class Editor;

class Graph {  // immutable; copies share their nodes
 public:
  Graph() = default;
  explicit Graph(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  // Live nodes in topological order. The order depends on the structure alone (a depth-first walk from the outputs),
  // not on how the graph came about, so "the k-th node" means the same after export and import of an unchanged graph.
  std::span<const NodeId> order() const { return order_; }
  size_t size() const { return order_.size(); }
  // All ids are in [0, id_bound()); some may be dead.
  NodeId id_bound() const { return static_cast<NodeId>(nodes_.size()); }
  bool contains(NodeId id) const { return id >= 0 && id < id_bound() && nodes_[id].info != nullptr; }
  const Node& node(NodeId id) const { return nodes_[id]; }
  // Place of a live node in order().
  int32_t position(NodeId id) const { return position_[id]; }
  const ops::TensorType& type(Value value) const { return nodes_[value.node].info->outputs[value.port]; }
  // Types of a node's inputs, in order.
  ops::Types input_types(NodeId id) const;
  // Inputs in the model's order; inputs that nothing reads are kept.
  std::span<const NodeId> inputs() const { return inputs_; }
  std::span<const GraphOutput> outputs() const { return outputs_; }
  bool is_output(NodeId id) const;
  // Independent of numbering, of node names and of the order of commutative operands; depends on the names of the
  // graph's inputs and outputs and on the contents of weights. O(size), not cached.
  uint64_t hash() const;
  // Throws Error (a bug) where an invariant is broken: uses match inputs, order is topological, types are inferred.
  void validate() const;

 private:
  friend class Editor;
  friend class Trial;
  std::string name_;
  std::vector<Node> nodes_;
  std::vector<NodeId> order_;
  std::vector<int32_t> position_;
  std::vector<NodeId> inputs_;
  std::vector<GraphOutput> outputs_;
};

// What an edit changed; ids of nodes.
struct Delta {
  std::vector<NodeId> added;
  std::vector<NodeId> removed;
  std::vector<NodeId>
      touched;  // live in both graphs, with other inputs or other uses (or other graph-output status) than before
};

}  // namespace rlgo::graph
