#include "core/ops/extent.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/ops/families.h"

namespace rlgo::ops {
namespace {

using Atom = Extent::Atom;
using Term = Extent::Term;
using Kind = ExtentAtom::Kind;

constexpr size_t kMaxTerms = 64;
constexpr int kMaxDepth = 4;

int order(const Extent& a, const Extent& b);

int order(const ExtentAtom& a, const ExtentAtom& b) {
  if (&a == &b) return 0;
  if (a.hash != b.hash) return a.hash < b.hash ? -1 : 1;
  if (a.kind != b.kind) return a.kind < b.kind ? -1 : 1;
  if (a.numbers != b.numbers) return a.numbers < b.numbers ? -1 : 1;
  if (a.args.size() != b.args.size()) return a.args.size() < b.args.size() ? -1 : 1;
  for (size_t k = 0; k < a.args.size(); ++k) {
    if (const int found = order(a.args[k], b.args[k])) return found;
  }
  return 0;
}

// Graded: more atoms first, then by the atoms; an earlier atom counts more. Products keep this order.
int order(const std::vector<Atom>& a, const std::vector<Atom>& b) {
  if (a.size() != b.size()) return a.size() > b.size() ? -1 : 1;
  for (size_t k = 0; k < a.size(); ++k) {
    if (const int found = order(*a[k], *b[k])) return found;
  }
  return 0;
}

int order(const Extent& a, const Extent& b) {
  if (a.constant_term() != b.constant_term()) return a.constant_term() < b.constant_term() ? -1 : 1;
  if (a.terms().size() != b.terms().size()) return a.terms().size() < b.terms().size() ? -1 : 1;
  for (size_t k = 0; k < a.terms().size(); ++k) {
    const Term &x = a.terms()[k], &y = b.terms()[k];
    if (x.factor != y.factor) return x.factor < y.factor ? -1 : 1;
    if (const int found = order(x.atoms, y.atoms)) return found;
  }
  return 0;
}

uint64_t hash_of(const Extent& extent) {
  uint64_t h = mix64(static_cast<uint64_t>(extent.constant_term()));
  for (const Term& term : extent.terms()) {
    h = hash_combine(h, static_cast<uint64_t>(term.factor));
    for (const Atom& atom : term.atoms) h = hash_combine(h, atom->hash);
  }
  return h;
}

bool atom_less(const Atom& a, const Atom& b) { return order(*a, *b) < 0; }

// `whole` without the atoms of `part`; nothing where it does not have them all.
std::optional<std::vector<Atom>> without(const std::vector<Atom>& whole, const std::vector<Atom>& part) {
  std::vector<Atom> rest;
  size_t next = 0;
  for (const Atom& atom : whole) {
    if (next < part.size() && order(*atom, *part[next]) == 0) {
      ++next;
    } else {
      rest.push_back(atom);
    }
  }
  return next == part.size() ? std::optional(std::move(rest)) : std::nullopt;
}

int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }

// As ONNX. The epsilon takes back what 1/3 and the like lose in a float.
std::optional<int64_t> scaled_number(int64_t extent, double scale) {
  const double length = std::floor(static_cast<double>(extent) * scale + 1e-4);
  return length >= 0 && length <= 1e9 ? std::optional(static_cast<int64_t>(length)) : std::nullopt;
}

// An atom whose arguments have these values.
std::optional<int64_t> value_of(Kind kind, std::span<const int64_t> args, std::span<const int64_t> numbers) {
  switch (kind) {
    case Kind::quotient:
      return args[1] > 0 ? std::optional(floor_div(args[0], args[1])) : std::nullopt;
    case Kind::joint: {
      const auto other = std::ranges::find_if(args, [](int64_t member) { return member != 1; });
      return other == args.end() ? 1 : *other;
    }
    case Kind::window:
      return window_extent(args[0], numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], true);
    case Kind::scaled:
      return scaled_number(args[0], std::bit_cast<double>(numbers[0]));
    case Kind::symbol:
      break;
  }
  return std::nullopt;
}

}  // namespace

Extent Extent::undecided() {
  Extent extent;
  extent.undecided_ = true;
  return extent;
}

