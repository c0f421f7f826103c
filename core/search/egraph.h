// An e-graph of tensor operators: many equal graphs at once. A class is a set of values that are proved equal; an
// e-node is an operator whose inputs are classes, and stands for all graphs that compute its inputs in any of their
// ways.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/graph/editor.h"
#include "core/rules/recipe.h"

namespace rlgo::search {

class EGraph {
 public:
  using ClassId = int32_t;

  explicit EGraph(const graph::Graph& graph);

  // Every e-node as a node of one graph (whose inputs are some members of the classes that it reads): operators,
  // attributes and types of e-nodes. As of the last rebuild().
  const graph::Graph& graph() const { return graph_; }
  // E-nodes in use, in the order in which they were made: each was made from older ones.
  std::span<const graph::NodeId> nodes() const { return live_; }
  ClassId class_of(graph::Value value) const;
  // E-nodes ever made.
  size_t size() const { return all_.size(); }
  // All classes that have members, each before those computed from it. Valid after rebuild().
  std::span<const ClassId> classes() const { return order_; }
  // The member that stands for a class: a constant where there is one.
  graph::Value representative(ClassId id) const { return values_[representative_[id]]; }
  graph::Value representative(graph::Value value) const { return representative(class_of(value)); }
  // E-nodes in use that compute a class, by any of their outputs; those that read it. Oldest first.
  std::span<const graph::Value> makers(ClassId id) const { return makers_[id]; }
  std::span<const graph::NodeId> readers(ClassId id) const { return readers_[id]; }
  // Classes that the graph's outputs belong to, in order.
  std::vector<ClassId> roots() const;

  // Adds the right side of a match and makes the values that it replaces equal to those that replace them. Call
  // rebuild() before anything is looked up.
  void apply(const rules::Recipe& recipe);
  // Closes equality under congruence, then leaves out e-nodes until no choice of e-nodes makes a cycle: of each cycle
  // the youngest (TENSAT's filter), which leaves every class computable.
  void rebuild();
  int64_t left_out() const { return left_out_; }  // for cycles

 private:
  struct KeyHash {
    size_t operator()(const std::vector<int64_t>& key) const;
  };
  using Table = std::unordered_map<std::vector<int64_t>, graph::NodeId, KeyHash>;

  int32_t root(int32_t index) const;
  int32_t index_of(graph::Value value) const { return first_[value.node] + value.port; }
  void note(graph::NodeId id, const graph::Node& node);
  bool merge(int32_t a, int32_t b);
  std::vector<int64_t> key_of(const graph::NodeInfo& info, std::span<const graph::Value> inputs) const;
  graph::NodeId add(const rules::RecipeNode& node, std::span<const graph::Value> inputs);
  bool close_once();
  void index_classes();
  void break_cycles();

  graph::Graph graph_;
  std::unique_ptr<graph::Editor> editor_;  // while e-nodes are added
  size_t outputs_ = 0;                     // of the unmodified graph; further outputs keep e-nodes alive
  std::vector<int32_t> first_;             // by node: index of its first output, -1 where it is none of ours
  std::vector<graph::Value> values_;       // by index
  mutable std::vector<int32_t> parent_;    // by index: union-find
  std::vector<graph::NodeId> all_, live_;  // in order of making
  std::vector<int32_t> rank_;              // by node: place in all_
  std::vector<uint8_t> dropped_;           // by node: equal to an older one, or left out for a cycle
  Table table_;
  std::vector<std::vector<graph::Value>> makers_;
  std::vector<std::vector<graph::NodeId>> readers_;
  std::vector<int32_t> representative_;
  std::vector<ClassId> order_;
  int64_t left_out_ = 0;
};

}  // namespace rlgo::search
