// Why interned normal forms: a proof asks millions of times whether two extents are equal. A sum of monomials, sorted,
// without zero factors, is the same object wherever it is made, so that equality is one comparison of numbers. Overflow
// is no error of the rule: the prover gives up on it (Untranslatable).
#include "core/rulegen/prove/extent.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/hash.h"

namespace rlgo::rulegen::sym {
namespace {

int64_t checked_add(int64_t a, int64_t b) {
  int64_t out = 0;
  if (__builtin_add_overflow(a, b, &out)) throw Untranslatable("a number is too large");
  return out;
}
int64_t checked_mul(int64_t a, int64_t b) {
  int64_t out = 0;
  if (__builtin_mul_overflow(a, b, &out)) throw Untranslatable("a number is too large");
  return out;
}

bool monomial_less(const Monomial& a, const Monomial& b) {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
}

uint64_t hash_of(const Sum& sum) {
  uint64_t h = mix64(sum.size());
  for (const auto& [atoms, factor] : sum) {
    h = hash_combine(h, static_cast<uint64_t>(factor));
    for (int32_t atom : atoms) h = hash_combine(h, static_cast<uint64_t>(atom));
  }
  return h;
}

bool same(const Sum& a, const Sum& b) {
  return std::ranges::equal(a, b,
                            [](const auto& x, const auto& y) { return x.factor == y.factor && x.atoms == y.atoms; });
}

Monomial product(const Monomial& a, const Monomial& b) {
  Monomial out;
  out.resize(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), out.begin());
  return out;
}

int64_t floor_div(int64_t a, int64_t b) { return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0); }

}  // namespace

bool divides(const Monomial& part, const Monomial& whole, Monomial* rest) {
  if (rest) rest->clear();
  size_t k = 0;
  for (int32_t atom : whole) {
    if (k < part.size() && part[k] == atom) {
      ++k;
    } else if (rest) {
      rest->push_back(atom);
    }
  }
  return k == part.size();
}

bool graded_less(const Monomial& a, const Monomial& b) {
  return a.size() != b.size() ? a.size() < b.size() : monomial_less(a, b);
}

ExtentPool::ExtentPool() : slots_(1024, -1), small_(64, -1) { number(0); }

ExtentId ExtentPool::intern(Sum sum) {
  std::ranges::sort(sum, monomial_less, &Summand::atoms);
  Sum merged;
  for (auto& item : sum) {
    if (!merged.empty() && merged.back().atoms == item.atoms) {
      merged.back().factor = checked_add(merged.back().factor, item.factor);
    } else {
      merged.push_back(std::move(item));
    }
  }
  std::erase_if(merged, [](const Summand& item) { return item.factor == 0; });
  return intern_sorted(std::move(merged));
}

ExtentId ExtentPool::intern_sorted(Sum sum) {
  const uint64_t hash = hash_of(sum);
  const size_t mask = slots_.size() - 1;
  size_t at = hash & mask;
  for (; slots_[at] >= 0; at = (at + 1) & mask) {
    const auto held = static_cast<size_t>(slots_[at]);
    if (hashes_[held] == hash && same(sums_[held], sum)) return slots_[at];
  }
  const auto made = static_cast<ExtentId>(sums_.size());
  slots_[at] = made;
  sums_.push_back(std::move(sum));
  hashes_.push_back(hash);
  if (sums_.size() * 2 > slots_.size()) grow();
  return made;
}

void ExtentPool::grow() {
  slots_.assign(slots_.size() * 2, -1);
  const size_t mask = slots_.size() - 1;
  for (size_t k = 0; k < hashes_.size(); ++k) {
    size_t at = hashes_[k] & mask;
    while (slots_[at] >= 0) at = (at + 1) & mask;
    slots_[at] = static_cast<ExtentId>(k);
  }
}