Extent Extent::of_atom(ExtentAtom atom) {
  uint64_t h = hash_combine(static_cast<uint64_t>(atom.kind), hash_ints(atom.numbers));
  for (const Extent& arg : atom.args) h = hash_combine(h, hash_of(arg));
  atom.hash = h;
  if (atom.kind != Kind::symbol) {
    std::vector<int64_t> values;
    for (const Extent& arg : atom.args) {
      if (arg.is_undecided()) return undecided();
      values.push_back(arg.sample());
    }
    const auto sample = value_of(atom.kind, values, atom.numbers);
    if (!sample) return undecided();
    atom.sample = *sample;
  }
  // The numerator of a quotient by a number has no negative factor (floor_quotient).
  if (atom.kind == Kind::quotient && atom.args[1].is_number())
    atom.least = atom.args[0].shifted().number_ / atom.args[1].number_;
  Extent extent;
  extent.terms_.push_back({{std::make_shared<const ExtentAtom>(std::move(atom))}, 1});
  return extent;
}

Extent Extent::symbol(int64_t id, int64_t sample, int64_t least) {
  return of_atom({Kind::symbol, {}, {id}, least, sample, 0});
}

// Any order, repeated monomials.
Extent Extent::sum(std::vector<Term> terms, int64_t number) {
  std::ranges::sort(terms, [](const Term& a, const Term& b) { return order(a.atoms, b.atoms) < 0; });
  Extent extent(number);
  for (Term& term : terms) {
    if (!extent.terms_.empty() && order(extent.terms_.back().atoms, term.atoms) == 0) {
      int64_t& factor = extent.terms_.back().factor;
      if (__builtin_add_overflow(factor, term.factor, &factor)) return undecided();
      if (factor == 0) extent.terms_.pop_back();
    } else if (term.factor != 0) {
      extent.terms_.push_back(std::move(term));
    }
  }
  return extent.terms_.size() <= kMaxTerms ? extent : undecided();
}

Extent operator+(const Extent& a, const Extent& b) {
  int64_t number = 0;
  if (a.undecided_ || b.undecided_ || __builtin_add_overflow(a.number_, b.number_, &number)) return Extent::undecided();
  std::vector<Term> terms = a.terms_;
  terms.insert(terms.end(), b.terms_.begin(), b.terms_.end());
  return Extent::sum(std::move(terms), number);
}

Extent operator-(const Extent& a, const Extent& b) { return a + b.scaled_by(-1); }

Extent Extent::scaled_by(int64_t factor) const {
  if (undecided_ || factor == 0) return undecided_ ? undecided() : Extent();
  Extent result = *this;
  bool good = !__builtin_mul_overflow(number_, factor, &result.number_);
  for (Term& term : result.terms_) good = good && !__builtin_mul_overflow(term.factor, factor, &term.factor);
  return good ? result : undecided();
}

Extent operator*(const Extent& a, const Extent& b) {
  if (a.undecided_ || b.undecided_) return Extent::undecided();
  if (b.is_number()) return a.scaled_by(b.number_);
  if (a.is_number()) return b.scaled_by(a.number_);
  if (a.terms_.size() * b.terms_.size() > kMaxTerms) return Extent::undecided();
  const Extent left = b.scaled_by(a.number_), right = (a - Extent(a.number_)).scaled_by(b.number_);
  std::vector<Term> terms = left.terms_;
  terms.insert(terms.end(), right.terms_.begin(), right.terms_.end());
  for (const Term& x : a.terms_) {
    for (const Term& y : b.terms_) {
      Term term;
      std::ranges::merge(x.atoms, y.atoms, std::back_inserter(term.atoms), atom_less);
      if (__builtin_mul_overflow(x.factor, y.factor, &term.factor)) return Extent::undecided();
      terms.push_back(std::move(term));
    }
  }
  if (left.undecided_ || right.undecided_) return Extent::undecided();
  return Extent::sum(std::move(terms), left.number_);
}

int64_t Extent::sample() const {
  return undecided_ ? 0 : at([](int64_t, int64_t sample) { return std::optional(sample); }).value_or(0);
}

std::optional<int64_t> Extent::at(const SizeOf& size_of) const {
  if (undecided_) return std::nullopt;
  int64_t total = number_;
  for (const Term& term : terms_) {
    int64_t value = term.factor;
    for (const Atom& atom : term.atoms) {
      std::optional<int64_t> one;
      if (atom->kind == Kind::symbol) {
        one = size_of(atom->numbers[0], atom->sample);
      } else {
        std::vector<int64_t> args;
        for (const Extent& arg : atom->args) {
          const auto inner = arg.at(size_of);
          if (!inner) return std::nullopt;
          args.push_back(*inner);
        }
        one = value_of(atom->kind, args, atom->numbers);
      }
      if (!one || __builtin_mul_overflow(value, *one, &value)) return std::nullopt;
    }
    if (__builtin_add_overflow(total, value, &total)) return std::nullopt;
  }
  return total;
}

