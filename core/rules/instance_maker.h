// Builds a graph around an instance of a rule's left side, node by node, operands first.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/graph/editor.h"
#include "core/ops/moves.h"
#include "core/rules/instance_parts.h"

namespace rlgo::rules {

// What the left side leaves open the derived class D chooses; false and nothing: it does not fit together.
// - int64_t length(room): of a sequence that may have so many elements
// - Value fill(number): a constant of that number
// - std::optional<Value> valued(operand, draft): of a variable whose number conditions ask; nothing: a leaf
// - bool complete(draft): types and attributes that are open
// - Value leaf(left, place, slot, draft): what a variable stands for at its first use, of the draft's type at that
// place
// - bool is_output(): whether a node that is not replaced has outputs of the graph
// - kTypesAgree: whether a variable that a term names twice is drawn with one type
template <typename D>
class InstanceMaker {
 public:
  // The graph; nothing where the choices do not fit together.
  std::optional<graph::Graph> run() {
    nodes_.assign(rule_.left.size(), graph::kNoNode);
    for (size_t k = 0; k < rule_.left.size(); ++k) {
      if (!make(static_cast<int>(k))) return std::nullopt;
    }
    add_outputs(editor_, rule_, nodes_, [&] { return self().is_output(); });
    return editor_.finish();
  }

 protected:
  struct Slot {  // a variable's element; kind -1: none
    int kind = -1, index = 0, element = 0;
    bool is_tensor() const { return kind == static_cast<int>(Operand::Kind::tensor); }
    auto operator<=>(const Slot&) const = default;
  };

  explicit InstanceMaker(const CompiledRule& rule) : rule_(rule), editor_("instance") {
    for (const auto& condition : rule.conditions) asked_.look(condition.expr);
  }
  // A constant of indices, where conditions ask how those of the variable lie.
  std::optional<graph::Value> indices(const Slot& slot, int place, const Draft& draft, Rng& rng) {
    const auto at = static_cast<size_t>(place);
    const auto asks = [&](uint32_t bits) { return slot.is_tensor() && (bits >> slot.index & 1u) != 0; };
    if (!asks(asked_.rising | asked_.varying) || !ops::holds_places(draft.op, at)) return std::nullopt;
    const auto& type = *draft.types[at];
    const int64_t end = ops::places_end(draft.op, *draft.types[0], type, draft.attrs);
    const int64_t axis = draft.attrs.i(ops::Attr::axis);
    if (!asks(asked_.rising) && axis >= type.rank()) return std::nullopt;
    return editor_.op(ops::Op::literal, {}, literal_of_indices(type, asks(asked_.rising), axis, end, rng));
  }
  std::string next_name() { return "v" + std::to_string(leaves_++); }

  const CompiledRule& rule_;
  graph::Editor editor_;
  Asked asked_;
  int leaves_ = 0;  // made so far

 private:
  D& self() { return static_cast<D&>(*this); }

  bool make(int index) {
    if (nodes_[index] != graph::kNoNode) return true;
    const LeftNode& left = rule_.left[index];
    for (const auto& operand : left.operands) {
      if (operand.kind == Operand::Kind::left && !make(operand.index)) return false;
    }
    Draft draft;
    draft.op = left.op;
    attributes_.give(left, draft.attrs);
    for (const auto& test : left.tests) {
      if (test.is_list) draft.wanted_lengths[test.key] = test.items.size();
    }
    draft.indices = reads_indices(index);
    if (!known_operands(left, draft) || !self().complete(draft)) return false;
    for (size_t k = 0; k < values_.size(); ++k) {
      if (values_[k].node != graph::kNoNode) continue;
      const auto [held, is_new] = tensors_.try_emplace(slots_[k]);
      if (is_new) held->second = self().leaf(left, static_cast<int>(k), slots_[k], draft);
      if (D::kTypesAgree && editor_.type(held->second) != *draft.types[k]) return false;
      values_[k] = held->second;
    }
    attributes_.bind(left, draft.attrs);
    const auto id = editor_.try_add(left.op, values_, draft.attrs);
    if (!id || std::ranges::find(nodes_, *id) != nodes_.end()) return false;
    nodes_[index] = *id;
    return true;
  }

  bool reads_indices(int index) const {
    return std::ranges::any_of(rule_.left, [&](const LeftNode& reader) {
      for (size_t k = 0; k < reader.operands.size(); ++k) {
        const Operand& operand = reader.operands[k];
        if (operand.kind == Operand::Kind::left && operand.index == index && ops::holds_places(reader.op, k))
          return true;
      }
      return false;
    });
  }

  // Fills values_ (where the graph has the operand already) and the draft's types; the rest is left open.
  bool known_operands(const LeftNode& left, Draft& draft) {
    values_.clear();
    slots_.clear();
    const auto& spec = ops::spec(left.op);
    const auto spreads = std::ranges::count_if(left.operands, [](const Operand& o) { return o.spread; });
    const int64_t single = std::ssize(left.operands) - spreads;
    for (const auto& operand : left.operands) {
      if (operand.kind == Operand::Kind::sequence) {
        const auto [held, is_new] = lengths_.try_emplace(operand.index, 0);
        if (is_new) held->second = self().length(spec.max_inputs == ops::kAnyArity ? 2 : spec.max_inputs - single);
        for (int64_t k = 0; k < held->second; ++k) add_slot(operand, static_cast<int>(k), draft);
      } else if (operand.kind == Operand::Kind::left) {
        const auto ports = static_cast<int32_t>(editor_.node(nodes_[operand.index]).info->outputs.size());
        if (!operand.spread && operand.port >= ports) return false;
        const int32_t first = operand.spread ? 0 : operand.port, last = operand.spread ? ports : operand.port + 1;
        for (int32_t p = first; p < last; ++p) add_value({nodes_[operand.index], p}, draft);
      } else {
        add_slot(operand, 0, draft);
      }
    }
    return true;
  }

  void add_value(graph::Value value, Draft& draft) {
    values_.push_back(value);
    slots_.emplace_back();
    draft.types.emplace_back(editor_.type(value));
  }

  void add_slot(const Operand& operand, int element, Draft& draft) {
    const Slot slot{static_cast<int>(operand.kind), operand.index, element};
    if (operand.kind == Operand::Kind::scalar) {
      const Expr& number = rule_.scalars[operand.index];
      const bool whole = number.kind == Expr::Kind::integer;
      return add_value(self().fill(whole ? static_cast<double>(number.integer) : number.real), draft);
    }
    if (const auto held = tensors_.find(slot); held != tensors_.end()) return add_value(held->second, draft);
    if (slot.is_tensor() && (asked_.value >> operand.index & 1u)) {
      if (const auto value = self().valued(operand, draft)) return add_value(tensors_[slot] = *value, draft);
    }
    values_.emplace_back();
    slots_.push_back(slot);
    draft.types.emplace_back();
  }

  std::vector<graph::NodeId> nodes_;      // by left node
  std::map<Slot, graph::Value> tensors_;  // what variables stand for
  std::map<int, int64_t> lengths_;        // of sequences
  BoundAttributes attributes_;
  std::vector<graph::Value> values_;  // operands of the node in work
  std::vector<Slot> slots_;           // of those that are open
};

}  // namespace rlgo::rules
