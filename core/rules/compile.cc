#include "core/rules/compile.h"

#include <algorithm>

#include "core/base/hash.h"
#include "core/base/text.h"
#include "core/rules/proof_scope.h"
#include "core/rules/value.h"

namespace rlgo::rules {

namespace {

std::vector<std::string> op_names() {
  std::vector<std::string> names;
  for (ops::Op op : ops::all_ops()) names.emplace_back(ops::name(op));
  return names;
}

// What each new value is computed from: right nodes are visited in order, so operands are known before readers.
struct Reads {
  uint32_t tensors = 0, sequences = 0, left = 0;
};
void add_reads(Reads& reads, const Operand& operand, const std::vector<Reads>& right) {
  if (operand.kind == Operand::Kind::tensor) reads.tensors |= 1u << operand.index;
  if (operand.kind == Operand::Kind::sequence) reads.sequences |= 1u << operand.index;
  if (operand.kind == Operand::Kind::left) reads.left |= 1u << operand.index;
  if (operand.kind == Operand::Kind::right) {
    reads.tensors |= right[operand.index].tensors;
    reads.sequences |= right[operand.index].sequences;
    reads.left |= right[operand.index].left;
  }
}

Reads above(const CompiledRule& rule, int node) {
  Reads reads;
  for (const auto& operand : rule.left[node].operands) {
    add_reads(reads, operand, {});
    if (operand.kind != Operand::Kind::left) continue;
    const Reads inner = above(rule, operand.index);
    reads.tensors |= inner.tensors;
    reads.sequences |= inner.sequences;
    reads.left |= inner.left;
  }
  return reads;
}

void find_cycle_risk(CompiledRule& rule) {
  std::vector<Reads> right;
  for (const auto& node : rule.right) {
    Reads reads;
    for (const auto& operand : node.operands) add_reads(reads, operand, right);
    right.push_back(reads);
  }
  uint32_t roots = 0;
  for (auto& replacement : rule.replacements) {
    Reads reads;
    add_reads(reads, replacement.with, right);
    replacement.tensors = reads.tensors;
    replacement.sequences = reads.sequences;
    replacement.left_nodes = reads.left;
    roots |= 1u << replacement.left;
  }
  rule.safe_tensors = rule.safe_sequences = rule.safe_left = ~0u;
  for (size_t k = 0; k < rule.left.size(); ++k) {
    if ((roots >> k & 1u) == 0) continue;
    const Reads reads = above(rule, static_cast<int>(k));
    rule.safe_tensors &= reads.tensors;
    rule.safe_sequences &= reads.sequences;
    rule.safe_left &= reads.left;
  }
  for (const auto& replacement : rule.replacements) {
    const bool safe = (replacement.tensors & ~rule.safe_tensors) == 0 &&
                      (replacement.sequences & ~rule.safe_sequences) == 0 &&
                      (replacement.left_nodes & ~rule.safe_left) == 0;
    if (!safe) rule.may_cycle = true;
  }
}

}  // namespace

void Compiler::fail_at(int line, const std::string& reason) const {
  throw Error(fmt::format("{}:{}: rule '{}': {}", text_.file, line, text_.name, reason));
}

ops::Op Compiler::operator_of(const Term& term) const {
  const auto op = ops::op_from_name(term.text);
  if (!op) fail_at(term.line, fmt::format("unknown operator '{}'{}", term.text, did_you_mean(term.text, op_names())));
  if (*op == ops::Op::input || *op == ops::Op::weight || *op == ops::Op::opaque) {
    fail_at(term.line, fmt::format("'{}' cannot stand in a rule; name its value by a ?variable", term.text));
  }
  return *op;
}

const ops::AttrSpec& Compiler::attr_of(ops::Op op, const std::string& key, int line) const {
  std::vector<std::string> known;
  for (const auto& attr : ops::spec(op).attrs) {
    if (ops::name(attr.key) == key) return attr;
    known.emplace_back(ops::name(attr.key));
  }
  fail_at(line, fmt::format("{} has no attribute '{}'{}", ops::name(op), key, did_you_mean(key, known)));
}

void Compiler::check_word(ops::Op op, const ops::AttrSpec& attr, const Expr& value) const {
  if (value.kind != Expr::Kind::word || attr.words.empty()) return;
  if (std::ranges::find(attr.words, value.text) != attr.words.end()) return;
  const std::vector<std::string> known(attr.words.begin(), attr.words.end());
  fail_at(value.line, fmt::format("'{}' of {} cannot be {}{}; it is one of: {}", ops::name(attr.key), ops::name(op),
                                  value.text, did_you_mean(value.text, known), join(known, " ")));
}

void Compiler::check_arity(const Term& term, ops::Op op) const {
  const auto& spec = ops::spec(op);
  int fixed = 0;
  bool open = false;
  for (const auto& operand : term.operands) {
    fixed += operand.spread ? 0 : 1;
    open |= operand.spread;
  }
  if (fixed > spec.max_inputs || (!open && fixed < spec.min_inputs)) {
    const auto range = spec.min_inputs == spec.max_inputs  ? std::to_string(spec.min_inputs)
                       : spec.max_inputs == ops::kAnyArity ? fmt::format("at least {}", spec.min_inputs)
                                                           : fmt::format("{} to {}", spec.min_inputs, spec.max_inputs);
    fail_at(term.line, fmt::format("{} takes {} operands, not {}", term.text, range, fixed));
  }
}

void Compiler::declare(const std::string& name, Slot slot, int line) {
  if (!names_.emplace(name, slot).second) fail_at(line, fmt::format("?{} is defined twice", name));
}

std::string Compiler::near_name(const std::string& name) const {
  std::vector<std::string> known;
  for (const auto& [key, slot] : names_) known.push_back(key);
  return did_you_mean(name, known);
}

int32_t Compiler::new_slot(std::vector<std::string>& table, int limit, const std::string& name, int line) {
  if (static_cast<int>(table.size()) >= limit) fail_at(line, fmt::format("more than {} names of one kind", limit));
  table.push_back(name);
  return static_cast<int32_t>(table.size()) - 1;
}

void Compiler::resolve(Expr& expr) {
  if (expr.kind == Expr::Kind::name) {
    const auto found = names_.find(expr.text);
    if (found == names_.end()) fail_at(expr.line, fmt::format("?{} is not bound{}", expr.text, near_name(expr.text)));
    expr.slot = found->second;
    if (expr.slot.kind != SlotKind::attribute) {
      fail_at(expr.line, fmt::format("?{} is a tensor; an expression may ask for dim(?{}, i), shape(?{}), ...",
                                     expr.text, expr.text, expr.text));
    }
    if (expr.port >= 0) fail_at(expr.line, fmt::format("?{} is an attribute and has no outputs", expr.text));
    return;
  }
  if (expr.kind == Expr::Kind::call) {
    expr.function = find_function(expr.text);
    if (expr.function == Fn::none) {
      std::vector<std::string> known;
      for (const auto& one : functions()) known.emplace_back(one.name);
      fail_at(expr.line, fmt::format("unknown function '{}'{}", expr.text, did_you_mean(expr.text, known)));
    }
    const Function& called = function(expr.function);
    const int count = static_cast<int>(expr.args.size());
    if (count < called.min_args || count > called.max_args) {
      fail_at(expr.line, fmt::format("{}() takes {} arguments, not {}", expr.text, called.min_args, count));
    }
    if (called.of_tensor) resolve_tensor(expr);
  }
  const bool of_tensor = expr.kind == Expr::Kind::call && function(expr.function).of_tensor;
  for (size_t k = of_tensor ? 1 : 0; k < expr.args.size(); ++k) resolve(expr.args[k]);
}

void Compiler::resolve_tensor(Expr& call) {
  Expr& tensor = call.args[0];
  if (tensor.kind != Expr::Kind::name) fail_at(call.line, fmt::format("{}() asks about a ?tensor", call.text));
  const auto found = names_.find(tensor.text);
  if (found == names_.end()) fail_at(call.line, fmt::format("?{} is not bound{}", tensor.text, near_name(tensor.text)));
  tensor.slot = found->second;
  if (tensor.slot.kind == SlotKind::attribute)
    fail_at(call.line, fmt::format("?{} is an attribute; {}() asks about a tensor", tensor.text, call.text));
  const bool node = tensor.slot.kind == SlotKind::left || tensor.slot.kind == SlotKind::right;
  if (tensor.port >= 0 && !node) fail_at(call.line, fmt::format("?{} has no outputs", tensor.text));
  if (call.function == Fn::uses && tensor.slot.kind != SlotKind::left) {
    fail_at(call.line, "uses() asks about a named node of the left side");
  }
  if (tensor.port >= 0) tensor.slot.port = tensor.port;
}

CompiledRule Compiler::run() {
  left_side();
  for (const auto& condition : text_.conditions) {
    CompiledCondition compiled{-1, condition.expr, condition.pays};
    resolve(compiled.expr);
    if (!condition.let.empty()) {
      compiled.let = new_slot(rule_.attributes, kMaxAttributes, condition.let, condition.line);
      declare(condition.let, {SlotKind::attribute, compiled.let, 0}, condition.line);
    }
    rule_.conditions.push_back(std::move(compiled));
  }
  right_side();
  find_cycle_risk(rule_);
  rule_.hash = hash_string(body_text(text_));
  rule_.of_constants = std::ranges::find(text_.tags, "constants") != text_.tags.end();
  rule_.text = std::move(text_);
  find_scope(rule_);
  return std::move(rule_);
}

CompiledRule compile(RuleText text) { return Compiler(std::move(text)).run(); }

}  // namespace rlgo::rules
