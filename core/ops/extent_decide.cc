// Questions about extents that hold for all sizes, and their text.
#include <algorithm>
#include <numeric>

#include "core/base/error.h"
#include "core/ops/extent.h"

namespace rlgo::ops {
namespace {

std::string text_of(const ExtentAtom& atom) {
  std::vector<std::string> args;
  for (const Extent& arg : atom.args) args.push_back(arg.text());
  switch (atom.kind) {
    case ExtentAtom::Kind::symbol:
      return fmt::format("s{}", atom.numbers[0]);
    case ExtentAtom::Kind::quotient:
      return fmt::format("(({}) / {})", args[0], args[1]);
    case ExtentAtom::Kind::joint:
      return fmt::format("joint({})", fmt::join(args, ", "));
    case ExtentAtom::Kind::window:
      return fmt::format("window({}; {})", args[0], fmt::join(atom.numbers, ", "));
    case ExtentAtom::Kind::scaled:
      break;
  }
  return fmt::format("scaled({}; {})", args[0], atom.numbers[0]);
}

bool contains(const Extents& all, const Extents& some) {
  return std::ranges::all_of(some, [&](const Extent& one) {
    return one.number() == 1 || std::ranges::any_of(all, [&](const Extent& other) { return other.same(one); });
  });
}

}  // namespace

std::string Extent::text() const {
  if (undecided_) return "?";
  std::string text;
  for (const Term& term : terms_) {
    if (!text.empty()) text += term.factor < 0 ? " - " : " + ";
    if (text.empty() && term.factor < 0) text += "-";
    const int64_t size = term.factor < 0 ? -term.factor : term.factor;
    if (size != 1) text += fmt::format("{}*", size);
    for (size_t k = 0; k < term.atoms.size(); ++k) text += (k > 0 ? "*" : "") + text_of(*term.atoms[k]);
  }
  if (text.empty()) return std::to_string(number_);
  if (number_ != 0) text += fmt::format(" {} {}", number_ < 0 ? '-' : '+', number_ < 0 ? -number_ : number_);
  return text;
}

std::optional<bool> decide_equal(const Extent& a, const Extent& b) {
  if (a.is_undecided() || b.is_undecided()) return std::nullopt;
  if (a.same(b)) return true;
  const Extent difference = a - b;
  if (difference.is_undecided()) return std::nullopt;
  if (difference.is_number()) return difference.constant_term() == 0;
  if (difference.at_least(1) || (b - a).at_least(1)) return false;
  // 2 * s + 1 is no multiple of 2.
  int64_t common = 0;
  for (const auto& term : difference.terms()) common = std::gcd(common, term.factor);
  return common != 0 && difference.constant_term() % common != 0 ? std::optional(false) : std::nullopt;
}

std::optional<bool> decide_less(const Extent& a, const Extent& b) {
  if ((b - a).at_least(1)) return true;
  return (a - b).at_least(0) ? std::optional(false) : std::nullopt;
}

std::optional<bool> decide_less_equal(const Extent& a, const Extent& b) {
  const auto greater = decide_less(b, a);
  return greater ? std::optional(!*greater) : std::nullopt;
}

bool is_implied(const Requirement& wanted, std::span<const Requirement> known) {
  using Kind = Requirement::Kind;
  return std::ranges::any_of(known, [&](const Requirement& fact) {
    if (fact.kind == Kind::equal && wanted.kind == Kind::equal) {
      return (fact.a.same(wanted.a) && fact.b.same(wanted.b)) || (fact.a.same(wanted.b) && fact.b.same(wanted.a)) ||
             (fact.a - fact.b).same(wanted.a - wanted.b) || (fact.a - fact.b).same(wanted.b - wanted.a);
    }
    if (fact.kind == Kind::at_least && wanted.kind == Kind::at_least)
      return (wanted.a - fact.a).at_least(wanted.bound - fact.bound);
    if (fact.kind == Kind::broadcast && wanted.kind == Kind::broadcast)
      return contains(members_of(fact.a), members_of(wanted.a));
    return fact.kind == Kind::into && wanted.kind == Kind::into && fact.a.same(wanted.a) && fact.b.same(wanted.b);
  });
}

}  // namespace rlgo::ops
