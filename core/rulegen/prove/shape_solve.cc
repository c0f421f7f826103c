// Equations between extents: what Facts learns from them.
#include <algorithm>
#include <numeric>

#include "core/base/error.h"
#include "core/rulegen/prove/shape.h"

namespace rlgo::rulegen::sym {

// Divided by the whole number and by the positive atoms that all summands share.
ExtentId Facts::without_common_factor(ExtentId p) {
  const Sum& terms = pool_.sum(p);
  if (terms.empty()) return p;
  int64_t divisor = 0;
  for (const auto& item : terms) divisor = std::gcd(divisor, item.factor);
  RLGO_CHECK(divisor > 0);
  Monomial common;
  Monomial first = terms[0].atoms;
  for (int32_t atom : first) {
    Monomial wanted = common;
    wanted.push_back(atom);
    std::sort(wanted.begin(), wanted.end());
    const auto bound = atom_bound(atom, 1);
    if (!bound || *bound < 1) continue;
    if (std::ranges::all_of(terms, [&](const Summand& item) { return divides(wanted, item.atoms, nullptr); }))
      common = wanted;
  }
  Sum out;
  for (const auto& item : terms) {
    Monomial rest;
    divides(common, item.atoms, &rest);
    out.push_back({rest, item.factor / divisor});
  }
  return pool_.intern(std::move(out));
}

bool Facts::assume_equal(ExtentId a, ExtentId b) {
  const Truth known = equal(a, b);
  if (known != Truth::unknown) return known == Truth::yes;
  return solve(without_common_factor(canon(pool_.sub(canon(a), canon(b)))));
}

bool Facts::solve(ExtentId zero) {
  if (const auto number = pool_.value(zero)) return *number == 0;
  bool handled = false;
  if (!solve_product(zero, &handled)) return false;
  if (handled || solve_joint(zero) || solve_symbol(zero)) {
    learnt();
    return true;
  }
  return add_zero(zero);
}

// monomial = 1: every factor is 1.
bool Facts::solve_product(ExtentId zero, bool* handled) {
  const Sum& terms = pool_.sum(zero);
  if (terms.size() != 2) return true;
  const auto& constant = terms[0].atoms.empty() ? terms[0] : terms[1];
  const auto& product = terms[0].atoms.empty() ? terms[1] : terms[0];
  if (!constant.atoms.empty() || product.atoms.empty()) return true;
  if (product.factor != -constant.factor) return true;
  for (int32_t atom : product.atoms) {
    const auto bound = atom_bound(atom, 1);
    if (!bound || *bound < 1) return true;
  }
  if (product.atoms.size() == 1) return true;  // the general way
  *handled = true;
  return std::ranges::all_of(product.atoms,
                             [&](int32_t atom) { return assume_equal(pool_.of_atom(atom), pool_.number(1)); });
}

// broadcast(..) = one of its members, 1, or a number.
bool Facts::solve_joint(ExtentId zero) {
  const Sum& terms = pool_.sum(zero);
  for (const auto& item : terms) {
    if (item.atoms.size() != 1 || std::abs(item.factor) != 1) continue;
    const Atom& atom = pool_.atom(item.atoms[0]);
    if (atom.kind != Atom::Kind::joint) continue;
    const ExtentId self = pool_.of_atom(item.atoms[0]);
    const ExtentId other = canon(item.factor > 0 ? pool_.sub(self, zero) : pool_.add(self, zero));
    const auto number = pool_.value(other);
    if (number && *number == 1) {
      return std::ranges::all_of(atom.args, [&](ExtentId m) { return assume_equal(m, pool_.number(1)); });
    }
    const auto theirs = members(other);
    if (!number && !std::ranges::includes(atom.args, theirs)) continue;
    for (ExtentId m : atom.args) {
      if (std::ranges::find(theirs, m) == theirs.end()) absorbs_.emplace(theirs, m);
    }
    if (number) add_zero(zero);
    return true;
  }
  return false;
}

// A symbol that stands alone, with factor 1 or -1, and nowhere else, is what the rest states. The youngest is taken.
bool Facts::solve_symbol(ExtentId zero) {
  const Sum& terms = pool_.sum(zero);
  int best = -1;
  for (size_t k = 0; k < terms.size(); ++k) {
    const auto& item = terms[k];
    if (item.atoms.size() != 1 || std::abs(item.factor) != 1) continue;
    const int32_t index = item.atoms[0];
    if (pool_.atom(index).kind != Atom::Kind::symbol) continue;
    const ExtentId rest = pool_.sub(zero, pool_.intern({item}));
    if (pool_.mentions(rest, index)) continue;
    if (best < 0 || index > terms[static_cast<size_t>(best)].atoms[0]) best = static_cast<int>(k);
  }
  if (best < 0) return false;
  const Summand item = terms[static_cast<size_t>(best)];
  ExtentId value = pool_.sub(pool_.intern({item}), zero);
  if (item.factor < 0) value = pool_.sub(pool_.number(0), value);
  solved_[item.atoms[0]] = value;
  forget_canon();
  const int64_t least = pool_.atom(item.atoms[0]).least;
  if (at_least(value, least) == Truth::unknown) note_nonnegative(canon(pool_.sub(value, pool_.number(least))));
  return true;
}

bool Facts::add_zero(ExtentId zero) {
  if (const auto number = pool_.value(zero)) return *number == 0;
  if (std::ranges::any_of(zeros_, [&](const Zero& z) { return z.whole == zero; })) return true;
  Zero made;
  made.whole = zero;
  const Sum& terms = pool_.sum(zero);
  const auto top = std::ranges::max_element(terms, graded_less, &Summand::atoms);
  if (std::abs(top->factor) == 1) {
    made.lead = top->atoms;
    const ExtentId rest = pool_.sub(pool_.intern({*top}), zero);
    made.rest = top->factor == 1 ? rest : pool_.sub(pool_.number(0), rest);
  }
  zeros_.push_back(std::move(made));
  learnt();
  return true;
}

bool Facts::assume_at_least(ExtentId a, int64_t bound) {
  const Truth known = at_least(a, bound);
  if (known != Truth::unknown) return known == Truth::yes;
  note_nonnegative(canon(pool_.sub(a, pool_.number(bound))));
  learnt();
  return true;
}

bool Facts::assume_compatible(ExtentId a, ExtentId b) {
  if (compatible(a, b)) return true;
  for (ExtentId x : members(canon(a))) {
    for (ExtentId y : members(canon(b))) {
      const auto p = pool_.value(x), q = pool_.value(y);
      if (p && q && *p != *q) return false;
      if (x != y) compatible_.insert(ordered(x, y));
    }
  }
  learnt();
  return true;
}

bool Facts::assume_absorbs(ExtentId big, ExtentId small) {
  const std::vector<ExtentId> both{big, small};
  return assume_equal(joint(both), big);
}

bool Facts::assume_divides(ExtentId a, ExtentId b, ExtentId quotient) {
  quotients_.emplace(std::pair(a, b), quotient);
  return assume_equal(a, pool_.mul(quotient, b));
}

std::optional<ExtentId> Facts::known_quotient(ExtentId a, ExtentId b) {
  for (const auto& [pair, quotient] : quotients_) {
    if (canon(pair.first) == canon(a) && canon(pair.second) == canon(b)) return canon(quotient);
  }
  return std::nullopt;
}

void Facts::assume_different(ExtentId a, ExtentId b) {
  if (different_.insert(ordered(canon(a), canon(b))).second) learnt();
}

void Facts::assume_real(int32_t symbol, int32_t real) {
  if (reals_.emplace(symbol, real).second) learnt();
}

void Facts::assume_order(const Order& order) {
  if (orders_.insert(order).second) learnt();
}

void Facts::assume_real_different(int32_t a, int32_t b) {
  if (real_different_.insert(ordered(a, b)).second) learnt();
}
bool Facts::real_different(int32_t a, int32_t b) const { return real_different_.contains(ordered(a, b)); }

int32_t Facts::real(int32_t symbol) const {
  const auto held = reals_.find(symbol);
  return held == reals_.end() ? symbol : held->second;
}

namespace {
Fit demanded(bool consistent) { return consistent ? Fit::fits : Fit::misfit; }
Fit answered(Truth t) { return t == Truth::yes ? Fit::fits : t == Truth::no ? Fit::misfit : Fit::unknown; }
}  // namespace

Fit Logic::equal(ExtentId a, ExtentId b) {
  return assume ? demanded(facts.assume_equal(a, b)) : answered(facts.equal(a, b));
}
Fit Logic::at_least(ExtentId a, int64_t bound) {
  return assume ? demanded(facts.assume_at_least(a, bound)) : answered(facts.at_least(a, bound));
}
Fit Logic::compatible(ExtentId a, ExtentId b) {
  if (assume) return demanded(facts.assume_compatible(a, b));
  return facts.compatible(a, b) ? Fit::fits : Fit::unknown;
}
Fit Logic::absorbs(ExtentId big, ExtentId small) {
  if (assume) return demanded(facts.assume_compatible(big, small) && facts.assume_absorbs(big, small));
  return facts.absorbs(big, small) ? Fit::fits : Fit::unknown;
}

Fit Logic::any_at_least_zero(const std::vector<ExtentId>& all) {
  return assume ? demanded(facts.assume_any_at_least_zero(all)) : answered(facts.any_at_least_zero(all));
}

Fit Logic::divides(ExtentId a, ExtentId b, ExtentId* quotient) {
  ExtentPool& pool = facts.pool();
  const ExtentId x = facts.canon(a), y = facts.canon(b);
  const auto zero = pool.value(y);
  if (zero && *zero == 0) return Fit::misfit;
  *quotient = pool.quotient(x, y);
  if (pool.sub(x, pool.mul(*quotient, y)) == pool.number(0)) return Fit::fits;
  if (pool.value(x) && pool.value(y)) return Fit::misfit;
  if (const auto known = facts.known_quotient(x, y)) {
    *quotient = *known;
    return Fit::fits;
  }
  if (!assume) return Fit::unknown;
  int64_t least = INT32_MIN;
  if (facts.at_least(y, 1) == Truth::yes) {
    if (facts.at_least(x, 0) == Truth::yes) least = 0;
    if (facts.at_least(x, 1) == Truth::yes) least = 1;
  }
  *quotient = pool.symbol(fmt::format("({})/({})>={}", pool.text(x), pool.text(y), least), least);
  return demanded(facts.assume_divides(x, y, *quotient));
}

}  // namespace rlgo::rulegen::sym
