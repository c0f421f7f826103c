#include "core/rulegen/prove/mutants.h"

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/rulegen/prove/prove.h"
#include "core/rules/ranges.h"

namespace rlgo::rulegen {
namespace {

using rules::Expr;
using rules::Term;

const std::map<std::string, std::string>& likes() {
  static const std::map<std::string, std::string> kLikes{{"add", "sub"},
                                                         {"sub", "add"},
                                                         {"mul", "div"},
                                                         {"div", "mul"},
                                                         {"max", "min"},
                                                         {"min", "max"},
                                                         {"relu", "abs"},
                                                         {"abs", "relu"},
                                                         {"sigmoid", "tanh"},
                                                         {"tanh", "sigmoid"},
                                                         {"exp", "erf"},
                                                         {"erf", "exp"},
                                                         {"sqrt", "abs"},
                                                         {"neg", "relu"},
                                                         {"gelu", "relu"},
                                                         {"hard_swish", "relu"},
                                                         {"log", "neg"},
                                                         {"reduce_sum", "reduce_mean"},
                                                         {"reduce_mean", "reduce_sum"},
                                                         {"reduce_max", "reduce_mean"},
                                                         {"global_avg_pool", "relu"}};
  return kLikes;
}
const std::map<std::string, std::string>& comparisons() {
  static const std::map<std::string, std::string> kTurned{{"<=", ">="}, {">=", "<="}, {"<", ">"},
                                                          {">", "<"},   {"==", "!="}, {"!=", "=="}};
  return kTurned;
}

// Goes through all places of a rule in one order and makes the mistake with the wanted number.
class Mutator {
 public:
  Mutator(rules::RuleText& rule, int wanted) : rule_(rule), left_(wanted) {
    for (const auto& equation : rule.left) find_variables(equation.term);
  }

  // "" where there are fewer mistakes.
  std::string run() {
    for (size_t k = 0; k < rule_.conditions.size() && mistake_.empty(); ++k) {
      auto& condition = rule_.conditions[k];
      if (condition.let.empty() && here()) {
        mistake_ = "drops `when " + rules::to_text(condition.expr) + "`";
        rule_.conditions.erase(rule_.conditions.begin() + static_cast<ptrdiff_t>(k));
        return mistake_;
      }
      expression(condition.expr, "condition");
    }
    for (auto& equation : rule_.right) term(equation.term);
    return mistake_;
  }

 private:
  bool here() { return mistake_.empty() && left_-- == 0; }

  void find_variables(const Term& term) {
    if (term.kind == Term::Kind::name && term.port < 0 && !term.spread &&
        std::ranges::find(variables_, term.text) == variables_.end())
      variables_.push_back(term.text);
    for (const auto& operand : term.operands) find_variables(operand);
  }

  void term(Term& term) {
    if (term.kind == Term::Kind::name) {
      const auto at = std::ranges::find(variables_, term.text);
      if (at == variables_.end() || variables_.size() < 2 || term.spread || !here()) return;
      const auto next = at + 1 == variables_.end() ? variables_.begin() : at + 1;
      mistake_ = fmt::format("?{} in place of ?{}", *next, term.text);
      term.text = *next;
      return;
    }
    if (term.kind == Term::Kind::scalar) return expression(term.value, "number");
    if (const auto like = likes().find(term.text); like != likes().end() && term.attrs.empty() && here()) {
      mistake_ = like->second + " in place of " + term.text;
      term.text = like->second;
      return;
    }
    const auto op = ops::op_from_name(term.text);
    const bool ordered = op && !ops::spec(*op).commutative && term.operands.size() >= 2 && *op != ops::Op::conv2d;
    if (ordered && rules::to_text(term.operands[0]) != rules::to_text(term.operands[1]) && here()) {
      std::swap(term.operands[0], term.operands[1]);
      mistake_ = "operands of " + term.text + " exchanged";
      return;
    }
    for (auto& attr : term.attrs) attribute(term.text, attr);
    for (auto& operand : term.operands) this->term(operand);
  }