int32_t ExtentPool::intern_atom(Atom atom) {
  const std::string kind(1, static_cast<char>('0' + static_cast<int>(atom.kind)));
  const auto [place, is_new] = atom_of_.try_emplace({kind + atom.name, atom.args}, static_cast<int32_t>(atoms_.size()));
  if (is_new) {
    atoms_.push_back(std::move(atom));
    of_atom_.push_back(-1);
  }
  return place->second;
}

ExtentId ExtentPool::of_atom(int32_t index) {
  if (of_atom_[static_cast<size_t>(index)] < 0) {
    const ExtentId made = intern_sorted({{Monomial{index}, 1}});
    of_atom_[static_cast<size_t>(index)] = made;
  }
  return of_atom_[static_cast<size_t>(index)];
}
ExtentId ExtentPool::number(int64_t value) {
  const bool small = value >= 0 && value < static_cast<int64_t>(small_.size());
  if (small && small_[static_cast<size_t>(value)] >= 0) return small_[static_cast<size_t>(value)];
  const ExtentId made = value == 0 ? intern_sorted({}) : intern_sorted({{Monomial{}, value}});
  if (small) small_[static_cast<size_t>(value)] = made;
  return made;
}
ExtentId ExtentPool::symbol(const std::string& name, int64_t least) {
  const auto [place, is_new] = symbol_of_.try_emplace(name, -1);
  if (is_new) place->second = of_atom(intern_atom({Atom::Kind::symbol, name, {}, least}));
  return place->second;
}
ExtentId ExtentPool::joint(std::vector<ExtentId> members) {
  return of_atom(intern_atom({Atom::Kind::joint, "", std::move(members), 0}));
}
ExtentId ExtentPool::opaque(const std::string& name, std::vector<ExtentId> args, int64_t least) {
  return of_atom(intern_atom({Atom::Kind::opaque, name, std::move(args), least}));
}

std::optional<int64_t> ExtentPool::value(ExtentId a) const {
  const Sum& terms = sum(a);
  if (terms.empty()) return 0;
  return terms.size() == 1 && terms[0].atoms.empty() ? std::optional(terms[0].factor) : std::nullopt;
}

int32_t ExtentPool::as_atom(ExtentId a) const {
  const Sum& terms = sum(a);
  return terms.size() == 1 && terms[0].factor == 1 && terms[0].atoms.size() == 1 ? terms[0].atoms[0] : -1;
}

// a + sign * b
ExtentId ExtentPool::combined(ExtentId a, ExtentId b, int64_t sign) {
  const Sum &x = sum(a), &y = sum(b);
  Sum out;
  out.reserve(x.size() + y.size());
  size_t i = 0, j = 0;
  while (i < x.size() || j < y.size()) {
    if (j == y.size() || (i < x.size() && monomial_less(x[i].atoms, y[j].atoms))) {
      out.push_back(x[i++]);
    } else if (i == x.size() || monomial_less(y[j].atoms, x[i].atoms)) {
      out.push_back({y[j].atoms, checked_mul(y[j].factor, sign)});
      ++j;
    } else {
      const int64_t factor = checked_add(x[i].factor, checked_mul(y[j].factor, sign));
      if (factor != 0) out.push_back({x[i].atoms, factor});
      ++i, ++j;
    }
  }
  return intern_sorted(std::move(out));
}

ExtentId ExtentPool::add(ExtentId a, ExtentId b) {
  if (sum(a).empty()) return b;
  return sum(b).empty() ? a : combined(a, b, 1);
}
ExtentId ExtentPool::sub(ExtentId a, ExtentId b) {
  if (a == b) return number(0);
  return sum(b).empty() ? a : combined(a, b, -1);
}
ExtentId ExtentPool::mul(ExtentId a, ExtentId b) {
  const auto p = value(a), q = value(b);
  if ((p && *p == 1) || (q && *q == 0)) return b;
  if ((q && *q == 1) || (p && *p == 0)) return a;
  Sum out;
  for (const auto& x : sum(a)) {
    for (const auto& y : sum(b)) out.push_back({product(x.atoms, y.atoms), checked_mul(x.factor, y.factor)});
  }
  return intern(std::move(out));
}

