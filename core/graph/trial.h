// Edits that are tried on a graph in place and taken back: what a rewrite would change, without making its graph.
#pragma once

#include "core/graph/editor.h"

namespace rlgo::graph {

// Holds a private copy of the graph. One edit: use editor() (but do not finish() it), settle(), look, undo(). The cost
// of all this depends on the size of the edit, not of the graph.
class Trial {
 public:
  explicit Trial(const Graph& graph);
  Editor& editor() { return editor_; }
  // Removes dead nodes and finds out which nodes became constant, as Editor::finish does, and tells what changed.
  // Cycles are not looked for. The ids of new nodes are those that the same edit gets from an Editor.
  const Delta& settle();
  // The edited graph; its order() and position() are still those of the unedited one.
  const Graph& graph() const { return editor_.graph_; }
  void undo();

 private:
  void start_at_edit();
  void remove_dead();
  void settle_constants();

  Editor editor_;
  std::vector<GraphOutput> outputs_;
  Delta delta_;
  std::vector<NodeId> stack_;
};

}  // namespace rlgo::graph
