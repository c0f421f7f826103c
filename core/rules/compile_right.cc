// The right side: new nodes and what they replace. What can be wrong with a rule is refused here, with its line, so
// that applying it asks for nothing but types and cycles.
#include <algorithm>

#include "core/base/text.h"
#include "core/rules/compile.h"

namespace rlgo::rules {

void Compiler::right_side() {
  for (const auto& equation : text_.right) right_equation(equation);
  check_replaced_unread();
  for (const auto& node : rule_.left) {
    const bool done =
        std::ranges::any_of(rule_.replacements, [&](const Replacement& r) { return &rule_.left[r.left] == &node; });
    RLGO_CHECK(done == node.replaced);
  }
}

void Compiler::right_equation(const Equation& equation) {
  const auto found = names_.find(equation.name);
  if (found != names_.end() && found->second.kind == SlotKind::left) {
    const bool several = rule_.left[found->second.index].several_outputs;
    const bool list = equation.spread || (several && equation.port < 0);
    const Operand with = right_operand(equation.term, false);
    if (!list && with.spread)
      fail_at(equation.line, fmt::format("?{} is one tensor, its replacement is a list", equation.name));
    replacement(equation, found->second.index, with);
    return;
  }
  if (found != names_.end())
    fail_at(equation.line, fmt::format("?{} is bound already and is no node of the left side", equation.name));
  if (equation.port >= 0 || equation.spread)
    fail_at(equation.line, fmt::format("?{} is no node of the left side{}", equation.name, near_name(equation.name)));
  if (equation.term.kind == Term::Kind::node && !equation.term.spread) {
    const Operand made = right_term(equation.term, false);
    declare(equation.name, {SlotKind::right, made.index, 0}, equation.line);
  } else {
    const Operand alias = right_operand(equation.term, false);
    if (alias.spread) fail_at(equation.line, "a name stands for one tensor or node");
    if (alias.kind == Operand::Kind::right) {
      declare(equation.name, {SlotKind::right, alias.index, alias.port}, equation.line);
    } else {
      declare(equation.name,
              {alias.kind == Operand::Kind::left ? SlotKind::left : SlotKind::tensor, alias.index, alias.port},
              equation.line);
    }
    aliases_[equation.name] = alias;
  }
}

void Compiler::replacement(const Equation& equation, int left, Operand with) {
  const LeftNode& node = rule_.left[left];
  const int port = equation.spread || (node.several_outputs && equation.port < 0) ? -1 : std::max(equation.port, 0);
  if (!node.several_outputs && port != 0) fail_at(equation.line, fmt::format("?{} has one output", equation.name));
  // ?s... = ?t or a split: its outputs, one by one.
  if (port < 0 && !with.spread) {
    if (with.kind != Operand::Kind::right || !rule_.right[with.index].several_outputs) {
      fail_at(equation.line, fmt::format("?{} has several outputs, its replacement must be a list", equation.name));
    }
    with.spread = true;
  }
  for (const auto& other : rule_.replacements) {
    if (other.left == left && (other.port == port || other.port < 0 || port < 0))
      fail_at(equation.line, fmt::format("?{} is replaced twice", equation.name));
  }
  if (rule_.replacements.size() == 32) fail_at(equation.line, "more than 32 values are replaced");
  rule_.replacements.push_back({left, port, with, 0, 0, 0});
}

Operand Compiler::right_operand(const Term& term, bool mapped) {
  if (term.kind == Term::Kind::scalar) return right_scalar(term);
  if (term.kind == Term::Kind::name) return right_name(term, mapped);
  return right_term(term, mapped || term.spread);
}

Operand Compiler::right_name(const Term& term, bool mapped) {
  if (const auto alias = aliases_.find(term.text); alias != aliases_.end()) {
    if (term.port >= 0 || term.spread) fail_at(term.line, fmt::format("?{} is one tensor", term.text));
    return alias->second;
  }
  const auto found = names_.find(term.text);
  if (found == names_.end()) fail_at(term.line, fmt::format("?{} is not bound{}", term.text, near_name(term.text)));
  const Slot slot = found->second;
  if (slot.kind == SlotKind::attribute) fail_at(term.line, fmt::format("?{} is an attribute, not a tensor", term.text));
  if (slot.kind == SlotKind::tensor || slot.kind == SlotKind::sequence) {
    if (term.port >= 0) fail_at(term.line, fmt::format("?{} has no outputs", term.text));
    if (slot.kind == SlotKind::tensor && term.spread) fail_at(term.line, fmt::format("?{} is one tensor", term.text));
    if (slot.kind == SlotKind::tensor) return {Operand::Kind::tensor, slot.index, 0, false, false};
    if (!term.spread && !mapped)
      fail_at(term.line,
              fmt::format("?{} is a sequence: write ?{}..., or (op ... ?{} ...)...", term.text, term.text, term.text));
    return {Operand::Kind::sequence, slot.index, 0, term.spread, !term.spread};
  }
  const bool is_left = slot.kind == SlotKind::left;
  const bool several = is_left ? rule_.left[slot.index].several_outputs : rule_.right[slot.index].several_outputs;
  const auto kind = is_left ? Operand::Kind::left : Operand::Kind::right;
  if (!several && (term.port > 0 || term.spread)) fail_at(term.line, fmt::format("?{} has one output", term.text));
  if (several && term.port < 0 && !term.spread && !mapped)
    fail_at(term.line, fmt::format("?{} has several outputs: write ?{}.0 or ?{}...", term.text, term.text, term.text));
  return {kind, slot.index, std::max(term.port, 0), term.spread, several && term.port < 0 && !term.spread};
}

Operand Compiler::right_scalar(const Term& term) {
  Expr expr = term.value;
  resolve(expr);
  rule_.scalars.push_back(std::move(expr));
  return {Operand::Kind::scalar, static_cast<int32_t>(rule_.scalars.size()) - 1, 0, false, false};
}

Operand Compiler::right_term(const Term& term, bool mapped) {
  RightNode node;
  node.op = operator_of(term);
  node.several_outputs = node.op == ops::Op::split;
  check_arity(term, node.op);
  for (const auto& operand : term.operands) {
    Operand made = right_operand(operand, mapped);
    if (made.kind == Operand::Kind::right && operand.kind == Term::Kind::node) {
      if (rule_.right[made.index].several_outputs && !operand.spread)
        fail_at(operand.line, "a split must be named to distinguish its outputs: ?s = (split ...)");
      made.spread = operand.spread;
      // A nested term is made once a round where it has elements itself; else once.
      made.element = mapped && !operand.spread && rule_.right[made.index].mapped;
    }
    node.operands.push_back(made);
  }
  node.mapped = mapped && iterates(node);
  if (term.spread && !node.mapped) fail_at(term.line, "nothing inside this term is a sequence to go through");
  if (node.mapped && node.several_outputs) fail_at(term.line, "a split cannot be made for each element");
  right_attributes(term, node);
  rule_.right.push_back(std::move(node));
  if (rule_.right.size() > 64) fail_at(term.line, "more than 64 nodes on the right side");
  return {Operand::Kind::right, static_cast<int32_t>(rule_.right.size()) - 1, 0, term.spread, false};
}

bool Compiler::iterates(const RightNode& node) const {
  return std::ranges::any_of(node.operands, [](const Operand& o) { return o.element; });
}

void Compiler::right_attributes(const Term& term, RightNode& node) {
  std::vector<ops::Attr> mentioned;
  for (const auto& attr : term.attrs) {
    const auto& known = attr_of(node.op, attr.key, attr.value.line);
    if (std::ranges::find(mentioned, known.key) != mentioned.end())
      fail_at(attr.value.line, fmt::format("'{}' is mentioned twice", attr.key));
    mentioned.push_back(known.key);
    check_word(node.op, known, attr.value);
    RightAttr made{known.key, known.fallback, attr.value};
    resolve(made.expr);
    node.attrs.push_back(std::move(made));
  }
  if (!term.bundle.empty()) {
    const auto found = bundles_.find(term.bundle);
    if (found == bundles_.end()) fail_at(term.line, fmt::format("..?{} is not bound on the left side", term.bundle));
    node.bundle = found->second;
  }
  for (const auto& attr : ops::spec(node.op).attrs) {
    if (attr.optional) {
      node.defaults.set(attr.key, attr.fallback);
    } else if (node.bundle < 0 && std::ranges::find(mentioned, attr.key) == mentioned.end()) {
      fail_at(term.line, fmt::format("{} needs the attribute '{}'", term.text, ops::name(attr.key)));
    }
  }
}

// A replaced value that the right side reads would read itself.
void Compiler::check_replaced_unread() const {
  const auto check = [&](const Operand& operand) {
    if (operand.kind != Operand::Kind::left) return;
    for (const auto& replacement : rule_.replacements) {
      const bool all = operand.spread || operand.element;
      if (replacement.left == operand.index && (replacement.port < 0 || all || replacement.port == operand.port)) {
        fail_at(text_.line,
                fmt::format("?{} is replaced, so the right side cannot read it", rule_.left[operand.index].name));
      }
    }
  };
  for (const auto& node : rule_.right) std::ranges::for_each(node.operands, check);
  for (const auto& replacement : rule_.replacements) check(replacement.with);
}

}  // namespace rlgo::rules
