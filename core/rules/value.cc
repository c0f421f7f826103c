#include "core/rules/value.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>

#include "core/base/error.h"
#include "core/rules/open_value.h"

namespace rlgo::rules {
namespace {

using ops::Ints;
constexpr int64_t kMaxList = 4096;  // longest list an expression may make

const int64_t* integer(const Val& v) { return std::get_if<int64_t>(&v); }
const Ints* list(const Val& v) { return std::get_if<Ints>(&v); }
std::optional<double> number(const Val& v) {
  if (const auto* i = integer(v)) return static_cast<double>(*i);
  if (const auto* f = std::get_if<double>(&v)) return *f;
  return std::nullopt;
}

// Nothing on overflow and division by zero.
std::optional<int64_t> combine(Fn op, int64_t a, int64_t b) {
  int64_t result = 0;
  switch (op) {
    case Fn::add:
      return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case Fn::subtract:
      return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case Fn::multiply:
      return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
    case Fn::min:
      return std::min(a, b);
    case Fn::max:
      return std::max(a, b);
    default:
      break;
  }
  if (b == 0 || (b == -1 && a == INT64_MIN)) return std::nullopt;
  const int64_t quotient = a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);  // rounds down
  return op == Fn::divide ? quotient : a - quotient * b;
}

std::optional<double> combine(Fn op, double a, double b) {
  switch (op) {
    case Fn::add:
      return a + b;
    case Fn::subtract:
      return a - b;
    case Fn::multiply:
      return a * b;
    case Fn::min:
      return std::min(a, b);
    case Fn::max:
      return std::max(a, b);
    case Fn::divide:
      return b == 0 ? std::nullopt : std::optional(a / b);
    default:
      return std::nullopt;
  }
}

template <Fn op>
Val arithmetic(Args args) {
  if (is_open(args)) return open_arithmetic(op, args);
  const auto *la = list(args[0]), *lb = list(args[1]);
  const auto *ia = integer(args[0]), *ib = integer(args[1]);
  if (la || lb) {
    const size_t size = la ? la->size() : lb->size();
    if (la && lb && la->size() != lb->size()) return {};
    if ((!la && !ia) || (!lb && !ib)) return {};
    Ints out;
    for (size_t k = 0; k < size; ++k) {
      const auto item = combine(op, la ? (*la)[k] : *ia, lb ? (*lb)[k] : *ib);
      if (!item) return {};
      out.push_back(*item);
    }
    return out;
  }
  if (ia && ib) {
    const auto result = combine(op, *ia, *ib);
    return result ? Val(*result) : Val();
  }
  const auto a = number(args[0]), b = number(args[1]);
  if (!a || !b) return {};
  const auto result = combine(op, *a, *b);
  return result ? Val(*result) : Val();
}

std::optional<bool> same(const Val& a, const Val& b) {
  if (!has_value(a) || !has_value(b)) return std::nullopt;
  if (is_open(std::array<Val, 2>{a, b})) return open_same(a, b);
  if (a.index() == b.index()) return a == b;
  const auto x = number(a), y = number(b);
  return x && y ? std::optional(*x == *y) : std::nullopt;
}
Val equal_to(Args args) {
  const auto result = same(args[0], args[1]);
  return result ? Val(*result) : Val();
}
Val not_equal(Args args) {
  const auto result = same(args[0], args[1]);
  return result ? Val(!*result) : Val();
}
template <typename Compare>
Val compare(Args args) {
  if (is_open(args)) {
    const bool or_equal = Compare()(0.0, 0.0), swapped = Compare()(1.0, 0.0);
    return open_compare(args[swapped ? 1 : 0], args[swapped ? 0 : 1], or_equal);
  }
  const auto a = number(args[0]), b = number(args[1]);
  return a && b ? Val(Compare()(*a, *b)) : Val();
}
// Three-valued: an unknown side leaves the answer open only where the other side does not decide.
Val both(Args args) {
  const auto *a = std::get_if<bool>(&args[0]), *b = std::get_if<bool>(&args[1]);
  if ((a && !*a) || (b && !*b)) return false;
  return a && b ? Val(true) : Val();
}
Val either(Args args) {
  if (is_true(args[0]) || is_true(args[1])) return true;
  return has_value(args[0]) && has_value(args[1]) ? Val(false) : Val();
}
Val negate_truth(Args args) {
  const auto* a = std::get_if<bool>(&args[0]);
  return a ? Val(!*a) : Val();
}
Val minus(Args args) {
  const std::array<Val, 2> zero{Val(int64_t{0}), args[0]};
  return arithmetic<Fn::subtract>(zero);
}

Val item(Args args) {
  if (is_open(args)) return open_item(args);
  const auto* l = list(args[0]);
  const auto k = l ? place(args[1], l->size()) : std::nullopt;
  return k ? Val((*l)[*k]) : Val();
}
// Lists and integers, one behind the other.
Val cat(Args args) {
  if (is_open(args)) return open_cat(args);
  Ints out;
  for (const Val& arg : args) {
    if (const auto* i = integer(arg)) {
      out.push_back(*i);
    } else if (const auto* l = list(arg)) {
      out.insert(out.end(), l->begin(), l->end());
    } else {
      return {};
    }
  }
  return out;
}
Val sum(Args args) {
  if (const auto open = is_open(args) ? to_extents(args[0]) : std::nullopt) {
    ops::Extent total;
    for (const ops::Extent& extent : *open) total = total + extent;
    return from_extent(total);
  }
  const auto* l = list(args[0]);
  if (!l) return {};
  Val total = int64_t{0};
  for (int64_t i : *l) total = arithmetic<Fn::add>(std::array<Val, 2>{total, Val(i)});
  return total;
}
Val product(Args args) {
  if (const auto open = is_open(args) ? to_extents(args[0]) : std::nullopt) return from_extent(ops::product(*open));
  const auto* l = list(args[0]);
  if (!l) return {};
  Val total = int64_t{1};
  for (int64_t i : *l) total = arithmetic<Fn::multiply>(std::array<Val, 2>{total, Val(i)});
  return total;
}
// index_of(list, item): place of the first such item.
Val index_of(Args args) {
  if (is_open(args)) {
    const auto at = open_place(args);
    return at && *at < to_extents(args[0])->size() ? Val(static_cast<int64_t>(*at)) : Val();
  }
  const auto* l = list(args[0]);
  const auto* wanted = integer(args[1]);
  if (!l || !wanted) return {};
  const auto at = std::ranges::find(*l, *wanted);
  return at == l->end() ? Val() : Val(static_cast<int64_t>(at - l->begin()));
}
Val has(Args args) {
  if (is_open(args)) {
    const auto at = open_place(args);
    return at ? Val(*at < to_extents(args[0])->size()) : Val();
  }
  const auto* l = list(args[0]);
  const auto* wanted = integer(args[1]);
  return l && wanted ? Val(std::ranges::find(*l, *wanted) != l->end()) : Val();
}
// iota(n) = [0, 1, .., n-1]
Val iota(Args args) {
  const auto* n = integer(args[0]);
  if (!n || *n < 0 || *n > kMaxList) return {};
  Ints out(static_cast<size_t>(*n));
  std::iota(out.begin(), out.end(), 0);
  return out;
}
Val repeat(Args args) {
  const auto *v = integer(args[0]), *n = integer(args[1]);
  return v && n && *n >= 0 && *n <= kMaxList ? Val(Ints(static_cast<size_t>(*n), *v)) : Val();
}
// pick(list, places): [list[p] for p in places]; transpose(transpose(x, q), p) has the perm pick(q, p).
Val pick(Args args) {
  if (is_open(args)) return open_pick(args);
  const auto *l = list(args[0]), *places = list(args[1]);
  if (!l || !places) return {};
  Ints out;
  for (int64_t p : *places) {
    const auto k = place(Val(p), l->size());
    if (!k) return {};
    out.push_back((*l)[*k]);
  }
  return out;
}
Val inverse(Args args) {
  const auto* perm = list(args[0]);
  if (!perm) return {};
  Ints out(perm->size(), -1);
  for (size_t k = 0; k < perm->size(); ++k) {
    const int64_t p = (*perm)[k];
    if (p < 0 || p >= static_cast<int64_t>(perm->size()) || out[static_cast<size_t>(p)] >= 0) return {};
    out[static_cast<size_t>(p)] = static_cast<int64_t>(k);
  }
  return out;
}
// set(list, place, item)
Val set_item(Args args) {
  if (is_open(args)) return open_set(args);
  const auto* l = list(args[0]);
  const auto* value = integer(args[2]);
  const auto k = l ? place(args[1], l->size()) : std::nullopt;
  if (!k || !value) return {};
  Ints out = *l;
  out[*k] = *value;
  return out;
}
// sub(list, begin, end)
Val sub(Args args) {
  const auto open = is_open(args) ? to_extents(args[0]) : std::nullopt;
  const auto* l = list(args[0]);
  const auto *begin = integer(args[1]), *end = integer(args[2]);
  const auto size = static_cast<int64_t>(open ? open->size() : l ? l->size() : 0);
  if ((!open && !l) || !begin || !end || *begin < 0 || *begin > *end || *end > size) return {};
  if (open) return from_extents({open->begin() + *begin, open->begin() + *end});
  return Ints(l->begin() + *begin, l->begin() + *end);
}
Val broadcast(Args args) {
  if (is_open(args)) return open_broadcast(args);
  const auto *a = list(args[0]), *b = list(args[1]);
  if (!a || !b) return {};
  const auto shape = ops::broadcast(ops::Shape(std::span<const int64_t>(*a)), ops::Shape(std::span<const int64_t>(*b)));
  return shape ? from_shape(*shape) : Val();
}
// near(a, b): equal up to the rounding of 32-bit numbers.
Val near(Args args) {
  const auto a = number(args[0]), b = number(args[1]);
  if (!a || !b) return {};
  return is_near(*a, *b);
}
// if(condition, then, else)
Val choose(Args args) {
  const auto* truth = std::get_if<bool>(&args[0]);
  return truth ? args[*truth ? 1 : 2] : Val();
}
Val root(Args args) {
  const auto x = number(args[0]);
  return x && *x >= 0 ? Val(std::sqrt(*x)) : Val();
}
Val length(Args args) {
  if (const auto* open = std::get_if<OpenInts>(&args[0])) return static_cast<int64_t>(open->extents->size());
  const auto* l = list(args[0]);
  return l ? Val(static_cast<int64_t>(l->size())) : Val();
}

constexpr int kAny = 64;
constexpr auto kFunctions = std::to_array<Function>({
    {Fn::rank, "rank", 1, 1, true, nullptr},
    {Fn::dim, "dim", 2, 2, true, nullptr},  // dim(?x, i); of a sequence: the list of them
    {Fn::shape, "shape", 1, 1, true, nullptr},
    {Fn::dtype, "dtype", 1, 1, true, nullptr},  // f32, i64, ...
    {Fn::elements, "elements", 1, 1, true, nullptr},
    {Fn::constant, "constant", 1, 1, true, nullptr},  // depends on weights alone
    {Fn::uses, "uses", 1, 1, true, nullptr},          // readers of a left node, graph outputs included
    {Fn::value, "value", 1, 1, true, nullptr},        // the number that all elements of a constant are
    {Fn::is_float, "float", 1, 1, true, nullptr},     // elements are floating-point numbers
    {Fn::count, "count", 1, 1, true, nullptr},        // of a sequence, or outputs of a split
    {Fn::total, "total", 1, 1, true, nullptr},  // has a value whatever the model reads: an input, a weight, a number
    {Fn::len, "len", 1, 1, false, length},
    {Fn::logical_or, "or", 2, 2, false, either},
    {Fn::logical_and, "and", 2, 2, false, both},
    {Fn::logical_not, "not", 1, 1, false, negate_truth},
    {Fn::equal, "==", 2, 2, false, equal_to},
    {Fn::not_equal, "!=", 2, 2, false, not_equal},
    {Fn::less, "<", 2, 2, false, compare<std::less<>>},
    {Fn::less_equal, "<=", 2, 2, false, compare<std::less_equal<>>},
    {Fn::greater, ">", 2, 2, false, compare<std::greater<>>},
    {Fn::greater_equal, ">=", 2, 2, false, compare<std::greater_equal<>>},
    {Fn::add, "+", 2, 2, false, arithmetic<Fn::add>},
    {Fn::subtract, "-", 2, 2, false, arithmetic<Fn::subtract>},
    {Fn::multiply, "*", 2, 2, false, arithmetic<Fn::multiply>},
    {Fn::divide, "/", 2, 2, false, arithmetic<Fn::divide>},
    {Fn::remainder, "%", 2, 2, false, arithmetic<Fn::remainder>},
    {Fn::negate, "neg", 1, 1, false, minus},
    {Fn::item, "[]", 2, 2, false, item},
    {Fn::min, "min", 2, 2, false, arithmetic<Fn::min>},
    {Fn::max, "max", 2, 2, false, arithmetic<Fn::max>},
    {Fn::cat, "cat", 1, kAny, false, cat},
    {Fn::sum, "sum", 1, 1, false, sum},
    {Fn::product, "product", 1, 1, false, product},
    {Fn::index_of, "index_of", 2, 2, false, index_of},
    {Fn::has, "has", 2, 2, false, has},
    {Fn::iota, "iota", 1, 1, false, iota},
    {Fn::repeat, "repeat", 2, 2, false, repeat},
    {Fn::pick, "pick", 2, 2, false, pick},
    {Fn::inverse, "inverse", 1, 1, false, inverse},
    {Fn::set, "set", 3, 3, false, set_item},
    {Fn::sub, "sub", 3, 3, false, sub},
    {Fn::broadcast, "broadcast", 2, 2, false, broadcast},
    {Fn::near, "near", 2, 2, false, near},
    {Fn::choose, "if", 3, 3, false, choose},
    {Fn::sqrt, "sqrt", 1, 1, false, root},
});
static_assert([] {
  for (size_t k = 0; k < kFunctions.size(); ++k) {
    if (kFunctions[k].fn != static_cast<Fn>(k)) return false;
  }
  return true;
}());

}  // namespace

