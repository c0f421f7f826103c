#include "core/search/egraph_match.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/rules/proof_scope.h"

namespace rlgo::search {

using graph::Node;
using graph::NodeId;
using graph::Value;
using rules::Expr;
using rules::LeftNode;
using rules::Operand;

namespace {

bool asks_readers(const Expr& expr) {
  if (expr.calls(rules::Fn::uses)) return true;
  return std::ranges::any_of(expr.args, asks_readers);
}

// A condition without its parts that ask how often something is read.
bool holds(const Expr& expr, const rules::Scope& scope) {
  if (!asks_readers(expr)) return rules::is_true(rules::evaluate(expr, scope));
  if (!expr.calls(rules::Fn::logical_and)) return true;
  return std::ranges::all_of(expr.args, [&](const Expr& part) { return holds(part, scope); });
}

}  // namespace

bool EMatcher::at(NodeId id) {
  binding_.masks = {};
  if (assign(0, id)) step(0);
  return !ended_;
}

void EMatcher::step(size_t index) {
  if (ended_) return;
  const auto& program = rule_.programs[0];
  if (index == program.size()) {
    finish();
    return;
  }
  const auto [pattern, via] = program[index];
  if (via < 0) {
    visit(index, pattern);
    return;
  }
  const Operand& read = rule_.left[pattern].operands[via];
  const Value value =
      read.kind == Operand::Kind::tensor ? binding_.tensors[read.index] : Value{binding_.nodes[read.index], read.port};
  const auto saved = binding_.masks;
  for (const NodeId reader : egraph_.readers(egraph_.class_of(value))) {
    if (assign(pattern, reader)) visit(index, pattern);
    binding_.masks = saved;
  }
}

void EMatcher::visit(size_t index, int pattern) {
  const LeftNode& left = rule_.left[pattern];
  const Node& node = egraph_.graph().node(binding_.nodes[pattern]);
  const auto saved = binding_.masks;
  if ((left.spread || node.inputs.size() == left.operands.size()) && rules::bind_attributes(left, node, binding_)) {
    const auto tested = binding_.masks;
    SmallVector<Value, 8> inputs;
    for (const Value& input : node.inputs) inputs.push_back(egraph_.representative(input));
    const std::span<const Value> all(inputs.begin(), inputs.size());
    match_list(index, left, all, 0, 0);
    if (left.commutative && all[0] != all[1]) {
      binding_.masks = tested;
      const std::array<Value, 2> swapped{all[1], all[0]};
      match_list(index, left, swapped, 0, 0);
    }
  }
  binding_.masks = saved;
}

// `inputs` are representatives of their classes.
void EMatcher::match_list(size_t index, const LeftNode& pattern, std::span<const Value> inputs, size_t operand,
                          size_t input) {
  if (ended_) return;
  if (operand == pattern.operands.size()) {
    if (input == inputs.size()) step(index + 1);
    return;
  }
  const Operand& wanted = pattern.operands[operand];
  if (wanted.spread && wanted.kind == Operand::Kind::sequence) {
    match_sequence(index, pattern, inputs, operand, input);
  } else if (wanted.kind == Operand::Kind::left) {
    if (input < inputs.size()) match_outputs(index, pattern, inputs, operand, input);
  } else if (input < inputs.size() && rules::bind_input(rule_, egraph_.graph(), wanted, inputs[input], binding_)) {
    match_list(index, pattern, inputs, operand + 1, input + 1);
  }
}

// The operand is an output of another pattern node, or (spread) all of its outputs in order: any e-node of the class.
void EMatcher::match_outputs(size_t index, const LeftNode& pattern, std::span<const Value> inputs, size_t operand,
                             size_t input) {
  const Operand& wanted = pattern.operands[operand];
  const auto saved = binding_.masks;
  for (const Value& maker : egraph_.makers(egraph_.class_of(inputs[input]))) {
    binding_.masks = saved;
    if (maker.port != (wanted.spread ? 0 : wanted.port) || !assign(wanted.index, maker.node)) continue;
    const size_t count = wanted.spread ? egraph_.graph().node(maker.node).info->outputs.size() : 1;
    bool fits = input + count <= inputs.size();
    for (size_t k = 1; fits && k < count; ++k) {
      fits = egraph_.representative(Value{maker.node, static_cast<int32_t>(k)}) == inputs[input + k];
    }
    if (fits) match_list(index, pattern, inputs, operand + 1, input + count);
  }
  binding_.masks = saved;
}

// Every length that leaves enough inputs for the operands behind.
void EMatcher::match_sequence(size_t index, const LeftNode& pattern, std::span<const Value> inputs, size_t operand,
                              size_t input) {
  const Operand& wanted = pattern.operands[operand];
  auto& sequence = binding_.sequences[wanted.index];
  if (binding_.masks.sequences >> wanted.index & 1u) {
    const auto length = rules::bound_length(binding_, wanted.index, inputs.subspan(input));
    if (length) match_list(index, pattern, inputs, operand + 1, input + *length);
    return;
  }
  const auto saved = binding_.masks;
  const bool last = operand + 1 == pattern.operands.size();
  for (size_t length = last ? inputs.size() - input : 0; input + length <= inputs.size(); ++length) {
    sequence.assign(inputs.subspan(input, length));
    binding_.masks.sequences |= 1u << wanted.index;
    match_list(index, pattern, inputs, operand + 1, input + length);
    binding_.masks = saved;
  }
}

bool EMatcher::assign(int pattern, NodeId id) {
  return rules::may_stand_for(rule_, rule_.left[pattern], egraph_.graph().node(id)) &&
         rules::bind_node(rule_, pattern, id, binding_);
}

uint64_t EMatcher::place() const {
  uint64_t hash = rule_.hash;
  for (size_t k = 0; k < rule_.left.size(); ++k) hash = hash_combine(hash, static_cast<uint64_t>(binding_.nodes[k]));
  const auto mix = [&](Value value) {
    hash = hash_combine(hash_combine(hash, static_cast<uint64_t>(value.node)), static_cast<uint64_t>(value.port));
  };
  for (const rules::Slot& slot : rule_.variables) {
    if (slot.kind == rules::SlotKind::tensor) {
      mix(binding_.tensors[slot.index]);
    } else {
      for (const Value& value : binding_.sequences[slot.index]) mix(value);
    }
  }
  return hash;
}

void EMatcher::finish() {
  if (!rules::in_scope(rule_, egraph_.graph(), binding_)) return;
  // Two roots that may change places: one of the two orders is enough.
  if (rule_.before_first >= 0 && binding_.nodes[rule_.before_first] > binding_.nodes[rule_.before_second]) return;
  const uint64_t hash = place();
  if (wanted_ && !wanted_(hash)) return;
  const auto saved = binding_.masks;
  const rules::Scope scope{rule_, egraph_.graph(), binding_};
  const bool fits = rules::deferred_tests_hold(scope) &&
                    rules::conditions_hold(scope, binding_, [&](const Expr& expr) { return holds(expr, scope); });
  if (fits) {
    const auto plan = rules::make_plan(rule_, egraph_.graph(), binding_);
    if (plan && plan->changes) ended_ = sink_(hash, *plan);
  }
  binding_.masks = saved;
}

}  // namespace rlgo::search