  void attribute(const std::string& op, rules::AttrTerm& attr) {
    auto& items = attr.value.args;
    if (attr.value.kind == Expr::Kind::list) {
      for (size_t k = 0; k < items.size(); ++k) {
        for (size_t m = k + 1; m < items.size(); ++m) {
          if (rules::to_text(items[k]) == rules::to_text(items[m]) || !here()) continue;
          std::swap(items[k], items[m]);
          mistake_ = fmt::format("{} of {}: items {} and {} exchanged", attr.key, op, k, m);
          return;
        }
      }
    }
    expression(attr.value, attr.key);
  }

  void expression(Expr& expr, const std::string& where) {
    if (expr.kind == Expr::Kind::integer && here()) {
      mistake_ = fmt::format("{}: {} in place of {}", where, expr.integer + 1, expr.integer);
      ++expr.integer;
      return;
    }
    if (expr.kind == Expr::Kind::real && expr.real != 0 && here()) {
      mistake_ = fmt::format("{}: sign of {} turned", where, expr.real);
      expr.real = -expr.real;
      return;
    }
    if (expr.kind == Expr::Kind::call) {
      if (const auto turned = comparisons().find(expr.text); turned != comparisons().end() && here()) {
        mistake_ = fmt::format("{}: {} in place of {}", where, turned->second, expr.text);
        expr.text = turned->second;
        return;
      }
      if ((expr.text == "+" || expr.text == "-") && expr.args.size() == 2 && here()) {
        mistake_ = fmt::format("{}: sign of a summand turned", where);
        expr.text = expr.text == "+" ? "-" : "+";
        return;
      }
      if ((expr.text == "min" || expr.text == "max") && here()) {
        mistake_ = where + ": min and max exchanged";
        expr.text = expr.text == "min" ? "max" : "min";
        return;
      }
    }
    for (auto& arg : expr.args) expression(arg, where);
  }

  rules::RuleText& rule_;
  int left_;  // places before the wanted one
  std::vector<std::string> variables_;
  std::string mistake_;
};

}  // namespace

std::string_view name(MutantFate fate) {
  constexpr std::string_view kNames[] = {"refuted", "impossible", "same", "proved", "survived"};
  return kNames[static_cast<size_t>(fate)];
}

std::vector<Mutant> mutants_of(const rules::RuleText& rule) {
  std::vector<Mutant> all;
  for (int k = 0;; ++k) {
    Mutant mutant{"", rule};
    mutant.mistake = Mutator(mutant.text, k).run();
    if (mutant.mistake.empty()) return all;
    if (rules::body_text(mutant.text) != rules::body_text(rule)) all.push_back(std::move(mutant));
  }
}

AxiomUnderTest::AxiomUnderTest(const rules::RuleText& axiom, const AxiomSet& axioms, const BoundedOptions& options)
    : name_(axiom.name),
      axioms_(axioms),
      // Over the reals, as the mutants: an axiom that is left out where numbers may grow too large is true there, too.
      axiom_(rules::over_reals(*rules::RuleSet::parse(rules::to_text(axiom), "axiom"))),
      first_(first_instances(*axiom_, 0, options)),
      options_(options) {
  options_.original = axiom_.get();
  options_.first = first_;
}

MutantResult AxiomUnderTest::judge(Mutant mutant) const {
  MutantResult result{name_, std::move(mutant), MutantFate::impossible, 0};
  std::shared_ptr<const rules::RuleSet> rule;
  try {
    rule = rules::RuleSet::parse(rules::to_text(result.mutant.text), "mutant");
  } catch (const Error&) {
    return result;
  }
  const auto bounded = check_bounded(*rule, 0, options_);
  result.instances = bounded.check.instances;
  if (bounded.check.verdict == CheckVerdict::different) result.fate = MutantFate::refuted;
  if (bounded.check.verdict == CheckVerdict::different) return result;
  if (bounded.check.instances == 0) {
    if (bounded.check.same > 0) result.fate = MutantFate::same;
    return result;
  }
  ProveOptions how;
  how.check = false;
  result.fate = prove(rule->rule(0), axioms_, how).derived() ? MutantFate::proved : MutantFate::survived;
  return result;
}

}  // namespace rlgo::rulegen