bool is_near(double a, double b) {
  return a == b ||
         (std::isfinite(a) && std::isfinite(b) && std::abs(a - b) <= 2.5e-7 * std::max(std::abs(a), std::abs(b)));
}

std::span<const Function> functions() { return kFunctions; }

const Function& function(Fn fn) { return kFunctions[static_cast<size_t>(fn)]; }

Fn find_function(std::string_view name) {
  const auto found = std::ranges::find(kFunctions, name, [](const Function& f) { return std::string_view(f.name); });
  return found == kFunctions.end() ? Fn::none : found->fn;
}

Val from_attr(const ops::AttrValue& value) {
  return std::visit([](const auto& held) { return Val(held); }, value);
}

std::optional<ops::AttrValue> to_attr(const Val& value, const ops::AttrValue& like) {
  if (std::holds_alternative<double>(like)) {
    const auto real = number(value);
    return real ? std::optional<ops::AttrValue>(*real) : std::nullopt;
  }
  if (const auto* i = integer(value); i && like.index() == 0) return *i;
  if (const auto* l = list(value); l && std::holds_alternative<Ints>(like)) return *l;
  if (const auto* w = std::get_if<std::string>(&value); w && std::holds_alternative<std::string>(like)) return *w;
  return std::nullopt;
}

bool equal(const Val& value, const ops::AttrValue& attr) {
  if (const auto* i = integer(value); i && std::holds_alternative<int64_t>(attr)) return *i == std::get<int64_t>(attr);
  if (const auto* l = list(value); l && std::holds_alternative<Ints>(attr)) return *l == std::get<Ints>(attr);
  if (const auto* w = std::get_if<std::string>(&value); w && std::holds_alternative<std::string>(attr)) {
    return *w == std::get<std::string>(attr);
  }
  const auto real = number(value);
  return real && std::holds_alternative<double>(attr) && *real == std::get<double>(attr);
}

Val from_shape(const ops::Shape& shape) { return Ints(shape.begin(), shape.end()); }

}  // namespace rlgo::rules
