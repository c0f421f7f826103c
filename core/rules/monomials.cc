#include "core/rules/monomials.h"

#include <algorithm>
#include <cmath>

namespace rlgo::rules {
namespace {

constexpr double kLeast = 1e-9;  // exponents that differ less are equal

double exponent(const Monomial& m, int atom) {
  const auto found = m.powers.find(atom);
  return found == m.powers.end() ? 0 : found->second;
}

}  // namespace

Monomial product(const Monomial& a, const Monomial& b, double power) {
  Monomial made = a;
  made.factor *= std::pow(b.factor, power);
  for (const auto& [atom, exponent] : b.powers) {
    double& sum = made.powers[atom];
    sum += power * exponent;
    if (std::abs(sum) < kLeast) made.powers.erase(atom);
  }
  return made;
}

void Form::add(const Monomial& term) {
  const auto same = std::ranges::find(terms, term.powers, &Monomial::powers);
  if (same == terms.end())
    terms.push_back(term);
  else
    same->factor = std::max(same->factor, term.factor);
}

Form united(const std::vector<Form>& in, size_t from) {
  Form made{.constant = true};
  for (size_t k = from; k < in.size(); ++k) {
    for (const auto& term : in[k].terms) made.add(term);
    made.constant = made.constant && in[k].constant;
    made.is_sum = made.is_sum || in[k].is_sum;
  }
  made.positive = std::ranges::all_of(in, &Form::positive);
  return made;
}

Form sum(const std::vector<Form>& in) {
  Form made = united(in);
  made.is_sum = made.is_sum || std::ranges::count(in, false, &Form::constant) > 1;
  return made;
}

Form with(const Form& like, const std::vector<Monomial>& terms) {
  Form made{.constant = like.constant, .is_sum = like.is_sum, .positive = like.positive};
  for (const auto& term : terms) made.add(term);
  return made;
}

Form times(const Form& a, const Form& b) {
  Form made{.constant = a.constant && b.constant, .is_sum = a.is_sum || b.is_sum};
  for (const auto& x : a.terms) {
    for (const auto& y : b.terms) {
      if (made.terms.size() <= kMostTerms) made.add(product(x, y));
    }
  }
  return made;
}

Form number(double factor) { return {.terms = {{std::abs(factor), {}}}, .constant = true, .positive = factor >= 0}; }

bool is_between(const Monomial& m, const Monomial& p, const Monomial& q) {
  std::map<int, double> atoms = m.powers;
  atoms.insert(p.powers.begin(), p.powers.end());
  atoms.insert(q.powers.begin(), q.powers.end());
  // Least squares of two unknowns; exact where there is an exact solution.
  double pp = 0, pq = 0, qq = 0, pm = 0, qm = 0;
  for (const auto& [atom, ignored] : atoms) {
    const double a = exponent(p, atom), b = exponent(q, atom), c = exponent(m, atom);
    pp += a * a;
    pq += a * b;
    qq += b * b;
    pm += a * c;
    qm += b * c;
  }
  const double determinant = pp * qq - pq * pq;
  const bool one = std::abs(determinant) < kLeast;
  if (pp < kLeast) return false;
  const double s = one ? pm / pp : (pm * qq - qm * pq) / determinant;
  const double t = one ? 0 : (qm * pp - pm * pq) / determinant;
  if (s < -kLeast || t < -kLeast || s + t > 1 + kLeast) return false;
  for (const auto& [atom, ignored] : atoms) {
    if (std::abs(s * exponent(p, atom) + t * exponent(q, atom) - exponent(m, atom)) > 1e-6) return false;
  }
  const double factor = std::pow(p.factor, s) * std::pow(q.factor, t);
  return m.factor <= std::max(factor, 1.0) * (1 + 1e-6);
}

}  // namespace rlgo::rules