// Long division by the leading monomial; nothing where something remains.
std::optional<Sum> ExtentPool::exact_quotient(Sum rest, const Sum& divisor) const {
  const auto lead = std::ranges::max_element(divisor, graded_less, &Summand::atoms);
  Sum out;
  for (int round = 0; !rest.empty() && round < 64; ++round) {
    const auto top = std::ranges::max_element(rest, graded_less, &Summand::atoms);
    Monomial left_over;
    if (!divides(lead->atoms, top->atoms, &left_over) || top->factor % lead->factor != 0) return std::nullopt;
    const Summand piece{left_over, top->factor / lead->factor};
    out.push_back(piece);
    for (const auto& item : divisor) {
      const Monomial atoms = product(item.atoms, piece.atoms);
      const int64_t factor = checked_mul(item.factor, -piece.factor);
      const auto held = std::ranges::find(rest, atoms, &Summand::atoms);
      if (held == rest.end()) {
        rest.push_back({atoms, factor});
      } else {
        held->factor = checked_add(held->factor, factor);
      }
    }
    std::erase_if(rest, [](const Summand& item) { return item.factor == 0; });
  }
  return rest.empty() ? std::optional(out) : std::nullopt;
}

ExtentId ExtentPool::quotient(ExtentId a, ExtentId b) {
  const auto x = value(a), y = value(b);
  if (y && *y == 0) fail("a length is divided by 0: by a stride or step of 0");
  if (x && y) return number(floor_div(*x, *y));
  if (a == b) return number(1);
  if (auto exact = exact_quotient(sum(a), sum(b))) return intern(std::move(*exact));
  Sum whole, rest;
  if (sum(b).size() == 1 && sum(b)[0].factor > 0) {
    const Summand divisor = sum(b)[0];
    for (const auto& item : sum(a)) {
      Monomial left_over;
      if (divides(divisor.atoms, item.atoms, &left_over) && item.factor % divisor.factor == 0) {
        whole.push_back({left_over, item.factor / divisor.factor});
      } else {
        rest.push_back(item);
      }
    }
  } else {
    rest = sum(a);
  }
  const ExtentId remaining = intern(std::move(rest));
  const ExtentId taken = intern(std::move(whole));
  if (const auto r = value(remaining); r && y) return add(taken, number(floor_div(*r, *y)));
  return add(taken, of_atom(intern_atom({Atom::Kind::quotient, "", {remaining, b}, 0})));
}

bool ExtentPool::mentions(ExtentId a, int32_t wanted) const {
  for (const auto& item : sum(a)) {
    for (int32_t index : item.atoms) {
      if (index == wanted) return true;
      if (std::ranges::any_of(atom(index).args, [&](ExtentId arg) { return mentions(arg, wanted); })) return true;
    }
  }
  return false;
}

std::string ExtentPool::text(ExtentId a) const {
  std::string out;
  for (const auto& [atoms, factor] : sum(a)) {
    std::string piece = factor == 1 && !atoms.empty() ? "" : std::to_string(factor);
    for (int32_t index : atoms) {
      const Atom& held = atom(index);
      std::vector<std::string> args;
      for (ExtentId arg : held.args) args.push_back(text(arg));
      if (!piece.empty()) piece += "*";
      if (held.kind == Atom::Kind::symbol) piece += held.name;
      if (held.kind == Atom::Kind::quotient) piece += fmt::format("({} / {})", args[0], args[1]);
      if (held.kind == Atom::Kind::joint) piece += fmt::format("broadcast({})", fmt::join(args, ", "));
      if (held.kind == Atom::Kind::opaque) piece += fmt::format("{}({})", held.name, fmt::join(args, ", "));
    }
    out += (out.empty() ? "" : " + ") + piece;
  }
  return out.empty() ? "0" : out;
}

}  // namespace rlgo::rulegen::sym
