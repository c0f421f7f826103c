// Polynomials: interning, sums, products, quotients. Functions and maxima are in ring_poly_functions.cc.
#include "core/rulegen/semantics/ring_poly.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/rulegen/semantics/real.h"

namespace rlgo::rulegen {
namespace {

constexpr Rational kOne{1, 1, false};

uint64_t hash_of(const Rational& c) { return hash_combine(static_cast<uint64_t>(c.num), static_cast<uint64_t>(c.den)); }

// The number of `item` in `table`, entered where it is new.
template <class T>
int32_t find_or_add(std::vector<T>& table, std::unordered_multimap<uint64_t, int32_t>& index, uint64_t hash, T item) {
  const auto [first, last] = index.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    if (table[static_cast<size_t>(it->second)] == item) return it->second;
  }
  const auto id = static_cast<int32_t>(table.size());
  table.push_back(std::move(item));
  index.emplace(hash, id);
  return id;
}

}  // namespace

PolyRing::PolyRing(int64_t most_terms) : most_terms_(most_terms) {
  intern(Poly{});  // number 0 is zero
  intern(Mono{});  // number 0 is 1
}
PolyRing::~PolyRing() = default;

PolyRing::Element PolyRing::intern(Poly poly) {
  if (failed_) return 0;
  uint64_t hash = poly.size();
  for (const auto& term : poly) {
    hash = hash_combine(hash_combine(hash, static_cast<uint64_t>(term.mono)), hash_of(term.c));
    failed_ = failed_ || term.c.overflow;
  }
  const size_t before = polys_.size(), size = poly.size();
  const Element id = find_or_add(polys_, poly_index_, hash, std::move(poly));
  if (polys_.size() > before) terms_total_ += static_cast<int64_t>(size);
  failed_ = failed_ || terms_total_ > most_terms_;
  return failed_ ? 0 : id;
}

int32_t PolyRing::intern(Mono mono) {
  uint64_t hash = static_cast<uint64_t>(mono.exp);
  for (const auto& [atom, exponent] : mono.powers) {
    hash = hash_combine(hash_combine(hash, static_cast<uint64_t>(atom)), static_cast<uint64_t>(exponent));
  }
  return find_or_add(monos_, mono_index_, hash, std::move(mono));
}

int32_t PolyRing::intern(Atom atom) {
  uint64_t hash = hash_combine(static_cast<uint64_t>(atom.kind), atom.key);
  for (Element arg : atom.args) hash = hash_combine(hash, static_cast<uint64_t>(arg));
  return find_or_add(atoms_, atom_index_, hash, std::move(atom));
}

PolyRing::Element PolyRing::of_mono(int32_t mono, const Rational& c) { return intern(Poly{{mono, c}}); }

PolyRing::Element PolyRing::of_atom(Atom atom) {
  Mono mono;
  mono.powers = {{intern(std::move(atom)), 1}};
  return of_mono(intern(std::move(mono)), kOne);
}

PolyRing::Element PolyRing::variable(uint64_t key) { return of_atom({Kind::variable, key, {}}); }

PolyRing::Element PolyRing::constant(const Rational& value) {
  if (value.is_zero()) return 0;
  return of_mono(0, value);
}

PolyRing::Element PolyRing::number(double value) {
  const Real real = real_of(value);
  if (!real.exact) {
    const bool negative = real.value < 0;
    const Element atom = of_atom({Kind::constant, std::bit_cast<uint64_t>(std::abs(real.value)), {}});
    return negative ? neg(atom) : atom;
  }
  const Element rational = ratio(real.num, real.den);
  if (real.root == 1) return rational;
  return mul(rational, apply(Fn::sqrt, integer(real.root)));
}

std::optional<Rational> PolyRing::constant_value(Element a) const {
  const Poly& poly = polys_[static_cast<size_t>(a)];
  if (poly.empty()) return Rational{};
  if (poly.size() == 1 && poly[0].mono == 0) return poly[0].c;
  return std::nullopt;
}

std::optional<int64_t> PolyRing::whole(Element x) const {
  const auto value = constant_value(x);
  return value && value->den == 1 ? std::optional(value->num) : std::nullopt;
}

