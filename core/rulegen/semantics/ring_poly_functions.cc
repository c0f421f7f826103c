// Maxima, functions and text of the exact ring.
#include <algorithm>

#include "core/base/error.h"
#include "core/rulegen/semantics/ring_poly.h"
#include "core/rulegen/semantics/ring_power.h"

namespace rlgo::rulegen {

// The greatest positive rational that divides all coefficients into whole numbers.
Rational PolyRing::content(std::span<const Element> set) const {
  int64_t num = 0;
  Rational::Wide den = 1;
  for (Element item : set) {
    for (const auto& term : polys_[static_cast<size_t>(item)]) {
      num = std::gcd(num, term.c.num);
      den = den / std::gcd(static_cast<int64_t>(den), term.c.den) * term.c.den;
      if (den > INT64_MAX) return {0, 1, true};
    }
  }
  return Rational::of(num, den);
}

// The set's polynomials lose, monomial by monomial, their least coefficient, and their common factor; what is left is
// the same for all sets that differ by a shift and a positive factor.
PolyRing::Element PolyRing::canonical_maximum(std::vector<Element> set) {
  std::ranges::sort(set);
  set.erase(std::unique(set.begin(), set.end()), set.end());
  if (set.size() == 1 || failed_) return set[0];
  std::unordered_map<int32_t, std::pair<Rational, size_t>> least;  // coefficient, in how many polynomials
  for (Element item : set) {
    for (const auto& term : polys_[static_cast<size_t>(item)]) {
      const auto [held, fresh] = least.try_emplace(term.mono, term.c, 1);
      if (fresh) continue;
      if (Rational::compare(term.c, held->second.first) < 0) held->second.first = term.c;
      ++held->second.second;
    }
  }
  Poly shift;
  for (const auto& [mono, entry] : least) {
    const bool everywhere = entry.second == set.size();
    if (everywhere || entry.first.num < 0) shift.push_back({mono, entry.first});
  }
  std::ranges::sort(shift, {}, &Term::mono);
  const Element rest = intern(std::move(shift));
  const Element back = neg(rest);
  for (auto& item : set) item = add(item, back);
  const Rational factor = content(set);
  failed_ = failed_ || factor.overflow || factor.num == 0;
  if (failed_) return 0;
  for (auto& item : set) item = scaled(item, factor.inverse());
  std::ranges::sort(set);
  return add(rest, scaled(of_atom({Kind::maximum, 0, std::move(set)}), factor));
}

std::optional<PolyRing::Peak> PolyRing::peak(Element a) {
  std::optional<Peak> found;
  Poly rest;
  for (const auto& term : polys_[static_cast<size_t>(a)]) {
    const Mono& mono = monos_[static_cast<size_t>(term.mono)];
    const bool is_peak = mono.exp == 0 && mono.powers.size() == 1 && mono.powers[0].second == 1 &&
                         atoms_[static_cast<size_t>(mono.powers[0].first)].kind == Kind::maximum;
    if (is_peak && found) return std::nullopt;
    if (is_peak) {
      found = Peak{0, term.c, mono.powers[0].first};
    } else {
      rest.push_back(term);
    }
  }
  if (found) found->rest = intern(std::move(rest));
  return found;
}

PolyRing::Element PolyRing::maximum(std::span<const Element> items) {
  std::vector<Element> flat;
  for (Element item : items) {
    const auto inner = peak(item);
    if (!inner || inner->factor.num < 0) {
      flat.push_back(item);
      continue;
    }
    const auto args = atoms_[static_cast<size_t>(inner->atom)].args;
    for (Element arg : args) flat.push_back(add(inner->rest, scaled(arg, inner->factor)));
  }
  // Of constants only the largest counts.
  std::optional<Rational> largest;
  std::erase_if(flat, [&](Element item) {
    const auto value = constant_value(item);
    if (value && (!largest || Rational::compare(*value, *largest) > 0)) largest = value;
    return value.has_value();
  });
  if (largest) flat.push_back(constant(*largest));
  return canonical_maximum(std::move(flat));
}

PolyRing::Element PolyRing::minimum(std::span<const Element> items) {
  std::vector<Element> negated;
  for (Element item : items) negated.push_back(neg(item));
  return neg(maximum(negated));
}

// fn, increasing, of rest + factor * maximum.
PolyRing::Element PolyRing::distribute(Fn fn, const Peak& peak) {
  const auto args = atoms_[static_cast<size_t>(peak.atom)].args;
  std::vector<Element> images;
  for (Element arg : args) images.push_back(apply(fn, add(peak.rest, scaled(arg, peak.factor))));
  return peak.factor.num > 0 ? maximum(images) : minimum(images);
}

// q where a = exp(q).
std::optional<PolyRing::Element> PolyRing::exponent_of(Element a) const {
  const Poly& poly = polys_[static_cast<size_t>(a)];
  if (poly.size() != 1 || !(poly[0].c == Rational{1, 1, false})) return std::nullopt;
  const Mono& mono = monos_[static_cast<size_t>(poly[0].mono)];
  return mono.powers.empty() && mono.exp != 0 ? std::optional(mono.exp) : std::nullopt;
}

// u where a = q + log(v) or q + softplus(p), as log(u) = a.
std::optional<PolyRing::Element> PolyRing::logarithm_of(Element a) {
  const Poly poly = polys_[static_cast<size_t>(a)];
  std::optional<Element> inside;
  Element rest = a;
  for (const auto& term : poly) {
    const Mono mono = monos_[static_cast<size_t>(term.mono)];
    if (!(term.c == Rational{1, 1, false}) || mono.exp != 0 || mono.powers.size() != 1 || mono.powers[0].second != 1)
      continue;
    const Atom atom = atoms_[static_cast<size_t>(mono.powers[0].first)];
    const bool is_log = atom.kind == Kind::function && atom.key == static_cast<uint64_t>(Fn::log);
    const bool is_softplus = atom.kind == Kind::function && atom.key == static_cast<uint64_t>(Fn::softplus);
    if (inside || (!is_log && !is_softplus)) continue;
    rest = sub(a, of_mono(term.mono, term.c));
    inside = is_log ? atom.args[0] : add(integer(1), apply(Fn::exp, atom.args[0]));
  }
  return inside ? std::optional(rest == 0 ? *inside : mul(*inside, apply(Fn::exp, rest))) : std::nullopt;
}

// Sums of exponentials, and quotients of such sums.
bool PolyRing::of_exponentials(Element a) const {
  return a != 0 && std::ranges::all_of(polys_[static_cast<size_t>(a)], [&](const Term& term) {
           return term.c.num > 0 && std::ranges::all_of(monos_[static_cast<size_t>(term.mono)].powers,
                                                        [&](const std::pair<int32_t, int32_t>& p) {
                                                          const Atom& atom = atoms_[static_cast<size_t>(p.first)];
                                                          return atom.kind == Kind::inverse &&
                                                                 of_exponentials(atom.args[0]);
                                                        });
         });
}

// Of a sum of exponentials the leading one moves out, and so do the sums that it is divided by.
PolyRing::Element PolyRing::logarithm(Element x) {
  if (constant_value(x) == Rational{1, 1, false}) return 0;
  if (const auto q = exponent_of(x)) return *q;
  if (const auto q = exponent_of(sub(x, integer(1)))) return apply(Fn::softplus, *q);
  if (of_exponentials(x)) {
    const int32_t lead = leading(x).mono;
    const Mono mono = monos_[static_cast<size_t>(lead)];
    if (mono.exp != 0 || !mono.powers.empty()) {
      Element sum = add(mono.exp, logarithm(mul(x, of_mono(mono_inverse(lead), {1, 1, false}))));
      for (const auto& [atom, exponent] : mono.powers)
        sum = add(sum, scaled(logarithm(atoms_[static_cast<size_t>(atom)].args[0]), {exponent, 1, false}));
      return sum;
    }
  }
  return of_atom({Kind::function, static_cast<uint64_t>(Fn::log), {x}});
}

// softplus(x) = x + softplus(-x): the leading coefficient is positive. Increasing.
PolyRing::Element PolyRing::softplus(Element x) {
  if (x != 0 && leading(x).c.num < 0) return add(x, apply(Fn::softplus, neg(x)));
  if (const auto inner = peak(x)) return distribute(Fn::softplus, *inner);
  return of_atom({Kind::function, static_cast<uint64_t>(Fn::softplus), {x}});
}

PolyRing::Element PolyRing::apply(Fn fn, Element x) {
  if (failed_) return 0;
  if (fn == Fn::exp) {
    Mono mono;
    mono.exp = x;
    return of_mono(intern(std::move(mono)), {1, 1, false});
  }
  if (!has_laws(fn)) return of_atom({Kind::function, static_cast<uint64_t>(fn), {x}});
  const auto value = constant_value(x);
  if (fn == Fn::log) return logarithm(x);
  if (fn == Fn::softplus) return softplus(x);
  if (fn == Fn::tanh) {
    if (const auto u = logarithm_of(x)) {
      const Element square = mul(*u, *u);
      return div(sub(square, integer(1)), add(square, integer(1)));
    }
  }
  if (fn == Fn::sqrt && value && (value->num == 0 || *value == Rational{1, 1, false})) return x;
  if (fn == Fn::sqrt) return of_atom({Kind::function, static_cast<uint64_t>(fn), {x}});
  if (x == 0) return fn == Fn::sigmoid ? ratio(1, 2) : 0;
  if (leading(x).c.num < 0) {
    const Element flipped = apply(fn, neg(x));
    return fn == Fn::sigmoid ? sub(integer(1), flipped) : neg(flipped);
  }
  if (const auto inner = peak(x)) return distribute(fn, *inner);
  return of_atom({Kind::function, static_cast<uint64_t>(fn), {x}});
}

PolyRing::Element PolyRing::power(Element base, Element exponent) {
  if (const auto spelled = spelled_power(*this, base, constant_value(exponent))) return *spelled;
  return of_atom({Kind::power, 0, {base, exponent}});
}

std::string PolyRing::mono_text(int32_t mono) const {
  std::string text;
  for (const auto& [atom_id, exponent] : monos_[static_cast<size_t>(mono)].powers) {
    const Atom& atom = atoms_[static_cast<size_t>(atom_id)];
    std::string inner;
    for (Element arg : atom.args) inner += (inner.empty() ? "" : ", ") + to_text(arg);
    const std::string name = atom.kind == Kind::variable   ? "v" + std::to_string(atom.key % 1000)
                             : atom.kind == Kind::constant ? "c" + std::to_string(atom.key % 1000)
                             : atom.kind == Kind::function ? fn_name(static_cast<Fn>(atom.key))
                             : atom.kind == Kind::maximum  ? "max"
                             : atom.kind == Kind::power    ? "pow"
                                                           : "";
    text += " " + name + (inner.empty() ? "" : "(" + inner + ")");
    if (exponent != 1) text += "^" + std::to_string(exponent);
  }
  if (const Element exp = monos_[static_cast<size_t>(mono)].exp; exp != 0) text += " exp(" + to_text(exp) + ")";
  return text;
}

std::string PolyRing::to_text(Element element) const {
  constexpr size_t kMostShown = 6;
  const Poly& poly = polys_[static_cast<size_t>(element)];
  if (poly.empty()) return "0";
  std::string text;
  for (size_t k = 0; k < poly.size() && k < kMostShown; ++k) {
    const auto& c = poly[k].c;
    if (k > 0) text += " + ";
    text += c.den == 1 ? std::to_string(c.num) : fmt::format("{}/{}", c.num, c.den);
    text += mono_text(poly[k].mono);
  }
  if (poly.size() > kMostShown) text += fmt::format(" + {} more", poly.size() - kMostShown);
  return text;
}

}  // namespace rlgo::rulegen
