// Why in place: a search tries thousands of rewrites of one graph and takes one. Copying the graph for each costs what
// the graph is long; here an edit writes down what it changes (Editor::Journal) and undo() writes it back, so that a
// try costs what the edit touches.
#include "core/graph/trial.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"

namespace rlgo::graph {

Trial::Trial(const Graph& graph) : editor_(graph), outputs_(graph.outputs().begin(), graph.outputs().end()) {
  editor_.journal_ = std::make_unique<Editor::Journal>();
  editor_.journal_->edit.assign(static_cast<size_t>(graph.id_bound()), 0);
  find_leaves();
  editor_.graph_.nodes_.reserve(static_cast<size_t>(graph.id_bound()) + 64);
}

namespace {

bool is_leaf(const Node& node) { return node.info && (node.op() == ops::Op::fill || node.op() == ops::Op::literal); }

}  // namespace

// Whether the edit made or removed one.
bool Trial::changes_leaves() const {
  return std::ranges::any_of(delta_.added, [&](NodeId id) { return is_leaf(graph().node(id)); }) ||
         std::ranges::any_of(editor_.journal_->nodes, [&](const auto& saved) { return is_leaf(saved.second); });
}

void Trial::find_leaves() {
  auto& leaves = editor_.journal_->leaves;
  const std::vector<NodeId> before = std::exchange(leaves, {});
  for (const NodeId id : graph().order()) {
    if (is_leaf(graph().node(id))) leaves.push_back(id);
  }
  if (leaves != before) ++leaf_changes_;
}

void Trial::next_part() {
  if (bound_ == kNoNode) bound_ = editor_.first_new_;
  for (NodeId id = editor_.first_new_; id < graph().id_bound(); ++id) {
    if (is_leaf(graph().node(id))) editor_.journal_->leaves.push_back(id);
  }
  editor_.first_new_ = graph().id_bound();
  auto& edit = editor_.journal_->edit;
  edit.resize(static_cast<size_t>(bound_));
  edit.resize(static_cast<size_t>(graph().id_bound()), editor_.journal_->number);  // undo() drops them
  editor_.found_.clear();
}

void Trial::end_parts() {
  if (bound_ == kNoNode) return;
  editor_.first_new_ = std::exchange(bound_, kNoNode);
  const auto is_new = [&](NodeId id) { return id >= editor_.first_new_; };
  std::erase_if(editor_.touched_, is_new);
  std::erase_if(editor_.journal_->rewired, is_new);
}

const Delta& Trial::apply() {
  end_parts();
  remove_dead();
  apply_constants();
  auto& touched = editor_.touched_;
  std::ranges::sort(touched);
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  delta_.added.clear();
  delta_.touched.clear();
  for (const NodeId id : touched) {
    if (graph().contains(id)) delta_.touched.push_back(id);
  }
  for (NodeId id = editor_.first_new_; id < graph().id_bound(); ++id) {
    if (graph().contains(id)) delta_.added.push_back(id);
  }
  std::ranges::sort(delta_.removed);
  auto& rewired = editor_.journal_->rewired;
  std::ranges::sort(rewired);
  rewired.erase(std::unique(rewired.begin(), rewired.end()), rewired.end());
  return delta_;
}

void Trial::reads(std::vector<NodeId>& reads) const {
  const auto old = [&](NodeId id) {
    if (id < editor_.first_new_) reads.push_back(id);
  };
  for (const auto& saved : editor_.journal_->nodes) reads.push_back(saved.first);
  for (const NodeId id : editor_.touched_) reads.push_back(id);
  for (const NodeId id : editor_.journal_->looked) old(id);
}

// What the edit touched or made continues the stack.
void Trial::start_at_edit() {
  stack_.assign(editor_.touched_.begin(), editor_.touched_.end());
  for (NodeId id = editor_.first_new_; id < graph().id_bound(); ++id) stack_.push_back(id);
}

// In the unedited graph nothing is dead: only what the edit touched or made can be, and what such nodes alone need.
void Trial::remove_dead() {
  delta_.removed.clear();
  start_at_edit();
  while (!stack_.empty()) {
    const NodeId id = stack_.back();
    stack_.pop_back();
    const Node& node = graph().node(id);
    if (!node.info || !node.uses.empty() || node.op() == ops::Op::input || graph().is_output(id)) continue;
    const auto inputs = node.inputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      editor_.remove_use(inputs[i], {id, static_cast<int32_t>(i), inputs[i].port});
      stack_.push_back(inputs[i].node);
    }
    editor_.change(id) = Node();
    if (id < editor_.first_new_) delta_.removed.push_back(id);
  }
}

void Trial::apply_constants() {
  start_at_edit();
  while (!stack_.empty()) {
    const NodeId id = stack_.back();
    stack_.pop_back();
    const Node& node = graph().node(id);
    if (!node.info || node.inputs.empty() || !editor_.derive(id)) continue;
    editor_.touch(id);
    for (const Use& use : node.uses) {
      editor_.touch(use.user);
      stack_.push_back(use.user);
    }
  }
}

void Trial::undo() {
  Graph& graph = editor_.graph_;
  for (auto& [id, node] : editor_.journal_->nodes) graph.nodes_[static_cast<size_t>(id)] = std::move(node);
  graph.nodes_.resize(static_cast<size_t>(editor_.first_new_));
  std::erase_if(editor_.journal_->leaves, [&](NodeId id) { return id >= editor_.first_new_; });
  for (size_t k = 0; k < outputs_.size(); ++k) graph.outputs_[k].value = outputs_[k].value;
  start_edit();
}

bool Trial::keep() {
  if (!editor_.order_nodes()) {
    undo();
    RLGO_CHECK(editor_.order_nodes());
    return false;
  }
  Graph& graph = editor_.graph_;
  editor_.first_new_ = graph.id_bound();
  editor_.journal_->edit.resize(static_cast<size_t>(graph.id_bound()), 0);
  for (size_t k = 0; k < outputs_.size(); ++k) outputs_[k].value = graph.outputs_[k].value;
  if (changes_leaves()) find_leaves();
  start_edit();
  return true;
}

void Trial::start_edit() {
  auto& journal = *editor_.journal_;
  journal.nodes.clear();
  journal.looked.clear();
  journal.rewired.clear();
  journal.looked_at_leaves = false;
  ++journal.number;
  editor_.found_.clear();
  editor_.touched_.clear();
}

}  // namespace rlgo::graph
