#include "core/rules/matcher.h"

#include <algorithm>
#include <cmath>
#include <utility>

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
  const std::span<const graph::Use> uses = graph_.node(read.node).uses;
  if (!pins_.empty()) {
    const auto first = std::ranges::lower_bound(uses, pins_[pattern], {}, &graph::Use::user);
    const auto last = std::ranges::upper_bound(uses, pins_[pattern], {}, &graph::Use::user);
    try_readers(index, read, {first, last}, false, false);
    return;
  }
  const auto near = std::ssize(uses) > kManyReaders ? next_to_matched(uses) : std::nullopt;
  try_readers(index, read, uses.subspan(near.value_or(0)), false, near.has_value());
  if (near) try_readers(index, read, uses.first(*near), true, true);
}

// Where among the readers of a node one stands that is matched already.
std::optional<size_t> Matcher::next_to_matched(std::span<const graph::Use> uses) const {
  for (size_t k = 0; k < rule_.left.size(); ++k) {
    if ((binding_.masks.nodes >> k & 1u) == 0) continue;
    const auto at = std::ranges::lower_bound(uses, binding_.nodes[k], {}, &graph::Use::user);
    if (at != uses.end() && at->user == binding_.nodes[k]) return static_cast<size_t>(at - uses.begin());
  }
  return std::nullopt;
}

// Of `bounded` readers only the first few.
void Matcher::try_readers(size_t index, Value read, std::span<const graph::Use> uses, bool backwards, bool bounded) {
  const int pattern = (*program_)[index].node;
  const auto saved = binding_.masks;
  const int64_t before = reported_, visited = visited_;
  const bool outside = std::exchange(bounded_, bounded_ || bounded);
  NodeId last = graph::kNoNode;
  int64_t tried = 0;
  for (size_t k = 0; k < uses.size(); ++k) {
    const graph::Use& use = backwards ? uses[uses.size() - 1 - k] : uses[k];
    if (use.port != read.port || use.user == last) continue;
    if (visited_ - visited > kMostVisited && pins_.empty()) break;
    if (bounded && (++tried > kManyReaders || reported_ - before >= kFewMatches)) break;
    last = use.user;  // uses are sorted by user: a reader of several inputs is tried once
    if (assign(pattern, use.user)) visit(index, pattern);
    binding_.masks = saved;
  }
  bounded_ = outside;
}

void Matcher::visit(size_t index, int pattern) {
  const LeftNode& left = rule_.left[pattern];
  const Node& node = graph_.node(binding_.nodes[pattern]);
  const auto saved = binding_.masks;
  const size_t count = left.operands.size();
  const bool arity = left.spread || node.inputs.size() == count;
  if (!arity || !bind_attributes(left, node, binding_)) {
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
    const auto length =
        input <= inputs.size() ? bound_length(binding_, wanted.index, inputs.subspan(input)) : std::nullopt;
    if (length) match_list(index, pattern, inputs, operand + 1, input + *length);
    return;
  }
  const auto behind =
      static_cast<size_t>(std::count_if(pattern.operands.begin() + static_cast<ptrdiff_t>(operand) + 1,
                                        pattern.operands.end(), [](const Operand& o) { return !o.spread; }));
  const bool last = operand + 1 == pattern.operands.size();
  const bool is_long = std::ssize(inputs) > kManyReaders;
  const int64_t reported = reported_, bound = bound_;
  const auto enough = [&] { return reported_ - reported >= kFewMatches || bound_ - bound >= kManyReaders; };
  for (size_t length = last ? inputs.size() - std::min(input, inputs.size()) : 0;
       input + length + behind <= inputs.size(); ++length) {
    if (length > static_cast<size_t>(rule_.max_list) || (is_long && enough())) return;
    if (!may_follow(std::span(pattern.operands).subspan(operand + 1), inputs.subspan(input + length))) continue;
    sequence.assign(inputs.subspan(input, length));
    binding_.masks.sequences |= 1u << wanted.index;
    match_list(index, pattern, inputs, operand + 1, input + length);
    binding_.masks = saved;
  }
}

// False where the operands behind a sequence cannot begin with these inputs.
bool Matcher::may_follow(std::span<const Operand> operands, std::span<const Value> inputs) const {
  for (size_t k = 0; k < std::min(operands.size(), inputs.size()); ++k) {
    const Operand& next = operands[k];
    Value bound;
    if (!next.spread && is_bound(next, &bound)) {
      if (inputs[k] != bound) return false;
    } else if (next.kind == Operand::Kind::left) {
      if (inputs[k].port != (next.spread ? 0 : next.port)) return false;
      if (!may_stand_for(rule_, rule_.left[next.index], graph_.node(inputs[k].node))) return false;
    }
    if (next.spread) return true;
  }
  return true;
}

bool Matcher::bind_operand(const Operand& operand, Value value) {
  if (operand.kind == Operand::Kind::left) return value.port == operand.port && assign(operand.index, value.node);
  return bind_input(rule_, graph_, operand, value, binding_);
}

// False where the node is another already, has another operator, or stands for another pattern node.
bool Matcher::assign(int pattern, NodeId id) {
  if (binding_.masks.nodes >> pattern & 1u) return binding_.nodes[pattern] == id;
  if (!may_stand_for(rule_, rule_.left[pattern], graph_.node(id))) return false;
  if (!pins_.empty() && pins_[pattern] != id) return false;
  if (!seen_.empty() && (seen_[id] == 2 || (seen_[id] == 1 && (asked_ >> pattern & 1u)))) return false;
  return bind_node(rule_, pattern, id, binding_);
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
  ++bound_;
  if (!in_scope(rule_, graph_, binding_)) return;
  const auto saved = binding_.masks;
  const Scope scope{rule_, graph_, binding_};
  if (!deferred_tests_hold(scope)) return;
  if (conditions_hold(scope, binding_, [&](const Expr& expr) { return is_true(evaluate(expr, scope)); })) {
    const auto plan = make_plan(rule_, graph_, binding_);
    if (!plan) ++misfits_;
    if (plan && plan->changes) report(*plan);
  }
  binding_.masks = saved;
}

void Matcher::report(const Plan& plan) {
  ++reported_;
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
  if (rule_.may_cycle) found.blocked = would_cycle(rule_, graph_, binding_, &found.sensitive, &visited_);
  if (found.blocked && bounded_) return;  // of the many that stand in a row only those that may be made
  (*sink_)(std::move(found), plan);
}

}  // namespace rlgo::rules
