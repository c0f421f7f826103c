#include "core/rules/open_value.h"

#include <algorithm>

namespace rlgo::rules {
std::optional<ops::Extent> OpenNumbers::combine(Fn fn, const Int& a, const Int& b, bool*) {
  const auto undecided = ops::Extent::undecided();
  switch (fn) {
    case Fn::add:
      return a + b;
    case Fn::subtract:
      return a - b;
    case Fn::multiply:
      return a * b;
    case Fn::min:
    case Fn::max: {
      const auto less = ops::decide_less_equal(a, b);
      return !less ? undecided : (*less == (fn == Fn::min) ? a : b);
    }
    default:
      break;
  }
  if (!b.is_number() && !(a.at_least(0) && b.at_least(1))) return undecided;
  const auto quotient = ops::floor_quotient(a, b);
  return fn == Fn::divide ? quotient : a - quotient * b;
}

bool is_open(Args args) {
  return std::ranges::any_of(
      args, [](const Val& v) { return std::holds_alternative<OpenInt>(v) || std::holds_alternative<OpenInts>(v); });
}

std::optional<bool> open_same(const Val& a, const Val& b) {
  const auto x = to_extent(a), y = to_extent(b);
  if (x && y) return ops::decide_equal(*x, *y);
  const auto xs = to_extents(a), ys = to_extents(b);
  if (!xs || !ys) return std::nullopt;
  if (xs->size() != ys->size()) return false;
  bool certain = true;
  for (size_t k = 0; k < xs->size(); ++k) {
    const auto equal = ops::decide_equal((*xs)[k], (*ys)[k]);
    if (equal == false) return false;
    certain = certain && equal;
  }
  return certain ? std::optional(true) : std::nullopt;
}

Val open_compare(const Val& a, const Val& b, bool or_equal) {
  const auto x = to_extent(a), y = to_extent(b);
  if (!x || !y) return {};
  const auto answer = or_equal ? ops::decide_less_equal(*x, *y) : ops::decide_less(*x, *y);
  return answer ? Val(*answer) : Val();
}

Val OpenNumbers::broadcast(const List& a, const List& b) {
  const auto &longer = a.size() >= b.size() ? a : b, &shorter = a.size() >= b.size() ? b : a;
  List out = longer;
  for (size_t k = 0; k < shorter.size(); ++k) {
    Int& extent = out[longer.size() - shorter.size() + k];
    if (extent.same(shorter[k]) || shorter[k].number() == 1) continue;
    if (extent.number() != 1) return {};
    extent = shorter[k];
  }
  return from_extents(out);
}

bool OpenInts::operator==(const OpenInts& other) const {
  return std::ranges::equal(*extents, *other.extents,
                            [](const ops::Extent& a, const ops::Extent& b) { return a.same(b); });
}

Val from_extent(const ops::Extent& extent) {
  if (extent.is_undecided()) return {};
  if (const auto number = extent.number()) return *number;
  return OpenInt{std::make_shared<const ops::Extent>(extent)};
}

Val from_extents(const ops::Extents& extents) {
  ops::Ints numbers;
  for (const ops::Extent& extent : extents) {
    if (extent.is_undecided()) return {};
    if (const auto number = extent.number()) numbers.push_back(*number);
  }
  if (numbers.size() == extents.size()) return numbers;
  return OpenInts{std::make_shared<const ops::Extents>(extents)};
}

std::optional<ops::Extent> to_extent(const Val& value) {
  if (const auto* i = std::get_if<int64_t>(&value)) return ops::Extent(*i);
  const auto* open = std::get_if<OpenInt>(&value);
  return open ? std::optional(*open->extent) : std::nullopt;
}

std::optional<ops::Extents> to_extents(const Val& value) {
  if (const auto* l = std::get_if<ops::Ints>(&value)) return ops::Extents(l->begin(), l->end());
  const auto* open = std::get_if<OpenInts>(&value);
  return open ? std::optional(*open->extents) : std::nullopt;
}

}  // namespace rlgo::rules
