#include "core/rulegen/prove/sym_plan.h"

#include <algorithm>

namespace rlgo::rulegen::sym {

using rules::Expr;
using rules::Fn;
using rules::Operand;

namespace {

// False where the right side is named: the condition is never ready.
bool find_names(const Expr& expr, LeftPlan::Condition& out) {
  if (expr.kind == Expr::Kind::name || expr.slot.kind != rules::SlotKind::none) {
    const uint32_t bit = 1u << expr.slot.index;
    switch (expr.slot.kind) {
      case rules::SlotKind::tensor:
        out.tensors |= bit;
        break;
      case rules::SlotKind::sequence:
        out.sequences |= bit;
        break;
      case rules::SlotKind::left:
        out.nodes |= bit;
        break;
      case rules::SlotKind::right:
        return false;
      default:
        out.attributes |= bit;
    }
  }
  return std::ranges::all_of(expr.args, [&](const Expr& arg) { return find_names(arg, out); });
}

}  // namespace

bool LeftPlan::Condition::ready(const Binding& b) const {
  if ((attributes & ~b.masks.attributes) != 0 || (tensors & ~b.masks.tensors) != 0 ||
      (sequences & ~b.masks.sequences) != 0)
    return false;
  for (size_t k = 0; k < b.nodes.size(); ++k) {
    if ((nodes >> k & 1u) != 0 && b.nodes[k] < 0) return false;
  }
  return true;
}

LeftPlan::LeftPlan(const rules::CompiledRule& rule, bool all_windows) : ranks(rule, all_windows) {
  for (const auto& condition : rule.conditions) {
    if (condition.let >= 0) continue;
    find_hints(condition.expr);
    find_conditions(condition.expr);
  }
  for (const auto& [a, b] : same_rank) ranks.same(a, b);
  // Where the right side needs the value of a constant, the rule applies only where it has one.
  for (const auto& node : rule.right) {
    for (const auto& attr : node.attrs) find_values(attr.expr);
  }
  for (const auto& scalar : rule.scalars) find_values(scalar);
  find_around(rule);
}

namespace {

// How often lists and nodes are named, in operands and expressions.
class Uses {
 public:
  explicit Uses(const rules::CompiledRule& rule)
      : sequences(rule.sequences.size(), 0), left(rule.left.size(), 0), right(rule.right.size(), 0) {
    for (const auto& node : rule.left) {
      for (const auto& operand : node.operands) add(operand);
    }
    for (const auto& node : rule.right) {
      for (const auto& operand : node.operands) add(operand);
      for (const auto& attr : node.attrs) add(attr.expr);
    }
    for (const auto& replacement : rule.replacements) add(replacement.with);
    for (const auto& condition : rule.conditions) add(condition.expr);
    for (const auto& test : rule.deferred) add(test.expr);
    for (const auto& scalar : rule.scalars) add(scalar);
  }
  std::vector<int> sequences, left, right;

 private:
  void add(const Operand& operand) {
    const auto index = static_cast<size_t>(operand.index);
    if (operand.kind == Operand::Kind::sequence) ++sequences[index];
    if (operand.kind == Operand::Kind::left) ++left[index];
    if (operand.kind == Operand::Kind::right) ++right[index];
  }
  void add(const Expr& expr) {
    const auto index = static_cast<size_t>(expr.slot.index);
    if (expr.slot.kind == rules::SlotKind::sequence) ++sequences[index];
    if (expr.slot.kind == rules::SlotKind::left) ++left[index];
    if (expr.slot.kind == rules::SlotKind::right) ++right[index];
    for (const auto& arg : expr.args) add(arg);
  }
};

}  // namespace

void LeftPlan::find_around(const rules::CompiledRule& rule) {
  const Uses uses(rule);
  const auto single = [](const Operand& operand) { return !operand.spread; };
  for (const auto& replacement : rule.replacements) {
    const auto& old = rule.left[static_cast<size_t>(replacement.left)];
    if (replacement.with.kind != Operand::Kind::right || old.op != ops::Op::concat) continue;
    const auto& fresh = rule.right[static_cast<size_t>(replacement.with.index)];
    const bool alone = uses.left[static_cast<size_t>(replacement.left)] == 0 &&
                       uses.right[static_cast<size_t>(replacement.with.index)] == 1;
    if (!alone || fresh.op != ops::Op::concat || fresh.mapped || std::ranges::none_of(old.operands, single) ||
        std::ranges::none_of(fresh.operands, single))
      continue;
    for (const bool first : {true, false}) {
      const Operand &a = first ? old.operands.front() : old.operands.back(),
                    &b = first ? fresh.operands.front() : fresh.operands.back();
      if (a.kind == Operand::Kind::sequence && b.kind == a.kind && a.index == b.index &&
          uses.sequences[static_cast<size_t>(a.index)] == 2)
        around |= 1u << a.index;
    }
  }
}

void LeftPlan::find_conditions(const Expr& condition) {
  if (condition.calls(Fn::logical_and)) {
    for (const auto& arg : condition.args) find_conditions(arg);
    return;
  }
  constexpr size_t kMost = 64;
  Condition made;
  made.expr = &condition;
  if (find_names(condition, made) && conditions.size() < kMost) conditions.push_back(made);
}

void LeftPlan::find_values(const Expr& expr) {
  if (expr.calls(Fn::choose)) return;
  if (expr.kind == Expr::Kind::call && !expr.args.empty() && expr.args[0].slot.kind == rules::SlotKind::tensor) {
    const uint32_t bit = 1u << expr.args[0].slot.index;
    if (expr.calls(Fn::value)) asked_value |= bit;
    if (expr.calls(Fn::start) || expr.calls(Fn::step)) asked_rising |= bit;
    if (expr.calls(Fn::varies)) asked_varying |= bit;
  }
  for (const auto& arg : expr.args) find_values(arg);
}

// rank(?x) == 3, and value(?c), where the rule demands them for certain.
void LeftPlan::find_hints(const Expr& condition) {
  if (condition.kind != Expr::Kind::call) return;
  if (condition.calls(Fn::logical_and)) {
    find_hints(condition.args[0]);
    find_hints(condition.args[1]);
  }
  const auto tensor_call = [](const Expr& expr, Fn fn) {
    return expr.calls(fn) && expr.args[0].slot.kind == rules::SlotKind::tensor;
  };
  if (condition.calls(Fn::equal) && tensor_call(condition.args[0], Fn::rank) &&
      condition.args[1].kind == Expr::Kind::integer) {
    rank_hint[condition.args[0].args[0].slot.index] = static_cast<int>(condition.args[1].integer);
  }
  if (condition.calls(Fn::equal) &&
      (tensor_call(condition.args[0], Fn::rank) || tensor_call(condition.args[0], Fn::shape)) &&
      tensor_call(condition.args[1], condition.args[0].function)) {
    const int32_t a = condition.args[0].args[0].slot.index, b = condition.args[1].args[0].slot.index;
    same_rank.emplace_back(a, b);
    same_rank.emplace_back(b, a);
  }
  if (condition.calls(Fn::equal)) {
    for (size_t k = 0; k < 2; ++k) {
      const Expr &type = condition.args[k], &word = condition.args[1 - k];
      if (type.calls(Fn::dtype) && word.kind == Expr::Kind::name) same_type |= 1u << word.slot.index;
    }
  }
  if (condition.calls(Fn::logical_or) || condition.calls(Fn::logical_and) || condition.calls(Fn::logical_not)) return;
  find_values(condition);
}

}  // namespace rlgo::rulegen::sym