bool Extent::same(const Extent& other) const { return !undecided_ && !other.undecided_ && order(*this, other) == 0; }

// With every atom x written as least(x) + y, y >= 0 in its place.
Extent Extent::shifted() const {
  Extent total(number_);
  for (const Term& term : terms_) {
    Extent value(term.factor);
    for (const Atom& atom : term.atoms) {
      Extent one(atom->least);
      one.terms_.push_back({{atom}, 1});
      value = value * one;
    }
    total = total + value;
  }
  return total;
}

bool Extent::at_least(int64_t bound) const { return at_least(bound, 0); }

bool Extent::at_least(int64_t bound, int depth) const {
  if (undecided_) return false;
  if (terms_.empty()) return number_ >= bound;
  const auto& first = terms_[0];
  if (terms_.size() == 1 && first.atoms.size() == 1 && first.factor == 1 && number_ + first.atoms[0]->least >= bound)
    return true;
  const Extent low = shifted();
  if (!low.undecided_ && low.number_ >= bound &&
      std::ranges::all_of(low.terms_, [](const Term& term) { return term.factor > 0; })) {
    return true;
  }
  if (depth == kMaxDepth) return false;
  // A subtracted floor(p / d) is at most p / d, an added one at least (p - d + 1) / d; all else is >= 0.
  for (const Term& term : terms_) {
    for (size_t k = 0; k < term.atoms.size(); ++k) {
      const ExtentAtom& atom = *term.atoms[k];
      const auto divisor = atom.kind == Kind::quotient ? atom.args[1].number() : std::nullopt;
      if (!divisor) continue;
      Extent others(term.factor), without_term = *this - Extent(bound);
      for (size_t j = 0; j < term.atoms.size(); ++j) {
        if (j == k) continue;
        Extent one;
        one.terms_.push_back({{term.atoms[j]}, 1});
        others = others * one;
      }
      Extent whole;
      whole.terms_.push_back(term);
      without_term = without_term - whole;
      const Extent bounding = term.factor < 0 ? atom.args[0] : atom.args[0] - Extent(*divisor - 1);
      if ((without_term.scaled_by(*divisor) + others * bounding).at_least(0, depth + 1)) return true;
    }
  }
  return false;
}

std::optional<Extent> divide_exactly(const Extent& a, const Extent& b) {
  if (a.undecided_ || b.undecided_) return std::nullopt;
  if (const auto number = b.number()) {
    if (*number == 0 || *number == -1 || a.number_ % *number != 0) return std::nullopt;
    Extent result(a.number_ / *number);
    for (const Term& term : a.terms_) {
      if (term.factor % *number != 0) return std::nullopt;
      result.terms_.push_back({term.atoms, term.factor / *number});
    }
    return result;
  }
  // Long division by the leading term.
  const Term& lead = b.terms_.front();
  Extent rest = a, result;
  for (size_t round = 0; round < kMaxTerms && !rest.undecided_ && !rest.terms_.empty(); ++round) {
    const Term& first = rest.terms_.front();
    auto atoms = without(first.atoms, lead.atoms);
    if (!atoms || first.factor % lead.factor != 0) return std::nullopt;
    Extent part;
    if (atoms->empty()) {
      part = Extent(first.factor / lead.factor);
    } else {
      part.terms_.push_back({std::move(*atoms), first.factor / lead.factor});
    }
    result = result + part;
    rest = rest - part * b;
  }
  return rest.is_number() && rest.number_ == 0 && !result.undecided_ ? std::optional(result) : std::nullopt;
}

