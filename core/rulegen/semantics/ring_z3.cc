#include "core/rulegen/semantics/ring_z3.h"

#include <z3++.h>

#include <bit>
#include <cmath>
#include <mutex>
#include <set>
#include <unordered_set>

#include "core/base/error.h"
#include "core/base/resident.h"
#include "core/rulegen/semantics/rational.h"
#include "core/rulegen/semantics/real.h"
#include "core/rulegen/semantics/ring_power.h"

namespace rlgo::rulegen {
namespace {

constexpr size_t kMostPairs = 24;        // applications of one function that are compared with each other
constexpr size_t kMostProved = 100'000;  // pairs that are remembered

// Pairs of terms that are equal, as text without the names of variables, of all rings: what an operator does to single
// elements is asked again for each shape.
class Proved {
 public:
  bool has(const std::string& pair) {
    const std::lock_guard lock(mutex_);
    return pairs_.contains(pair);
  }
  void add(std::string pair) {
    const std::lock_guard lock(mutex_);
    if (pairs_.size() >= kMostProved) pairs_.clear();
    pairs_.insert(std::move(pair));
  }

 private:
  std::mutex mutex_;
  std::unordered_set<std::string> pairs_;
};
Proved& proved() {
  static Proved pairs;
  return pairs;
}

struct Term {
  z3::expr expr;
  std::vector<int32_t> operands;
  std::optional<Rational> value;  // of a constant
  std::optional<Fn> fn;           // an application: fn(operands[0])
  bool divides = false;           // by operands[1]
  bool positive = false;          // a variable that is
};

}  // namespace

struct Z3Ring::Terms {
  z3::context context;
  std::vector<Term> list;
  std::map<unsigned, Element> by_id;  // of Z3's terms, which are kept alive by `list`
  unsigned effort = 0;

