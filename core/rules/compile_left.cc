// The left side: patterns, attribute tests, visiting orders. Every node gets a visiting order of its own: after an edit
// only matches that touch a changed node are looked for, and that node may stand at any place of the pattern.
#include <algorithm>
#include <functional>
#include <set>

#include "core/base/text.h"
#include "core/rules/compile.h"
#include "core/rules/value.h"

namespace rlgo::rules {

void Compiler::left_side() {
  if (text_.left.empty()) fail_at(text_.line, "the left side is empty; expected ?name = (op ...)");
  std::set<std::string> right_names;
  for (const auto& equation : text_.right) right_names.insert(equation.name);
  for (const auto& equation : text_.left) {
    if (equation.port >= 0 || equation.spread || equation.term.kind != Term::Kind::node || equation.term.spread) {
      fail_at(equation.line, "the left side names nodes: ?name = (op ...)");
    }
    first_of_.emplace(to_text(equation.term), &equation.term);
  }
  for (const auto& equation : text_.left) collect(equation.term, equation.name);
  if (terms_.size() > kMaxNodes) fail_at(text_.line, fmt::format("more than {} nodes on the left side", kMaxNodes));
  const std::vector<const Term*> textual = terms_;
  const auto first_root =
      std::ranges::find_if(text_.left, [&](const Equation& e) { return right_names.contains(e.name); });
  if (first_root == text_.left.end()) fail_at(text_.line, "the right side replaces no node of the left side");
  const auto root = std::ranges::find(terms_, &first_root->term);
  std::rotate(terms_.begin(), root, root + 1);

  for (size_t k = 0; k < terms_.size(); ++k) node_of_[terms_[k]] = static_cast<int32_t>(k);
  for (const auto& [term, first] : same_as_) node_of_[term] = node_of_.at(first);
  rule_.left.resize(terms_.size());
  for (const auto& equation : text_.left) {
    const int32_t index = node_of_[&equation.term];
    rule_.left[index].name = equation.name;
    rule_.left[index].replaced = right_names.contains(equation.name);
    declare(equation.name, {SlotKind::left, index, 0}, equation.line);
  }
  for (const Term* term : textual) declare_operands(*term);
  for (const Term* term : textual) declare_attributes(*term);
  for (size_t k = 0; k < terms_.size(); ++k) left_node(static_cast<int>(k));
  check_acyclic();
  for (size_t k = 0; k < terms_.size(); ++k) rule_.programs.push_back(program(static_cast<int>(k)));
  if (text_.before_first.empty()) return;
  for (const auto& [name, place] :
       {std::pair(text_.before_first, &rule_.before_first), std::pair(text_.before_second, &rule_.before_second)}) {
    const auto found = names_.find(name);
    if (found == names_.end() || found->second.kind != SlotKind::left)
      fail_at(text_.line, fmt::format("before: ?{} is no named node of the left side", name));
    *place = found->second.index;
  }
}

// Terms in textual order; a node before its nested operands. A nested term that stands there twice is one node: graphs
// hold equal nodes once.
void Compiler::collect(const Term& term, const std::string& name) {
  terms_.push_back(&term);
  const ops::Op op = operator_of(term);
  check_arity(term, op);
  if (name.empty() && op == ops::Op::split)
    fail_at(term.line, "a split must be named to distinguish its outputs: ?s = (split ...)");
  for (const auto& operand : term.operands) {
    if (operand.kind != Term::Kind::node) continue;
    if (operand.spread) fail_at(operand.line, "'...' behind a term is for the right side");
    const auto [first, is_new] = first_of_.emplace(to_text(operand), &operand);
    if (is_new) {
      collect(operand, "");
    } else {
      same_as_.emplace_back(&operand, first->second);
    }
  }
}

void Compiler::declare_operands(const Term& term) {
  for (const auto& operand : term.operands) {
    if (operand.kind != Term::Kind::name) continue;
    const auto found = names_.find(operand.text);
    if (found == names_.end()) {
      if (operand.port >= 0)
        fail_at(operand.line, fmt::format("?{}.{}: no split of that name on the left side{}", operand.text,
                                          operand.port, near_name(operand.text)));
      auto& table = operand.spread ? rule_.sequences : rule_.tensors;
      const auto kind = operand.spread ? SlotKind::sequence : SlotKind::tensor;
      const Slot slot{kind, new_slot(table, operand.spread ? kMaxSequences : kMaxTensors, operand.text, operand.line),
                      0};
      declare(operand.text, slot, operand.line);
      rule_.variables.push_back(slot);
    } else if ((found->second.kind == SlotKind::tensor && operand.spread) ||
               (found->second.kind == SlotKind::sequence && !operand.spread)) {
      fail_at(operand.line, fmt::format("?{} is used as one tensor and as a sequence", operand.text));
    }
  }
}

void Compiler::declare_attributes(const Term& term) {
  const auto bind = [&](const Expr& expr) {
    if (expr.kind != Expr::Kind::name) return;
    const auto found = names_.find(expr.text);
    if (found == names_.end()) {
      declare(expr.text, {SlotKind::attribute, new_slot(rule_.attributes, kMaxAttributes, expr.text, expr.line), 0},
              expr.line);
    } else if (found->second.kind != SlotKind::attribute) {
      fail_at(expr.line, fmt::format("?{} is a tensor, not an attribute", expr.text));
    }
  };
  for (const auto& attr : term.attrs) {
    bind(attr.value);
    if (attr.value.kind != Expr::Kind::list) continue;
    const bool plain = std::ranges::all_of(
        attr.value.args, [](const Expr& e) { return e.kind == Expr::Kind::name || e.kind == Expr::Kind::integer; });
    if (plain) std::ranges::for_each(attr.value.args, bind);
  }
}

namespace {

std::optional<Val> literal(const Expr& expr) {
  if (expr.kind == Expr::Kind::integer) return Val(expr.integer);
  if (expr.kind == Expr::Kind::real) return Val(expr.real);
  if (expr.kind == Expr::Kind::word) return Val(expr.text);
  if (expr.kind != Expr::Kind::list) return std::nullopt;
  ops::Ints items;
  for (const auto& item : expr.args) {
    if (item.kind != Expr::Kind::integer) return std::nullopt;
    items.push_back(item.integer);
  }
  return Val(items);
}

}  // namespace

void Compiler::left_node(int index) {
  const Term& term = *terms_[index];
  LeftNode& node = rule_.left[index];
  node.op = operator_of(term);
  node.several_outputs = node.op == ops::Op::split;
  for (const auto& operand : term.operands) {
    node.operands.push_back(left_operand(operand));
    node.spread |= node.operands.back().spread;
  }
  node.commutative = ops::spec(node.op).commutative && node.operands.size() == 2 && !node.spread;
  for (const auto& attr : term.attrs) left_attribute(node, index, attr);
  if (!term.bundle.empty()) {
    if (names_.contains(term.bundle))
      fail_at(term.line, fmt::format("?{} is used for attributes and for something else", term.bundle));
    const auto [place, is_new] = bundles_.emplace(term.bundle, static_cast<int32_t>(rule_.bundles.size()));
    if (is_new) new_slot(rule_.bundles, kMaxBundles, term.bundle, term.line);
    node.bundle = place->second;
    return;
  }
  for (const auto& attr : ops::spec(node.op).attrs) {
    if (std::ranges::find(node.mentioned, attr.key) != node.mentioned.end()) continue;
    if (attr.optional && node.op != ops::Op::slice) {
      node.fixed.emplace_back(attr.key, attr.fallback);
    } else {
      fail_at(term.line, fmt::format("{} has no default for '{}': mention it, or take all by ..?A", term.text,
                                     ops::name(attr.key)));
    }
  }
}

void Compiler::left_attribute(LeftNode& node, int index, const AttrTerm& attr) {
  const auto& known = attr_of(node.op, attr.key, attr.value.line);
  if (std::ranges::find(node.mentioned, known.key) != node.mentioned.end())
    fail_at(attr.value.line, fmt::format("'{}' is mentioned twice", attr.key));
  node.mentioned.push_back(known.key);
  check_word(node.op, known, attr.value);
  if (const auto value = literal(attr.value)) {
    const auto fixed = to_attr(*value, known.fallback);
    if (!fixed)
      fail_at(attr.value.line,
              fmt::format("'{}' of {} cannot be {}", attr.key, ops::name(node.op), to_text(attr.value)));
    node.fixed.emplace_back(known.key, *fixed);
    return;
  }
  const auto slot = [&](const Expr& expr, size_t kind) {
    const int32_t bound = names_.at(expr.text).index;
    if (attribute_kinds_.try_emplace(bound, kind).first->second != kind)
      fail_at(expr.line, fmt::format("?{} stands for attributes of different kinds: the rule never fits", expr.text));
    return bound;
  };
  AttrTest test{known.key, false, {}};
  if (attr.value.kind == Expr::Kind::name) {
    test.items.push_back({slot(attr.value, known.fallback.index()), 0});
  } else if (attr.value.kind == Expr::Kind::list && std::ranges::all_of(attr.value.args, [](const Expr& e) {
               return e.kind == Expr::Kind::name || e.kind == Expr::Kind::integer;
             })) {
    if (!std::holds_alternative<ops::Ints>(known.fallback))
      fail_at(attr.value.line, fmt::format("'{}' of {} is no list", attr.key, ops::name(node.op)));
    const size_t item_kind = ops::AttrValue(int64_t{}).index();
    test.is_list = true;
    for (const auto& item : attr.value.args) {
      test.items.push_back(item.kind == Expr::Kind::name ? AttrItem{slot(item, item_kind), 0}
                                                         : AttrItem{-1, item.integer});
    }
  } else {
    DeferredTest deferred{index, known.key, attr.value};
    resolve(deferred.expr);
    rule_.deferred.push_back(std::move(deferred));
    return;
  }
  node.tests.push_back(std::move(test));
}

Operand Compiler::left_operand(const Term& term) {
  if (term.kind == Term::Kind::node) return {Operand::Kind::left, node_of_.at(&term), 0, false, false};
  if (term.kind == Term::Kind::scalar) {
    const auto value = literal(term.value);
    if (!value || (value->index() != 2 && value->index() != 3))
      fail_at(term.line, "an operand constant on the left side must be a number; use value(?c) for more");
    rule_.scalars.push_back(term.value);
    return {Operand::Kind::scalar, static_cast<int32_t>(rule_.scalars.size()) - 1, 0, false, false};
  }
  const Slot slot = names_.at(term.text);
  if (slot.kind == SlotKind::tensor) return {Operand::Kind::tensor, slot.index, 0, false, false};
  if (slot.kind == SlotKind::sequence) return {Operand::Kind::sequence, slot.index, 0, true, false};
  if (slot.kind != SlotKind::left) fail_at(term.line, fmt::format("?{} is no tensor", term.text));
  const bool several = terms_[slot.index]->text == "split";
  if (several && term.port < 0 && !term.spread)
    fail_at(term.line, fmt::format("?{} has several outputs: write ?{}.0 or ?{}...", term.text, term.text, term.text));
  if (!several && (term.port > 0 || term.spread)) fail_at(term.line, fmt::format("?{} has one output", term.text));
  return {Operand::Kind::left, slot.index, std::max(term.port, 0), term.spread, false};
}

void Compiler::check_acyclic() const {
  std::vector<int> state(rule_.left.size(), 0);
  const std::function<void(int)> visit = [&](int k) {
    state[k] = 1;
    for (const auto& operand : rule_.left[k].operands) {
      if (operand.kind != Operand::Kind::left) continue;
      if (state[operand.index] == 1) fail_at(terms_[k]->line, "the left side contains itself");
      if (state[operand.index] == 0) visit(operand.index);
    }
    state[k] = 2;
  };
  for (size_t k = 0; k < rule_.left.size(); ++k) {
    if (state[k] == 0) visit(static_cast<int>(k));
  }
}

// Visits operands of known nodes first; then a reader of something known.
std::vector<MatchStep> Compiler::program(int anchor) const {
  std::vector<bool> known(rule_.left.size(), false), visited(rule_.left.size(), false),
      bound(rule_.tensors.size(), false);
  known[anchor] = true;
  std::vector<MatchStep> steps;
  const auto visit = [&](int node, int via) {
    steps.push_back({node, via});
    known[node] = visited[node] = true;
    for (const auto& operand : rule_.left[node].operands) {
      if (operand.kind == Operand::Kind::tensor) bound[operand.index] = true;
      if (operand.kind == Operand::Kind::left) known[operand.index] = true;
    }
  };
  const auto reachable = [&](const LeftNode& node) {
    for (size_t k = 0; k < node.operands.size(); ++k) {
      const auto& operand = node.operands[k];
      if (operand.kind == Operand::Kind::tensor && bound[operand.index]) return static_cast<int>(k);
      if (operand.kind == Operand::Kind::left && known[operand.index]) return static_cast<int>(k);
    }
    return -1;
  };
  while (steps.size() < rule_.left.size()) {
    int next = -1, via = -1;
    for (size_t k = 0; k < rule_.left.size() && next < 0; ++k) {
      if (known[k] && !visited[k]) next = static_cast<int>(k);
    }
    for (size_t k = 0; k < rule_.left.size() && next < 0; ++k) {
      if (visited[k] || (via = reachable(rule_.left[k])) < 0) continue;
      next = static_cast<int>(k);
    }
    if (next < 0) fail_at(text_.line, "the left side falls into parts that share no tensor");
    visit(next, known[next] ? -1 : via);
  }
  return steps;
}

}  // namespace rlgo::rules
