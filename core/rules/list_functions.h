// The functions of the rule language that take integers and lists of integers. Stated once for every kind of integer:
// numbers, extents that depend on open sizes (value.cc), the prover's symbols (core/rulegen/prove/sym_expr.cc).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/rules/ast.h"

namespace rlgo::rules {

// Place k of a list of that size, where k < 0 counts from the end; nothing where there is none.
inline std::optional<size_t> place(int64_t k, size_t size) {
  const int64_t at = k < 0 ? k + static_cast<int64_t>(size) : k;
  return at >= 0 && at < static_cast<int64_t>(size) ? std::optional(static_cast<size_t>(at)) : std::nullopt;
}

// What a kind of integer is, its domain D, gives:
//   Value                       a value of the language; Value() is none
//   Int, List                   an integer, and a vector of them
//   kMostItems                  of a list that iota() and repeat() make
//   integer(value), list(value) a pointer or an optional; empty for a value of another kind
//   number(i)                   the int64_t that it is, an optional; empty where that is not known
//   equal(a, b)                 an optional bool; empty where that is not known
//   combine(fn, a, b, &none)    an optional Int, of + - * / % min max; empty with `none` where there is no such number
//   broadcast(a, b)             of two lists: a Value
//   make(k), of(int or list), truth(bool), open()  the other way; open() is what cannot be decided
template <typename D>
class ListFunctions {
 public:
  using Value = typename D::Value;
  using Int = typename D::Int;
  using List = typename D::List;
  using Args = std::span<const Value>;
  explicit ListFunctions(D domain) : d_(std::move(domain)) {}

  // fn: len, item, cat, sum, product, index_of, has, iota, repeat, pick, inverse, set, sub or broadcast.
  Value call(Fn fn, Args args) {
    if (fn == Fn::cat) return cat(args);
    if (fn == Fn::iota || fn == Fn::repeat) return sequence(fn, args);
    const auto list = d_.list(args[0]);
    if (!list) return {};
    switch (fn) {
      case Fn::len:
        return count(list->size());
      case Fn::item:
      case Fn::set:
        return at_place(*list, args);
      case Fn::sum:
      case Fn::product:
        return total(fn == Fn::sum ? Fn::add : Fn::multiply, *list);
      case Fn::has:
      case Fn::index_of:
        return find(fn, *list, args[1]);
      case Fn::inverse:
        return inverse(*list);
      case Fn::sub:
        return sub(*list, args);
      default:
        break;
    }
    const auto other = d_.list(args[1]);
    if (!other) return {};
    return fn == Fn::pick ? pick(*list, *other) : d_.broadcast(*list, *other);
  }

  // + - * / % min max, item by item where one is a list. Nothing where neither argument is a list and one no integer.
  std::optional<Value> arithmetic(Fn fn, const Value& a, const Value& b) {
    const auto as = d_.list(a), bs = d_.list(b);
    const auto x = d_.integer(a), y = d_.integer(b);
    bool none = false;
    if (!as && !bs) {
      if (!x || !y) return std::nullopt;
      const auto made = d_.combine(fn, *x, *y, &none);
      return made ? d_.of(*made) : unknown(none);
    }
    if ((!as && !x) || (!bs && !y) || (as && bs && as->size() != bs->size())) return Value();
    List out;
    for (size_t k = 0; k < (as ? as->size() : bs->size()); ++k) {
      auto made = d_.combine(fn, as ? (*as)[k] : *x, bs ? (*bs)[k] : *y, &none);
      if (!made) return unknown(none);
      out.push_back(std::move(*made));
    }
    return d_.of(std::move(out));
  }

 private:
  Value unknown(bool none) { return none ? Value() : d_.open(); }
  Value count(size_t k) { return d_.of(d_.make(static_cast<int64_t>(k))); }

  // item(list, place), set(list, place, item)
  Value at_place(const List& list, Args args) {
    const auto index = d_.integer(args[1]);
    if (!index) return {};
    const auto k = d_.number(*index);
    if (!k) return d_.open();
    const auto at = place(*k, list.size());
    if (!at) return {};
    if (args.size() == 2) return d_.of(list[*at]);
    const auto item = d_.integer(args[2]);
    if (!item) return {};
    List out = list;
    out[*at] = *item;
    return d_.of(std::move(out));
  }

  // Lists and integers, one behind the other.
  Value cat(Args args) {
    List out;
    for (const Value& arg : args) {
      if (const auto one = d_.integer(arg)) {
        out.push_back(*one);
      } else if (const auto list = d_.list(arg)) {
        out.insert(out.end(), list->begin(), list->end());
      } else {
        return {};
      }
    }
    return d_.of(std::move(out));
  }

  Value total(Fn fn, const List& list) {
    Int sum = d_.make(fn == Fn::add ? 0 : 1);
    bool none = false;
    for (const Int& item : list) {
      auto next = d_.combine(fn, sum, item, &none);
      if (!next) return unknown(none);
      sum = std::move(*next);
    }
    return d_.of(std::move(sum));
  }

  // index_of(list, item) is the place of the first such item.
  Value find(Fn fn, const List& list, const Value& item) {
    const auto wanted = d_.integer(item);
    if (!wanted) return {};
    for (size_t k = 0; k < list.size(); ++k) {
      const auto same = d_.equal(list[k], *wanted);
      if (!same) return d_.open();
      if (*same) return fn == Fn::has ? d_.truth(true) : count(k);
    }
    return fn == Fn::has ? d_.truth(false) : Value();
  }

  // iota(n) = [0, 1, .., n-1]; repeat(item, n)
  Value sequence(Fn fn, Args args) {
    const auto first = d_.integer(args[0]), length = d_.integer(args.back());
    if (!first || !length) return {};
    const auto n = d_.number(*length);
    if (!n) return d_.open();
    if (*n < 0 || *n > D::kMostItems) return unknown(*n < 0);
    List out;
    for (int64_t k = 0; k < *n; ++k) out.push_back(fn == Fn::iota ? d_.make(k) : *first);
    return d_.of(std::move(out));
  }

  // pick(list, places): [list[p] for p in places]; transpose(transpose(x, q), p) has the perm pick(q, p).
  Value pick(const List& list, const List& places) {
    List out;
    for (const Int& item : places) {
      const auto k = d_.number(item);
      if (!k) return d_.open();
      const auto at = place(*k, list.size());
      if (!at) return {};
      out.push_back(list[*at]);
    }
    return d_.of(std::move(out));
  }

  Value inverse(const List& perm) {
    std::vector<int64_t> places(perm.size(), -1);
    for (size_t k = 0; k < perm.size(); ++k) {
      const auto p = d_.number(perm[k]);
      if (!p) return d_.open();
      if (*p < 0 || *p >= static_cast<int64_t>(perm.size()) || places[static_cast<size_t>(*p)] >= 0) return {};
      places[static_cast<size_t>(*p)] = static_cast<int64_t>(k);
    }
    List out;
    for (const int64_t p : places) out.push_back(d_.make(p));
    return d_.of(std::move(out));
  }

  // sub(list, begin, end)
  Value sub(const List& list, Args args) {
    const auto first = d_.integer(args[1]), last = d_.integer(args[2]);
    if (!first || !last) return {};
    const auto begin = d_.number(*first), end = d_.number(*last);
    if (!begin || !end) return d_.open();
    if (*begin < 0 || *begin > *end || *end > static_cast<int64_t>(list.size())) return {};
    return d_.of(List(list.begin() + *begin, list.begin() + *end));
  }

  D d_;
};

}  // namespace rlgo::rules