  z3::expr& expr(Element e) { return list[static_cast<size_t>(e)].expr; }
  const std::optional<Rational>& value(Element e) const { return list[static_cast<size_t>(e)].value; }
  Element keep(Term term) {
    const auto [held, fresh] = by_id.try_emplace(Z3_get_ast_id(context, term.expr), static_cast<Element>(list.size()));
    if (fresh) list.push_back(std::move(term));
    return held->second;
  }
  z3::expr rational(int64_t num, int64_t den) {
    return context.real_val((std::to_string(num) + "/" + std::to_string(den)).c_str());
  }
  // All terms below, each once.
  void collect(Element e, std::set<Element>& seen) const {
    std::vector<Element> open{e};
    while (!open.empty()) {
      const Element at = open.back();
      open.pop_back();
      if (!seen.insert(at).second) continue;
      for (Element operand : list[static_cast<size_t>(at)].operands) open.push_back(operand);
    }
  }
  // That no divisor is 0 and roots and logarithms have values.
  z3::expr has_value(const std::set<Element>& terms) {
    z3::expr_vector all(context);
    for (Element e : terms) {
      const Term& term = list[static_cast<size_t>(e)];
      if (term.divides) all.push_back(expr(term.operands[1]) != 0);
      if (term.fn == Fn::sqrt) all.push_back(expr(term.operands[0]) >= 0);
      if (term.fn == Fn::log) all.push_back(expr(term.operands[0]) > 0);
    }
    return z3::mk_and(all);
  }
  // The terms as text in which only the names of variables are lost.
  void write(Element e, std::map<Element, int>& seen, std::string& text) {
    const auto [held, fresh] = seen.try_emplace(e, static_cast<int>(seen.size()));
    if (!fresh) {
      text += fmt::format(" #{}", held->second);
      return;
    }
    const Term& term = list[static_cast<size_t>(e)];
    if (term.value) {
      text += fmt::format(" {}/{}", term.value->num, term.value->den);
    } else if (term.operands.empty()) {
      text += term.positive ? " +" : " v";
    } else {
      // Of a case distinction, the kind of its condition (>= or <=) as well.
      const bool cases = term.expr.is_ite();
      text += fmt::format(" ({}{}", term.expr.decl().name().str(), cases ? term.expr.arg(0).decl().name().str() : "");
      const std::vector<Element> operands = term.operands;
      for (Element operand : operands) write(operand, seen, text);
      text += ")";
    }
  }
  void assert_facts(z3::solver& solver, const std::set<Element>& terms);
  void facts_of(z3::solver& solver, Fn fn, const z3::expr& x, const z3::expr& y);
  void facts_of_sigmoids(z3::solver& solver, const std::vector<Element>& sigmoids, const std::vector<Element>& exps);
};

void Z3Ring::Terms::facts_of(z3::solver& solver, Fn fn, const z3::expr& x, const z3::expr& y) {
  switch (fn) {
    case Fn::exp:
      solver.add(y > 0);
      solver.add((x >= 0) == (y >= 1) && (x <= 0) == (y <= 1));
      break;
    case Fn::log:
      solver.add(z3::implies(x > 0, (x >= 1) == (y >= 0) && (x <= 1) == (y <= 0)));
      break;
    case Fn::sqrt:
      solver.add(z3::implies(x >= 0, y >= 0 && y * y == x));
      if (x.decl().decl_kind() == Z3_OP_MUL && x.num_args() == 2 && z3::eq(x.arg(0), x.arg(1)))
        solver.add(y == z3::ite(x.arg(0) >= 0, x.arg(0), -x.arg(0)));
      break;
    case Fn::sigmoid:
      solver.add(y > 0 && y < 1);
      solver.add((x >= 0) == (2 * y >= 1) && (x <= 0) == (2 * y <= 1));
      break;
    case Fn::softplus:
      solver.add(y > 0 && y > x);
      break;
    default:  // erf, tanh
      solver.add(y > -1 && y < 1);
      solver.add((x >= 0) == (y >= 0) && (x <= 0) == (y <= 0));
  }
}

// sigmoid(x) = 1 / (exp(-x) + 1), for the exponentials that occur.
void Z3Ring::Terms::facts_of_sigmoids(z3::solver& solver, const std::vector<Element>& sigmoids,
                                      const std::vector<Element>& exps) {
  if (sigmoids.size() * exps.size() > kMostPairs) return;
  const auto input = [&](Element e) { return expr(list[static_cast<size_t>(e)].operands[0]); };
  for (const Element s : sigmoids) {
    for (const Element e : exps)
      solver.add(z3::implies(input(s) + input(e) == 0, expr(s) == 1 / (expr(e) + 1) && expr(s) * (expr(e) + 1) == 1));
  }
}

void Z3Ring::Terms::assert_facts(z3::solver& solver, const std::set<Element>& terms) {
  std::map<Fn, std::vector<Element>> applications;
  for (Element e : terms) {
    const Term& term = list[static_cast<size_t>(e)];
    if (term.positive) solver.add(term.expr > 0);
    if (!term.fn || !has_laws(*term.fn)) continue;
    facts_of(solver, *term.fn, expr(term.operands[0]), term.expr);
    applications[*term.fn].push_back(e);
  }
  facts_of_sigmoids(solver, applications[Fn::sigmoid], applications[Fn::exp]);
  for (const auto& [fn, all] : applications) {
    if (all.size() > kMostPairs) continue;
    const auto input = [&](Element e) { return expr(list[static_cast<size_t>(e)].operands[0]); };
    const auto defined = [&, fn = fn](Element e) {
      if (fn == Fn::log) return input(e) > 0;
      return fn == Fn::sqrt ? input(e) >= 0 : context.bool_val(true);
    };
    for (size_t a = 0; a < all.size(); ++a) {
      for (size_t b = 0; b < a; ++b) {
        solver.add(z3::implies(defined(all[a]) && defined(all[b]),
                               (input(all[a]) <= input(all[b])) == (expr(all[a]) <= expr(all[b])) &&
                                   (input(all[a]) >= input(all[b])) == (expr(all[a]) >= expr(all[b]))));
        if (fn == Fn::softplus)
          solver.add(z3::implies(input(all[a]) + input(all[b]) == 0, expr(all[a]) - expr(all[b]) == input(all[a])));
      }
    }
  }
}

Z3Ring::Z3Ring(int64_t most_terms, unsigned effort) : most_terms_(most_terms) {
  keep_freed_memory();  // a context takes megabytes, and each instance of a rule has its own
  terms_ = std::make_unique<Terms>();
  terms_->effort = effort;
  ratio(0, 1);  // element 0
}
Z3Ring::~Z3Ring() = default;

Z3Ring::Element Z3Ring::variable(uint64_t key, bool positive) {
  const auto [held, fresh] = variables_.try_emplace(key, 0);
  if (fresh) {
    Term term{
        terms_->context.real_const(("v" + std::to_string(variables_.size())).c_str()), {}, {}, {}, false, positive};
    held->second = terms_->keep(std::move(term));
  }
  return held->second;
}

Z3Ring::Element Z3Ring::ratio(int64_t num, int64_t den) {
  const Rational value = Rational::of(num, den);
  failed_ = failed_ || value.overflow;
  return failed_ && value.overflow ? 0 : terms_->keep({terms_->rational(value.num, value.den), {}, value, {}});
}

Z3Ring::Element Z3Ring::number(double value) {
  const Real real = real_of(value);
  if (!real.exact) {
    const Element unknown = variable(mix64(std::bit_cast<uint64_t>(std::abs(real.value))), true);
    return real.value < 0 ? neg(unknown) : unknown;
  }
  const Element rational = ratio(real.num, real.den);
  return real.root == 1 ? rational : mul(rational, apply(Fn::sqrt, integer(real.root)));
}

Z3Ring::Element Z3Ring::add(Element a, Element b) {
  if (failed_ || a == 0) return b;
  if (b == 0) return a;
  const auto &x = terms_->value(a), &y = terms_->value(b);
  if (x && y) {
    const Rational sum = *x + *y;
    return sum.overflow ? (failed_ = true, 0) : ratio(sum.num, sum.den);
  }
  failed_ = failed_ || static_cast<int64_t>(terms_->list.size()) > most_terms_;
  return terms_->keep({terms_->expr(a) + terms_->expr(b), {a, b}, {}, {}});
}

Z3Ring::Element Z3Ring::neg(Element a) { return mul(integer(-1), a); }
Z3Ring::Element Z3Ring::sub(Element a, Element b) { return add(a, neg(b)); }

Z3Ring::Element Z3Ring::mul(Element a, Element b) {
  if (failed_ || a == 0 || b == 0) return 0;
  const auto &x = terms_->value(a), &y = terms_->value(b);
  const Rational one{1, 1, false};
  if (x == one) return b;
  if (y == one) return a;
  if (x && y) {
    const Rational product = *x * *y;
    return product.overflow ? (failed_ = true, 0) : ratio(product.num, product.den);
  }
  failed_ = failed_ || static_cast<int64_t>(terms_->list.size()) > most_terms_;
  return terms_->keep({terms_->expr(a) * terms_->expr(b), {a, b}, {}, {}});
}

Z3Ring::Element Z3Ring::div(Element a, Element b) {
  if (failed_) return 0;
  const auto divisor = terms_->value(b);
  if (divisor && !divisor->is_zero()) return mul(ratio(divisor->den, divisor->num), a);
  Term term{terms_->expr(a) / terms_->expr(b), {a, b}, {}, {}};
  term.divides = true;
  return terms_->keep(std::move(term));
}

Z3Ring::Element Z3Ring::extremum(std::span<const Element> items, bool largest) {
  Element best = items[0];
  for (Element item : items.subspan(1)) {
    if (failed_ || item == best) continue;
    const auto a = terms_->value(best), b = terms_->value(item);
    if (a && b) {
      const bool second = largest ? Rational::compare(*b, *a) > 0 : Rational::compare(*b, *a) < 0;
      best = second ? item : best;
      continue;
    }
    const z3::expr x = terms_->expr(best), y = terms_->expr(item);
    best = terms_->keep({z3::ite(largest ? x >= y : x <= y, x, y), {best, item}, {}, {}});
  }
  return best;
}
Z3Ring::Element Z3Ring::maximum(std::span<const Element> items) { return extremum(items, true); }
Z3Ring::Element Z3Ring::minimum(std::span<const Element> items) { return extremum(items, false); }

Z3Ring::Element Z3Ring::apply(Fn fn, Element x) {
  if (failed_) return 0;
  const z3::sort real = terms_->context.real_sort();
  const z3::func_decl function = terms_->context.function(fn_name(fn), real, real);
  return terms_->keep({function(terms_->expr(x)), {x}, {}, fn});
}

Z3Ring::Element Z3Ring::power(Element base, Element exponent) {
  if (const auto spelled = spelled_power(*this, base, terms_->value(exponent))) return *spelled;
  if (failed_) return 0;
  const z3::sort real = terms_->context.real_sort();
  const z3::func_decl function = terms_->context.function("pow", real, real, real);
  return terms_->keep({function(terms_->expr(base), terms_->expr(exponent)), {base, exponent}, {}, {}});
}

std::optional<int64_t> Z3Ring::whole(Element x) const {
  const auto& value = terms_->value(x);
  return value && value->den == 1 ? std::optional(value->num) : std::nullopt;
}

Z3Ring::Answer Z3Ring::prove_equal(Element a, Element b) {
  if (failed_) return Answer::open;
  if (a == b) return Answer::equal;
  std::map<Element, int> seen;
  std::string pair = std::to_string(terms_->effort);
  terms_->write(a, seen, pair);
  terms_->write(b, seen, pair);
  if (proved().has(pair)) return Answer::equal;
  try {
    std::set<Element> left, right;
    terms_->collect(a, left);
    terms_->collect(b, right);
    // Not Z3's default arithmetic: that calls a procedure for polynomials (nlsat) which heeds no limit.
    constexpr unsigned kLinearWithGroebner = 2;
    z3::solver solver(terms_->context, z3::solver::simple());
    z3::params limits(terms_->context);
    limits.set("rlimit", terms_->effort);
    limits.set("arith.solver", kLinearWithGroebner);
    solver.set(limits);
    std::set<Element> both = left;
    both.insert(right.begin(), right.end());
    terms_->assert_facts(solver, both);
    solver.add(terms_->has_value(left));
    solver.add(!(terms_->has_value(right) && terms_->expr(a) == terms_->expr(b)));
    const z3::check_result result = solver.check();
    if (result == z3::unknown && solver.reason_unknown().find("incomplete") == std::string::npos) gave_up_ = true;
    if (result != z3::unsat) return Answer::open;
    proved().add(std::move(pair));
    return Answer::equal;
  } catch (const z3::exception& e) {
    fail("Z3: {}", e.msg());
  }
}

}  // namespace rlgo::rulegen