PolyRing::Element PolyRing::add(Element a, Element b) {
  if (a == 0) return b;
  if (b == 0) return a;
  const Poly &left = polys_[static_cast<size_t>(a)], &right = polys_[static_cast<size_t>(b)];
  Poly sum;
  sum.reserve(left.size() + right.size());
  size_t i = 0, j = 0;
  while (i < left.size() || j < right.size()) {
    if (j == right.size() || (i < left.size() && left[i].mono < right[j].mono)) {
      sum.push_back(left[i++]);
    } else if (i == left.size() || right[j].mono < left[i].mono) {
      sum.push_back(right[j++]);
    } else {
      const Rational c = left[i].c + right[j].c;
      if (!c.is_zero()) sum.push_back({left[i].mono, c});
      ++i, ++j;
    }
  }
  return intern(std::move(sum));
}

PolyRing::Element PolyRing::scaled(Element a, const Rational& by) {
  if (by.is_zero() || a == 0) return 0;
  Poly poly = polys_[static_cast<size_t>(a)];
  for (auto& term : poly) term.c = term.c * by;
  return intern(std::move(poly));
}

PolyRing::Element PolyRing::mul(Element a, Element b) {
  if (a == 0 || b == 0) return 0;
  if (const auto c = constant_value(a)) return scaled(b, *c);
  if (const auto c = constant_value(b)) return scaled(a, *c);
  Sum sum(*this);
  sum.add_product(a, b);
  return sum.finish();
}

int32_t PolyRing::mono_product(int32_t a, int32_t b) {
  if (a == 0) return b;
  if (b == 0) return a;
  if (a > b) std::swap(a, b);
  const uint64_t key = static_cast<uint64_t>(a) << 32 | static_cast<uint32_t>(b);
  if (const auto held = products_.find(key); held != products_.end()) return held->second;
  Mono product;
  {
    const auto &left = monos_[static_cast<size_t>(a)].powers, &right = monos_[static_cast<size_t>(b)].powers;
    size_t i = 0, j = 0;
    while (i < left.size() || j < right.size()) {
      if (j == right.size() || (i < left.size() && left[i].first < right[j].first)) {
        product.powers.push_back(left[i++]);
      } else if (i == left.size() || right[j].first < left[i].first) {
        product.powers.push_back(right[j++]);
      } else {
        const int32_t exponent = left[i].second + right[j].second;
        if (exponent != 0) product.powers.emplace_back(left[i].first, exponent);
        ++i, ++j;
      }
    }
  }
  product.exp = add(monos_[static_cast<size_t>(a)].exp, monos_[static_cast<size_t>(b)].exp);
  const int32_t id = intern(std::move(product));
  products_.emplace(key, id);
  return id;
}

int32_t PolyRing::mono_inverse(int32_t a) {
  Mono inverse = monos_[static_cast<size_t>(a)];
  for (auto& power : inverse.powers) power.second = -power.second;
  inverse.exp = neg(inverse.exp);
  return intern(std::move(inverse));
}

// By exponents of the lowest atom in which they differ, then by the argument of exp. a < b implies ac < bc.
bool PolyRing::mono_less(int32_t a, int32_t b) {
  const Mono ratio = monos_[static_cast<size_t>(mono_product(a, mono_inverse(b)))];
  if (!ratio.powers.empty()) return ratio.powers[0].second < 0;
  if (ratio.exp == 0) return false;
  return leading(ratio.exp).c.num < 0;
}

PolyRing::Term PolyRing::leading(Element a) {
  const Poly poly = polys_[static_cast<size_t>(a)];
  Term best = poly[0];
  for (const auto& term : poly) {
    if (mono_less(best.mono, term.mono)) best = term;
  }
  return best;
}

// For b = c sqrt(n), n a whole number: sqrt(n) / c and n, as 1 / b = (sqrt(n) / c) / n.
std::optional<std::pair<PolyRing::Element, int64_t>> PolyRing::take_root(Element b) {
  const Poly& poly = polys_[static_cast<size_t>(b)];
  if (poly.size() != 1) return std::nullopt;
  const Mono& mono = monos_[static_cast<size_t>(poly[0].mono)];
  if (mono.exp != 0 || mono.powers.size() != 1 || mono.powers[0].second != 1) return std::nullopt;
  const Atom& atom = atoms_[static_cast<size_t>(mono.powers[0].first)];
  if (atom.kind != Kind::function || atom.key != static_cast<uint64_t>(Fn::sqrt)) return std::nullopt;
  const auto n = whole(atom.args[0]);
  if (!n || *n <= 0) return std::nullopt;
  return std::pair(of_mono(poly[0].mono, poly[0].c.inverse()), *n);
}

