// Edits that are tried on a graph in place and taken back: what a rewrite would change, without making its graph.
#pragma once

#include "core/graph/editor.h"

namespace rlgo::graph {

// Holds a private copy of the graph. One edit: use editor() (but do not finish() it), apply(), look, undo() or keep().
// The cost of all this but keep() depends on the size of the edit, not of the graph.
class Trial {
 public:
  explicit Trial(const Graph& graph);
  Editor& editor() { return editor_; }
  // What was made so far in this edit counts as part of the unedited graph for what follows: its inputs may be
  // replaced.
  void next_part();
  // Removes dead nodes and finds out which nodes became constant, as Editor::finish does, and shows what changed.
  // Cycles are not looked for. The ids of new nodes are those that the same edit gets from an Editor.
  const Delta& apply();
  // The edited graph; its order() and position() are still those of the unedited one.
  const Graph& graph() const { return editor_.graph_; }
  // After apply(): nodes of the unedited graph whose inputs, uses or constancy this edit changed or depended on,
  // appended to `reads`, some of them twice. As long as none of these changes, and no node without inputs comes or goes
  // where looked_at_leaves(), the same edit changes the same.
  void reads(std::vector<NodeId>& reads) const;
  bool looked_at_leaves() const { return editor_.journal_->looked_at_leaves; }
  // Counts the kept edits by which nodes without inputs came or went.
  int64_t leaf_changes() const { return leaf_changes_; }
  // After apply(): nodes of the unedited graph that got other inputs; ids, sorted, live ones and removed ones.
  std::span<const NodeId> rewired() const { return editor_.journal_->rewired; }
  void undo();
  // Instead of undo(): the edited graph takes the place of the unedited one, in order. False where it has a cycle; the
  // edit is then taken back.
  bool keep();

 private:
  void start_at_edit();
  void end_parts();
  void remove_dead();
  void apply_constants();
  void find_leaves();
  bool changes_leaves() const;
  void start_edit();

  Editor editor_;
  NodeId bound_ = kNoNode;  // of ids of the unedited graph, after next_part()
  std::vector<GraphOutput> outputs_;
  Delta delta_;
  std::vector<NodeId> stack_;
  int64_t leaf_changes_ = 0;
};

}  // namespace rlgo::graph
