#include "core/rules/matcher.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/rules/proof_scope.h"

namespace rlgo::rules {

using graph::Node;
using graph::NodeId;
using graph::Value;

void Matcher::at(int anchor, NodeId id, const Sink& sink) {
  sink_ = &sink;
  program_ = &rule_.programs[anchor];
  binding_.masks = {};
  if (assign(anchor, id)) step(0);
}

void Matcher::pinned(std::span<const NodeId> nodes, const Sink& sink) {
  if (nodes.size() != rule_.left.size()) return;
  for (NodeId id : nodes) {
    if (!graph_.contains(id)) return;
  }
  pins_ = nodes;
  at(0, nodes[0], sink);
  pins_ = {};
}

void Matcher::step(size_t index) {
  if (index == program_->size()) {
    finish();
    return;
  }
  const auto [pattern, via] = (*program_)[index];
  if (via < 0) {
    visit(index, pattern);
    return;
  }
  Value read;
  RLGO_CHECK(is_bound(rule_.left[pattern].operands[via], &read));
  const auto saved = binding_.masks;
  NodeId last = graph::kNoNode;
  for (const graph::Use& use : graph_.node(read.node).uses) {
    if (use.port != read.port || use.user == last) continue;
    last = use.user;  // uses are sorted by user: a reader of several inputs is tried once
    if (assign(pattern, use.user)) visit(index, pattern);
    binding_.masks = saved;
  }
}

void Matcher::visit(size_t index, int pattern) {
  const LeftNode& left = rule_.left[pattern];
  const Node& node = graph_.node(binding_.nodes[pattern]);
  const auto saved = binding_.masks;
  const size_t count = left.operands.size();
  const bool arity = left.spread || node.inputs.size() == count;
  if (!arity || !test_attributes(left, node)) {
    binding_.masks = saved;
    return;
  }
  const auto tested = binding_.masks;
  const std::span<const Value> inputs = node.inputs;
  match_list(index, left, inputs, 0, 0);
  if (left.commutative && inputs[0] != inputs[1]) {
    binding_.masks = tested;
    const std::array<Value, 2> swapped{inputs[1], inputs[0]};
    match_list(index, left, swapped, 0, 0);
  }
  binding_.masks = saved;
}

bool Matcher::test_attributes(const LeftNode& pattern, const Node& node) {
  const ops::Attrs& attrs = node.attrs();
  for (const auto& [key, value] : pattern.fixed) {
    const auto* held = attrs.find(key);
    if (!held || *held != value) return false;
  }
  for (const auto& test : pattern.tests) {
    const auto* held = attrs.find(test.key);
    if (!held) return false;
    if (test.key == ops::Attr::shape && refers_to_input(node)) {
      if (!test_resolved(test, attribute_of(node, *held, test.key))) return false;
    } else if (!test_items(test, *held)) {
      return false;
    }
  }
  if (pattern.bundle < 0) return true;
  if (refers_to_input(node)) return false;  // elsewhere the same items may make another shape
  auto& slot = binding_.bundles[pattern.bundle];
  const Binding::BundleSlot here{&attrs, &pattern};
  if (binding_.masks.bundles >> pattern.bundle & 1u) return equal_bundles(slot, here);
  slot = here;
  binding_.masks.bundles |= 1u << pattern.bundle;
  return true;
}

bool Matcher::test_items(const AttrTest& test, const ops::AttrValue& value) {
  if (!test.is_list) return bind_attribute(test.items[0].slot, &value, 0);
  const auto* list = std::get_if<ops::Ints>(&value);
  if (!list || list->size() != test.items.size()) return false;
  for (size_t k = 0; k < list->size(); ++k) {
    const auto& item = test.items[k];
    if (item.slot < 0 ? item.number != (*list)[k] : !bind_attribute(item.slot, nullptr, (*list)[k])) return false;
  }
  return true;
}

// The same for a shape that refers to its reshape's input, given the extents that it makes.
bool Matcher::test_resolved(const AttrTest& test, const Val& value) {
  if (!test.is_list) return bind_value(test.items[0].slot, value);
  const auto extents = to_extents(value);
  if (!extents || extents->size() != test.items.size()) return false;
  for (size_t k = 0; k < extents->size(); ++k) {
    const auto& item = test.items[k];
    const bool fits =
        item.slot < 0 ? (*extents)[k].number() == item.number : bind_value(item.slot, from_extent((*extents)[k]));
    if (!fits) return false;
  }
  return true;
}

bool Matcher::bind_value(int slot, const Val& value) {
  auto& held = binding_.attributes[slot];
  if (binding_.masks.attributes >> slot & 1u)
    return held.attr ? equal(value, *held.attr) : has_value(value) && held.own == value;
  held.attr = nullptr;
  held.own = value;
  binding_.masks.attributes |= 1u << slot;
  return true;
}

// An attribute of a node, or (attr null) a number out of a list.
bool Matcher::bind_attribute(int slot, const ops::AttrValue* attr, int64_t number) {
  auto& held = binding_.attributes[slot];
  if (binding_.masks.attributes >> slot & 1u) {
    if (attr && held.attr) return *held.attr == *attr;
    if (attr) return equal(held.own, *attr);
    return held.attr ? equal(Val(number), *held.attr) : held.own == Val(number);
  }
  held.attr = attr;
  if (!attr) held.own = number;
  binding_.masks.attributes |= 1u << slot;
  return true;
}

void Matcher::match_list(size_t index, const LeftNode& pattern, std::span<const Value> inputs, size_t operand,
                         size_t input) {
  for (; operand < pattern.operands.size(); ++operand, ++input) {
    const Operand& wanted = pattern.operands[operand];
    if (wanted.spread) {
      bind_sequence(index, pattern, inputs, operand, input);
      return;
    }
    if (input >= inputs.size() || !bind_operand(wanted, inputs[input])) return;
  }
  if (input == inputs.size()) step(index + 1);
}

// Tries every length that leaves enough inputs for the operands behind.
void Matcher::bind_sequence(size_t index, const LeftNode& pattern, std::span<const Value> inputs, size_t operand,
                            size_t input) {
  const Operand& wanted = pattern.operands[operand];
  const auto saved = binding_.masks;
  if (wanted.kind == Operand::Kind::left) {  // all outputs of a node, in order
    if (input >= inputs.size() || inputs[input].port != 0) return;
    const NodeId id = inputs[input].node;
    if (!assign(wanted.index, id)) return;
    const size_t count = graph_.node(id).info->outputs.size();
    for (size_t k = 0; k < count; ++k) {
      if (input + k >= inputs.size() || inputs[input + k] != Value{id, static_cast<int32_t>(k)}) return;
    }
    match_list(index, pattern, inputs, operand + 1, input + count);
    return;
  }
  auto& sequence = binding_.sequences[wanted.index];
  if (binding_.masks.sequences >> wanted.index & 1u) {
    if (input + sequence.size() > inputs.size()) return;
    if (!std::equal(sequence.begin(), sequence.end(), inputs.begin() + static_cast<ptrdiff_t>(input))) return;
    match_list(index, pattern, inputs, operand + 1, input + sequence.size());
    return;
  }
  const auto behind =
      static_cast<size_t>(std::count_if(pattern.operands.begin() + static_cast<ptrdiff_t>(operand) + 1,
                                        pattern.operands.end(), [](const Operand& o) { return !o.spread; }));
  const bool last = operand + 1 == pattern.operands.size();
  for (size_t length = last ? inputs.size() - std::min(input, inputs.size()) : 0;
       input + length + behind <= inputs.size(); ++length) {
    sequence.assign(inputs.subspan(input, length));
    binding_.masks.sequences |= 1u << wanted.index;
    match_list(index, pattern, inputs, operand + 1, input + length);
    binding_.masks = saved;
  }
}

bool Matcher::bind_operand(const Operand& operand, Value value) {
  if (operand.kind == Operand::Kind::tensor) {
    auto& held = binding_.tensors[operand.index];
    if (binding_.masks.tensors >> operand.index & 1u) return held == value;
    held = value;
    binding_.masks.tensors |= 1u << operand.index;
    return true;
  }
  if (operand.kind == Operand::Kind::left) return value.port == operand.port && assign(operand.index, value.node);
  RLGO_CHECK(operand.kind == Operand::Kind::scalar);
  const auto number = uniform_value(graph_, value);
  const Expr& wanted = rule_.scalars[operand.index];
  const double target = wanted.kind == Expr::Kind::integer ? static_cast<double>(wanted.integer) : wanted.real;
  return number && is_near(*number, target);
}

// False where the node is another already, has another operator, or stands for another pattern node.
bool Matcher::assign(int pattern, NodeId id) {
  if (binding_.masks.nodes >> pattern & 1u) return binding_.nodes[pattern] == id;
  const Node& node = graph_.node(id);
  const LeftNode& left = rule_.left[pattern];
  if (node.op() != left.op || (left.replaced && node.constant && !rule_.of_constants)) return false;
  if (!pins_.empty() && pins_[pattern] != id) return false;
  if (!seen_.empty() && (seen_[id] == 2 || (seen_[id] == 1 && (asked_ >> pattern & 1u)))) return false;
  for (size_t k = 0; k < rule_.left.size(); ++k) {
    if ((binding_.masks.nodes >> k & 1u) && binding_.nodes[k] == id) return false;
  }
  binding_.nodes[pattern] = id;
  binding_.masks.nodes |= 1u << pattern;
  return true;
}

bool Matcher::is_bound(const Operand& operand, Value* value) const {
  if (operand.kind == Operand::Kind::tensor && (binding_.masks.tensors >> operand.index & 1u)) {
    *value = binding_.tensors[operand.index];
    return true;
  }
  if (operand.kind == Operand::Kind::left && (binding_.masks.nodes >> operand.index & 1u)) {
    *value = {binding_.nodes[operand.index], operand.port};
    return true;
  }
  return false;
}

void Matcher::finish() {
  if (!in_scope(rule_, graph_, binding_)) return;
  const auto saved = binding_.masks;
  const Scope scope{rule_, graph_, binding_};
  for (const auto& test : rule_.deferred) {
    const Node& node = graph_.node(binding_.nodes[test.node]);
    const auto* held = node.attrs().find(test.key);
    if (!held) return;
    const Val wanted = evaluate(test.expr, scope);
    const bool resolved = test.key == ops::Attr::shape && refers_to_input(node);
    if (resolved ? !has_value(wanted) || wanted != attribute_of(node, *held, test.key) : !equal(wanted, *held)) return;
  }
  bool holds = true;
  for (const auto& guard : rule_.guards) {
    Val value = evaluate(guard.expr, scope);
    if (guard.let < 0) {
      holds = is_true(value);
    } else {
      binding_.attributes[guard.let] = {nullptr, std::move(value)};
      binding_.masks.attributes |= 1u << guard.let;
    }
    if (!holds) break;
  }
  if (holds) {
    const auto plan = make_plan(rule_, graph_, binding_);
    if (!plan) ++misfits_;
    if (plan && plan->changes) report(*plan);
  }
  binding_.masks = saved;
}

void Matcher::report(const Plan& plan) {
  Found found;
  found.match.rule = rule_index_;
  found.match.nodes.assign(std::span<const NodeId>(binding_.nodes.data(), rule_.left.size()));
  for (const Slot& slot : rule_.variables) {
    if (slot.kind == SlotKind::tensor) {
      found.match.variables.push_back(binding_.tensors[slot.index]);
    } else {
      for (const Value& v : binding_.sequences[slot.index]) found.match.variables.push_back(v);
    }
  }
  found.signature = plan.signature;
  if (rule_.may_cycle) found.blocked = would_cycle(rule_, graph_, binding_, &found.sensitive);
  (*sink_)(std::move(found), plan);
}

}  // namespace rlgo::rules
