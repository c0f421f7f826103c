// Turns the text of a rule into a CompiledRule. Used by compile.cc and its two halves, compile_left.cc and
// compile_right.cc; others call compile() of compiled.h.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/rules/compiled.h"

namespace rlgo::rules {

class Compiler {
 public:
  explicit Compiler(RuleText text) : text_(std::move(text)) {}
  CompiledRule run();  // throws Error as compile() does

 private:
  [[noreturn]] void fail_at(int line, const std::string& reason) const;
  ops::Op operator_of(const Term& term) const;
  const ops::AttrSpec& attr_of(ops::Op op, const std::string& key, int line) const;
  void check_word(ops::Op op, const ops::AttrSpec& attr, const Expr& value) const;
  void check_arity(const Term& term, ops::Op op) const;
  void declare(const std::string& name, Slot slot, int line);
  std::string near_name(const std::string& name) const;
  int32_t new_slot(std::vector<std::string>& table, int limit, const std::string& name, int line);
  // Looks names and functions up; every name in the expression must be bound by now.
  void resolve(Expr& expr);
  void resolve_tensor(Expr& call);

  // compile_left.cc
  void left_side();
  void collect(const Term& term, const std::string& name);
  void declare_operands(const Term& term);
  void declare_attributes(const Term& term);
  void left_node(int index);
  void left_attribute(LeftNode& node, int index, const AttrTerm& attr);
  Operand left_operand(const Term& term);
  void check_acyclic() const;
  std::vector<MatchStep> program(int anchor) const;

  // compile_right.cc
  void right_side();
  void right_equation(const Equation& equation);
  void replacement(const Equation& equation, int left, Operand with);
  Operand right_operand(const Term& term, bool mapped);
  Operand right_name(const Term& term, bool mapped);
  Operand right_scalar(const Term& term);
  Operand right_term(const Term& term, bool mapped);
  void right_attributes(const Term& term, RightNode& node);
  bool iterates(const RightNode& node) const;
  void check_replaced_unread() const;

  RuleText text_;
  CompiledRule rule_;
  std::map<std::string, Slot> names_;
  std::map<int32_t, size_t> attribute_kinds_;  // of attribute slots on the left side: index of the AttrValue
  std::map<std::string, Operand> aliases_;     // ?new = ?old on the right
  std::map<std::string, int32_t> bundles_;
  std::vector<const Term*> terms_;  // of left nodes
  std::map<const Term*, int32_t> node_of_;
  std::map<std::string, const Term*> first_of_;               // of left terms, by their text
  std::vector<std::pair<const Term*, const Term*>> same_as_;  // nested left terms that equal another one
};

}  // namespace rlgo::rules