// An inverse that `a` is made of, and the largest power in which it stands there.
std::optional<std::pair<int32_t, int32_t>> PolyRing::inverse_in(Element a) const {
  std::optional<std::pair<int32_t, int32_t>> found;
  for (const auto& term : polys_[static_cast<size_t>(a)]) {
    for (const auto& [atom, exponent] : monos_[static_cast<size_t>(term.mono)].powers) {
      if (exponent >= 0 || atoms_[static_cast<size_t>(atom)].kind != Kind::inverse) continue;
      if (!found) found = {atom, -exponent};
      if (found->first == atom) found->second = std::max(found->second, -exponent);
    }
  }
  return found;
}

// a * q^power, where `inverse` stands for 1 / q.
PolyRing::Element PolyRing::cleared(Element a, int32_t inverse, int32_t power) {
  const Element q = atoms_[static_cast<size_t>(inverse)].args[0];
  Element sum = 0;
  for (const auto& term : Poly(polys_[static_cast<size_t>(a)])) {
    Mono mono = monos_[static_cast<size_t>(term.mono)];
    int32_t left = power;
    const auto held = std::ranges::find(mono.powers, inverse, &std::pair<int32_t, int32_t>::first);
    if (held != mono.powers.end()) {
      left += held->second;
      held->second = std::min(left, 0);
      if (left >= 0) mono.powers.erase(held);
    }
    Element product = of_mono(intern(std::move(mono)), term.c);
    for (; left > 0; --left) product = mul(product, q);
    sum = add(sum, product);
  }
  return sum;
}

PolyRing::Element PolyRing::div(Element a, Element b) {
  if (failed_) return 0;
  if (const auto inner = inverse_in(b)) {  // a / (1 + 1 / q) = a q / (q + 1)
    const auto [inverse, power] = *inner;
    const Element above = cleared(a, inverse, power);
    return div(above, cleared(b, inverse, power));
  }
  if (b == 0) return of_atom({Kind::power, 1, {a, b}});  // no value: a thing of its own
  if (const auto whole_root = take_root(b))
    return scaled(mul(a, whole_root->first), Rational{1, whole_root->second, false});
  const Term lead = leading(b);
  const Element front = of_mono(mono_inverse(lead.mono), lead.c.inverse());
  const Element over = mul(a, front);
  if (polys_[static_cast<size_t>(b)].size() == 1) return over;
  Mono mono;
  mono.powers = {{intern(Atom{Kind::inverse, 0, {mul(b, front)}}), -1}};
  return mul(over, of_mono(intern(std::move(mono)), kOne));
}

void PolyRing::Sum::add(Element a) {
  for (const auto& term : ring_.polys_[static_cast<size_t>(a)]) {
    const auto [held, fresh] = coefficients_.try_emplace(term.mono, term.c);
    if (!fresh) held->second = held->second + term.c;
  }
}

void PolyRing::Sum::add_product(Element a, Element b) {
  if (ring_.failed_) return;
  const size_t left = ring_.polys_[static_cast<size_t>(a)].size(), right = ring_.polys_[static_cast<size_t>(b)].size();
  for (size_t i = 0; i < left; ++i) {
    for (size_t j = 0; j < right; ++j) {
      const Term x = ring_.polys_[static_cast<size_t>(a)][i], y = ring_.polys_[static_cast<size_t>(b)][j];
      const Rational c = x.c * y.c;
      const auto [held, fresh] = coefficients_.try_emplace(ring_.mono_product(x.mono, y.mono), c);
      if (!fresh) held->second = held->second + c;
    }
    if (static_cast<int64_t>(coefficients_.size()) > ring_.most_terms_) ring_.failed_ = true;
    if (ring_.failed_) return;
  }
}

PolyRing::Element PolyRing::Sum::finish() {
  Poly poly;
  poly.reserve(coefficients_.size());
  for (const auto& [mono, c] : coefficients_) {
    if (!c.is_zero()) poly.push_back({mono, c});
  }
  std::ranges::sort(poly, {}, &Term::mono);
  return ring_.intern(std::move(poly));
}

}  // namespace rlgo::rulegen
