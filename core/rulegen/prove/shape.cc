#include "core/rulegen/prove/shape.h"

#include <algorithm>

#include "core/base/error.h"

namespace rlgo::rulegen::sym {

void Facts::clear() {
  solved_.clear();
  zeros_.clear();
  nonnegative_.clear();
  bounds_.clear();
  reals_.clear();
  orders_.clear();
  real_different_.clear();
  compatible_.clear();
  different_.clear();
  absorbs_.clear();
  any_.clear();
  quotients_.clear();
  forget_canon();
  changed_ = false;
}

void Facts::learnt() {
  changed_ = true;
  forget_canon();
}

bool Facts::take_changed() { return std::exchange(changed_, false); }

bool Facts::refresh() {
  forget_canon();
  const auto zeros = std::exchange(zeros_, {});
  bool consistent = true;
  for (const auto& zero : zeros) consistent = consistent && solve(without_common_factor(canon(zero.whole)));
  bounds_.clear();
  for (ExtentId p : std::exchange(nonnegative_, {})) note_nonnegative(canon(p));
  for (auto* pairs : {&compatible_, &different_}) {
    std::set<std::pair<ExtentId, ExtentId>> fresh;
    for (const auto& [a, b] : *pairs) fresh.insert(ordered(canon(a), canon(b)));
    *pairs = fresh;
  }
  std::set<std::pair<std::vector<ExtentId>, ExtentId>> absorbing;
  for (const auto& [big, small] : absorbs_) {
    std::vector<ExtentId> fresh;
    for (ExtentId m : big) fresh.push_back(substituted(m));
    std::ranges::sort(fresh);
    fresh.erase(std::unique(fresh.begin(), fresh.end()), fresh.end());
    absorbing.emplace(fresh, substituted(small));
  }
  absorbs_ = absorbing;
  for (const auto& all : std::exchange(any_, {})) any_.insert(normal(all));
  forget_canon();
  return consistent;
}

std::vector<ExtentId> Facts::normal(std::vector<ExtentId> all) {
  for (ExtentId& item : all) item = canon(item);
  std::ranges::sort(all);
  return all;
}

Truth Facts::any_at_least_zero(const std::vector<ExtentId>& all) {
  Truth any = Truth::no;
  for (const ExtentId item : all) {
    const Truth one = at_least(item, 0);
    if (one == Truth::yes) return one;
    if (one == Truth::unknown) any = one;
  }
  return any == Truth::unknown && any_.contains(normal(all)) ? Truth::yes : any;
}

bool Facts::assume_any_at_least_zero(const std::vector<ExtentId>& all) {
  const Truth known = any_at_least_zero(all);
  if (known == Truth::unknown) {
    any_.insert(normal(all));
    learnt();
  }
  return known != Truth::no;
}

// The extents that this one is the broadcast of; itself where it is no joint; none for 1.
std::vector<ExtentId> Facts::members(ExtentId extent) {
  const auto number = pool_.value(extent);
  if (number && *number == 1) return {};
  const int32_t atom = pool_.as_atom(extent);
  if (atom >= 0 && pool_.atom(atom).kind == Atom::Kind::joint) return pool_.atom(atom).args;
  return {extent};
}

ExtentId Facts::joint(std::span<const ExtentId> extents) {
  std::vector<ExtentId> all;
  for (ExtentId extent : extents) {
    const auto some = members(canon(extent));
    all.insert(all.end(), some.begin(), some.end());
  }
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  for (bool again = true; again;) {
    again = false;
    for (const auto& [big, small] : absorbs_) {
      const auto at = std::ranges::find(all, small);
      if (at == all.end() || std::ranges::find(big, small) != big.end()) continue;
      if (!std::ranges::includes(all, big)) continue;
      all.erase(at);
      again = true;
      break;
    }
  }
  if (all.empty()) return pool_.number(1);
  return all.size() == 1 ? all[0] : pool_.joint(std::move(all));
}

// Whether substituted() leaves it as it is.
bool Facts::is_stable(ExtentId a) {
  for (const auto& item : pool_.sum(a)) {
    for (int32_t index : item.atoms) {
      const Atom& atom = pool_.atom(index);
      if (atom.kind == Atom::Kind::symbol) {
        if (solved_.contains(index)) return false;
        continue;
      }
      if (!std::ranges::all_of(atom.args, [&](ExtentId arg) { return canon(arg) == arg; })) return false;
      if (atom.kind == Atom::Kind::joint && joint(atom.args) != pool_.of_atom(index)) return false;
    }
  }
  return true;
}

// Symbols replaced by what they are; broadcast extents and quotients made again.
ExtentId Facts::substituted(ExtentId a) {
  if (is_stable(a)) return a;
  ExtentId out = pool_.number(0);
  for (const auto& item : pool_.sum(a)) {
    ExtentId piece = pool_.number(item.factor);
    for (int32_t index : item.atoms) {
      const Atom& atom = pool_.atom(index);
      ExtentId made = pool_.of_atom(index);
      if (const auto held = solved_.find(index); held != solved_.end()) made = substituted(held->second);
      std::vector<ExtentId> args;
      if (atom.kind != Atom::Kind::symbol) {
        for (ExtentId arg : atom.args) args.push_back(canon(arg));
      }
      if (atom.kind == Atom::Kind::joint) made = joint(args);
      if (atom.kind == Atom::Kind::opaque) made = pool_.opaque(atom.name, args, atom.least);
      if (atom.kind == Atom::Kind::quotient) {
        const auto divisor = pool_.value(args[1]);
        if (!divisor || *divisor != 0) made = pool_.quotient(args[0], args[1]);
      }
      piece = pool_.mul(piece, made);
    }
    out = pool_.add(out, piece);
  }
  return out;
}

bool Facts::reduce_once(ExtentId& a) {
  for (const auto& zero : zeros_) {
    if (zero.lead.empty()) continue;
    for (const auto& item : pool_.sum(a)) {
      Monomial rest;
      if (!divides(zero.lead, item.atoms, &rest)) continue;
      const ExtentId old_piece = pool_.intern({item});
      const ExtentId new_piece = pool_.mul(zero.rest, pool_.intern({{rest, item.factor}}));
      a = pool_.add(pool_.sub(a, old_piece), new_piece);
      return true;
    }
  }
  return false;
}

// Summands that contain the lead of an equation are replaced. The order is graded, so this ends.
ExtentId Facts::reduced(ExtentId a) {
  for (int round = 0; round < 200 && reduce_once(a); ++round) {
  }
  return a;
}

ExtentId Facts::canon(ExtentId a) {
  const auto place = static_cast<size_t>(a);
  if (place < canon_.size() && canon_[place].first == generation_) return canon_[place].second;
  const uint32_t generation = generation_;
  const ExtentId out = reduced(substituted(a));
  if (canon_.size() <= place) canon_.resize(2 * place + 64);
  canon_[place] = {generation, out};
  return out;
}

void Facts::note_nonnegative(ExtentId p) {
  nonnegative_.insert(p);
  const Sum& terms = pool_.sum(p);
  int32_t atom = -1;
  int64_t bound = 0;
  for (const auto& item : terms) {
    if (item.atoms.empty()) bound = -item.factor;
    if (item.atoms.size() == 1 && item.factor == 1 && atom < 0) {
      atom = item.atoms[0];
    } else if (!item.atoms.empty()) {
      return;
    }
  }
  if (atom < 0) return;
  const auto [held, is_new] = bounds_.emplace(atom, bound);
  if (!is_new) held->second = std::max(held->second, bound);
}

std::optional<int64_t> Facts::atom_bound(int32_t index, int depth) {
  const Atom& atom = pool_.atom(index);
  const auto held = bounds_.find(index);
  const auto noted = held == bounds_.end() ? std::nullopt : std::optional(held->second);
  if (atom.kind == Atom::Kind::symbol || atom.kind == Atom::Kind::opaque)
    return std::max(atom.least, noted.value_or(atom.least));
  if (noted) return noted;
  if (atom.kind == Atom::Kind::joint) {
    std::optional<int64_t> least;
    for (ExtentId member : atom.args) {
      const auto bound = lower_bound(member, depth);
      if (!bound) return std::nullopt;
      least = std::min(least.value_or(*bound), *bound);
    }
    return least;
  }
  if (depth > 0 && nonnegative(atom.args[0], depth - 1) && nonnegative(pool_.sub(atom.args[1], pool_.number(1)), 0))
    return 0;
  return std::nullopt;
}

std::optional<int64_t> Facts::summand_bound(const Summand& item, int depth) {
  __extension__ __int128 least = item.factor;
  for (int32_t index : item.atoms) {
    const auto bound = item.factor > 0 ? atom_bound(index, depth) : std::nullopt;
    if (!bound || *bound < 0) return std::nullopt;
    least *= *bound;
    if (least > INT64_MAX) return std::nullopt;
  }
  return static_cast<int64_t>(least);
}

// Nothing where some summand is not bounded below.
std::optional<int64_t> Facts::lower_bound(ExtentId p, int depth) {
  const Sum& terms = pool_.sum(p);
  __extension__ __int128 total = 0;
  for (const auto& item : terms) {
    const auto bound = summand_bound(item, depth);
    if (!bound) return std::nullopt;
    total += *bound;
  }
  return total < INT64_MAX && total > INT64_MIN ? std::optional(static_cast<int64_t>(total)) : std::nullopt;
}

bool Facts::nonnegative(ExtentId p, int depth) {
  if (nonnegative_.contains(p)) return true;
  if (const auto bound = lower_bound(p, 1)) return *bound >= 0;
  if (depth == 0) return false;
  Sum open;  // summands without a bound: a known fact must take them away
  for (const auto& item : pool_.sum(p)) {
    if (!summand_bound(item, 1)) open.push_back(item);
  }
  for (const auto& item : open) {  // b * (a / b) <= a
    for (int32_t index : item.atoms) {
      const Atom& atom = pool_.atom(index);
      if (item.factor != -1 || atom.kind != Atom::Kind::quotient) continue;
      const ExtentId rest = pool_.sub(atom.args[0], pool_.mul(atom.args[1], pool_.of_atom(index)));
      if (nonnegative(pool_.sub(atom.args[1], pool_.number(1)), 0) && nonnegative(pool_.sub(p, rest), 0)) return true;
    }
  }
  for (ExtentId fact : nonnegative_) {
    const bool helps = std::ranges::any_of(pool_.sum(fact), [&](const Summand& other) {
      return std::ranges::any_of(open, [&](const Summand& item) {
        return (other.factor < 0) == (item.factor < 0) && other.atoms == item.atoms;
      });
    });
    if (helps && nonnegative(pool_.sub(p, fact), depth - 1)) return true;
  }
  return false;
}

Truth Facts::at_least(ExtentId a, int64_t bound) {
  const ExtentId p = canon(pool_.sub(a, pool_.number(bound)));
  if (const auto number = pool_.value(p)) return *number >= 0 ? Truth::yes : Truth::no;
  if (nonnegative(p, 2)) return Truth::yes;
  return nonnegative(pool_.sub(pool_.number(-1), p), 2) ? Truth::no : Truth::unknown;
}

Truth Facts::equal(ExtentId a, ExtentId b) {
  if (a == b) return Truth::yes;
  const ExtentId x = canon(a), y = canon(b);
  if (x == y) return Truth::yes;
  const ExtentId p = without_common_factor(canon(pool_.sub(x, y)));
  if (const auto number = pool_.value(p)) return *number == 0 ? Truth::yes : Truth::no;
  for (const auto& zero : zeros_) {
    if (zero.whole == p || zero.whole == pool_.sub(pool_.number(0), p)) return Truth::yes;
  }
  if (different_.contains(ordered(x, y))) return Truth::no;
  if (at_least(p, 1) == Truth::yes || at_least(pool_.sub(pool_.number(0), p), 1) == Truth::yes) return Truth::no;
  return Truth::unknown;
}

bool Facts::compatible(ExtentId a, ExtentId b) {
  for (ExtentId x : members(canon(a))) {
    for (ExtentId y : members(canon(b))) {
      if (x == y || compatible_.contains(ordered(x, y))) continue;
      // What absorbs x agrees with all that x agrees with.
      const bool through = std::ranges::any_of(absorbs_, [&](const auto& fact) {
        const auto& [big, small] = fact;
        const auto reaches = [&, &big = big, &small = small](ExtentId one, ExtentId other) {
          return small == one && std::ranges::all_of(big, [&](ExtentId m) {
                   return m == other || compatible_.contains(ordered(m, other));
                 });
        };
        return reaches(x, y) || reaches(y, x);
      });
      if (!through) return false;
    }
  }
  return true;
}

bool Facts::absorbs(ExtentId big, ExtentId small) {
  const ExtentId whole = canon(big);
  const std::vector<ExtentId> both{whole, small};
  return joint(both) == whole;
}

}  // namespace rlgo::rulegen::sym
