#include "core/rules/ast.h"

#include <array>
#include <cmath>
#include <string_view>

#include "core/base/error.h"

namespace rlgo::rules {
namespace {

constexpr std::array<std::string_view, 13> kInfix{"or", "and", "==", "!=", "<", "<=", ">",
                                                  ">=", "+",   "-",  "*",  "/", "%"};

bool is_infix(const Expr& expr) {
  if (expr.kind != Expr::Kind::call || expr.args.size() != 2) return false;
  for (auto op : kInfix) {
    if (expr.text == op) return true;
  }
  return false;
}

std::string joined(const std::vector<Expr>& items) {
  std::string text;
  for (const auto& item : items) text += (text.empty() ? "" : ", ") + to_text(item);
  return text;
}

std::string name_text(const std::string& name, int port) {
  return port < 0 ? "?" + name : fmt::format("?{}.{}", name, port);
}

std::string call_text(const Expr& expr) {
  if (is_infix(expr)) return fmt::format("({} {} {})", to_text(expr.args[0]), expr.text, to_text(expr.args[1]));
  if (expr.text == "[]") return fmt::format("{}[{}]", to_text(expr.args[0]), to_text(expr.args[1]));
  if (expr.text == "neg") return fmt::format("(-{})", to_text(expr.args[0]));
  if (expr.text == "not") return fmt::format("(not {})", to_text(expr.args[0]));
  return fmt::format("{}({})", expr.text, joined(expr.args));
}

std::string equation_text(const Equation& equation) {
  return name_text(equation.name, equation.port) + (equation.spread ? "..." : "") + " = " + to_text(equation.term);
}

}  // namespace

std::string to_text(const Expr& expr) {
  switch (expr.kind) {
    case Expr::Kind::integer:
      return std::to_string(expr.integer);
    case Expr::Kind::real: {
      std::string text = fmt::format("{}", expr.real);
      if (text.find_first_of(".einf") == std::string::npos) text += ".0";
      return text;
    }
    case Expr::Kind::word:
      return expr.text;
    case Expr::Kind::list:
      return "[" + joined(expr.args) + "]";
    case Expr::Kind::name:
      return name_text(expr.text, expr.port);
    case Expr::Kind::call:
      return call_text(expr);
  }
  return {};
}

std::string to_text(const Term& term) {
  const char* spread = term.spread ? "..." : "";
  if (term.kind == Term::Kind::name) return name_text(term.text, term.port) + spread;
  if (term.kind == Term::Kind::scalar) return "{" + to_text(term.value) + "}";
  std::string text = "(" + term.text;
  for (const auto& operand : term.operands) text += " " + to_text(operand);
  for (const auto& attr : term.attrs) text += " " + attr.key + "=" + to_text(attr.value);
  if (!term.bundle.empty()) text += " ..?" + term.bundle;
  return text + ")" + spread;
}

std::string to_text(const ProofScope& scope) {
  std::string text = fmt::format("{}, ranks to {}", scope.all_types ? "all types" : "floats", scope.max_rank);
  if (scope.all_windows) text += ", windows of 1 to 3 axes";
  if (!scope.has_lists) return text;
  return text + (scope.max_list == ProofScope::kAnyLength ? ", lists of any length"
                                                          : fmt::format(", lists to {}", scope.max_list));
}

std::string body_text(const RuleText& rule) {
  std::string text = "rule " + rule.name + "\n";
  if (!rule.before_first.empty()) text += fmt::format("  before ?{} ?{}\n", rule.before_first, rule.before_second);
  for (const auto& equation : rule.left) text += "  " + equation_text(equation) + "\n";
  for (const auto& condition : rule.conditions) {
    const char* word = condition.pays ? "  pays " : "  when ";
    text += condition.let.empty() ? word : fmt::format("  let ?{} = ", condition.let);
    text += to_text(condition.expr) + "\n";
  }
  text += "  =>\n";
  for (const auto& equation : rule.right) text += "  " + equation_text(equation) + "\n";
  return text;
}

std::string to_text(const RuleText& rule) {
  std::string head = "rule " + rule.name + "\n";
  std::string text = head;
  if (!rule.tags.empty()) {
    text += "  tags";
    for (const auto& tag : rule.tags) text += " " + tag;
    text += "\n";
  }
  if (rule.proof != "unproved") {
    text += "  proof " + rule.proof;
    if (rule.proof == "proved") text += " for " + to_text(rule.scope) + ":";
    for (const auto& axiom : rule.axioms) text += " " + axiom;
    text += "\n";
  }
  return text + body_text(rule).substr(head.size());
}

}  // namespace rlgo::rules
