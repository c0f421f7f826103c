#include "core/rules/open_value.h"

#include <algorithm>

namespace rlgo::rules {
namespace {

// Undecided where the answer is not one function of the sizes.
ops::Extent combine(Fn op, const ops::Extent& a, const ops::Extent& b) {
  const auto undecided = ops::Extent::undecided();
  switch (op) {
    case Fn::add:
      return a + b;
    case Fn::subtract:
      return a - b;
    case Fn::multiply:
      return a * b;
    case Fn::min:
    case Fn::max: {
      const auto less = ops::decide_less_equal(a, b);
      return !less ? undecided : (*less == (op == Fn::min) ? a : b);
    }
    default:
      break;
  }
  if (!b.is_number() && !(a.at_least(0) && b.at_least(1))) return undecided;
  const auto quotient = ops::floor_quotient(a, b);
  return op == Fn::divide ? quotient : a - quotient * b;
}

}  // namespace

bool is_open(Args args) {
  return std::ranges::any_of(
      args, [](const Val& v) { return std::holds_alternative<OpenInt>(v) || std::holds_alternative<OpenInts>(v); });
}

Val open_arithmetic(Fn op, Args args) {
  const auto x = to_extent(args[0]), y = to_extent(args[1]);
  if (x && y) return from_extent(combine(op, *x, *y));
  const auto xs = to_extents(args[0]), ys = to_extents(args[1]);
  if ((!x && !xs) || (!y && !ys) || (xs && ys && xs->size() != ys->size())) return {};
  ops::Extents out;
  for (size_t k = 0; k < (xs ? xs->size() : ys->size()); ++k)
    out.push_back(combine(op, xs ? (*xs)[k] : *x, ys ? (*ys)[k] : *y));
  return from_extents(out);
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

std::optional<size_t> place(const Val& index, size_t size) {
  const auto* k = std::get_if<int64_t>(&index);
  if (!k) return std::nullopt;
  const int64_t at = *k < 0 ? *k + static_cast<int64_t>(size) : *k;
  return at >= 0 && at < static_cast<int64_t>(size) ? std::optional(static_cast<size_t>(at)) : std::nullopt;
}

Val open_item(Args args) {
  const auto l = to_extents(args[0]);
  const auto k = l ? place(args[1], l->size()) : std::nullopt;
  return k ? from_extent((*l)[*k]) : Val();
}

Val open_pick(Args args) {
  const auto l = to_extents(args[0]);
  const auto* places = std::get_if<ops::Ints>(&args[1]);
  if (!l || !places) return {};
  ops::Extents out;
  for (const int64_t p : *places) {
    const auto k = place(Val(p), l->size());
    if (!k) return {};
    out.push_back((*l)[*k]);
  }
  return from_extents(out);
}

Val open_set(Args args) {
  auto l = to_extents(args[0]);
  const auto one = to_extent(args[2]);
  const auto k = l ? place(args[1], l->size()) : std::nullopt;
  if (!k || !one) return {};
  (*l)[*k] = *one;
  return from_extents(*l);
}

Val open_cat(Args args) {
  ops::Extents out;
  for (const Val& arg : args) {
    if (const auto one = to_extent(arg)) {
      out.push_back(*one);
    } else if (const auto some = to_extents(arg)) {
      out.insert(out.end(), some->begin(), some->end());
    } else {
      return {};
    }
  }
  return from_extents(out);
}

std::optional<size_t> open_place(Args args) {
  const auto l = to_extents(args[0]);
  const auto wanted = to_extent(args[1]);
  if (!l || !wanted) return std::nullopt;
  for (size_t k = 0; k < l->size(); ++k) {
    const auto equal = ops::decide_equal((*l)[k], *wanted);
    if (equal != false) return equal ? std::optional(k) : std::nullopt;
  }
  return l->size();
}

Val open_broadcast(Args args) {
  const auto a = to_extents(args[0]), b = to_extents(args[1]);
  if (!a || !b) return {};
  const auto &longer = a->size() >= b->size() ? *a : *b, &shorter = a->size() >= b->size() ? *b : *a;
  ops::Extents out = longer;
  for (size_t k = 0; k < shorter.size(); ++k) {
    ops::Extent& extent = out[longer.size() - shorter.size() + k];
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