Extent floor_quotient(const Extent& a, const Extent& b) {
  if (a.undecided_ || b.undecided_) return Extent::undecided();
  const auto divisor = b.number();
  if (divisor && *divisor <= 0) return Extent::undecided();
  if (divisor == 1) return a;
  if (auto exact = divide_exactly(a, b)) return *exact;
  if (!divisor) return Extent::of_atom({Kind::quotient, {a, b}, {}, 0, 0, 0});
  // a = b * whole + rest, factors and number of the rest in [0, b).
  Extent whole(floor_div(a.number_, *divisor)), rest(a.number_ - whole.number_ * *divisor);
  for (const Term& term : a.terms_) {
    const int64_t times = floor_div(term.factor, *divisor), left = term.factor - times * *divisor;
    if (times != 0) whole.terms_.push_back({term.atoms, times});
    if (left != 0) rest.terms_.push_back({term.atoms, left});
  }
  if (rest.terms_.empty()) return whole;
  // floor((floor(p / q) + k) / b) = floor((p + k q) / (b q))
  if (rest.terms_.size() == 1 && rest.terms_[0].factor == 1 && rest.terms_[0].atoms.size() == 1) {
    const ExtentAtom& inner = *rest.terms_[0].atoms[0];
    const auto q = inner.kind == Kind::quotient ? inner.args[1].number() : std::nullopt;
    int64_t both = 0;
    if (q && !__builtin_mul_overflow(*q, *divisor, &both))
      return whole + floor_quotient(inner.args[0] + Extent(rest.number_) * Extent(*q), Extent(both));
  }
  return whole + Extent::of_atom({Kind::quotient, {rest, b}, {}, 0, 0, 0});
}

Extents members_of(const Extent& extent) {
  if (extent.number() == 1) return {};
  const auto& terms = extent.terms();
  const bool is_atom = terms.size() == 1 && terms[0].factor == 1 && terms[0].atoms.size() == 1;
  if (is_atom && extent.constant_term() == 0 && terms[0].atoms[0]->kind == Kind::joint) return terms[0].atoms[0]->args;
  return {extent};
}

Extent joint(std::span<const Extent> members) {
  Extents all;
  for (const Extent& member : members) {
    if (member.is_undecided()) return Extent::undecided();
    for (Extent& part : members_of(member)) all.push_back(std::move(part));
  }
  std::ranges::sort(all, [](const Extent& a, const Extent& b) { return order(a, b) < 0; });
  all.erase(std::unique(all.begin(), all.end(), [](const Extent& a, const Extent& b) { return a.same(b); }), all.end());
  if (all.empty()) return 1;
  // Next to a number that is not 1 every other member is 1 or that number.
  Extents numbers;
  std::ranges::copy_if(all, std::back_inserter(numbers), [](const Extent& one) { return one.is_number(); });
  if (!numbers.empty()) return numbers.size() == 1 ? numbers[0] : Extent::undecided();
  if (all.size() == 1) return all[0];
  int64_t least = all[0].at_least(1) ? 1 : 0;
  for (const Extent& one : all) least = std::min<int64_t>(least, one.at_least(1) ? 1 : 0);
  return Extent::of_atom({Kind::joint, std::move(all), {}, least, 0, 0});
}

Extent window_up(const Extent& extent, std::vector<int64_t> numbers) {
  if (const auto number = extent.number()) {
    const auto found = window_extent(*number, numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], true);
    return found ? Extent(*found) : Extent::undecided();
  }
  return Extent::of_atom({Kind::window, {extent}, std::move(numbers), 1, 0, 0});
}

Extent scaled_extent(const Extent& extent, double scale) {
  if (const auto number = extent.number()) {
    const auto found = scaled_number(*number, scale);
    return found ? Extent(*found) : Extent::undecided();
  }
  constexpr double kMost = 1 << 20;
  if (scale >= 1 && scale == std::floor(scale) && scale <= kMost) return extent * Extent(static_cast<int64_t>(scale));
  return Extent::of_atom({Kind::scaled, {extent}, {std::bit_cast<int64_t>(scale)}, 0, 0, 0});
}

Extent known_at_least(const Extent& extent, int64_t bound) {
  const bool is_atom = extent.terms_.size() == 1 && extent.terms_[0].factor == 1 && extent.terms_[0].atoms.size() == 1;
  if (extent.undecided_ || !is_atom || extent.at_least(bound)) return extent;
  ExtentAtom atom = *extent.terms_[0].atoms[0];
  atom.least = bound - extent.number_;
  Extent result = extent;
  result.terms_[0].atoms[0] = std::make_shared<const ExtentAtom>(std::move(atom));
  return result;
}

Extent product(std::span<const Extent> extents) {
  Extent result(1);
  for (const Extent& extent : extents) result = result * extent;
  return result;
}

}  // namespace rlgo::ops
