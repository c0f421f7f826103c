#include "core/rules/value.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "core/base/error.h"
#include "core/rules/list_functions.h"
#include "core/rules/open_value.h"

namespace rlgo::rules {
namespace {

using ops::Ints;

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

// The domain of ListFunctions: plain numbers.
struct Numbers {
  using Value = Val;
  using Int = int64_t;
  using List = Ints;
  static constexpr int64_t kMostItems = rules::kMostItems;
  static const int64_t* integer(const Val& v) { return rules::integer(v); }
  static const Ints* list(const Val& v) { return rules::list(v); }
  static std::optional<int64_t> number(int64_t i) { return i; }
  static std::optional<bool> equal(int64_t a, int64_t b) { return a == b; }
  static std::optional<int64_t> combine(Fn fn, int64_t a, int64_t b, bool*) { return rules::combine(fn, a, b); }
  static int64_t make(int64_t k) { return k; }
  static Val of(int64_t i) { return i; }
  static Val of(Ints list) { return list; }
  static Val truth(bool t) { return t; }
  static Val open() { return {}; }
  static Val broadcast(const Ints& a, const Ints& b) {
    const auto shape = ops::broadcast(ops::Shape(std::span<const int64_t>(a)), ops::Shape(std::span<const int64_t>(b)));
    return shape ? from_shape(*shape) : Val();
  }
};

template <Fn fn>
Val of_lists(Args args) {
  return is_open(args) ? ListFunctions(OpenNumbers()).call(fn, args) : ListFunctions(Numbers()).call(fn, args);
}

template <Fn op>
Val arithmetic(Args args) {
  const auto whole = is_open(args) ? ListFunctions(OpenNumbers()).arithmetic(op, args[0], args[1])
                                   : ListFunctions(Numbers()).arithmetic(op, args[0], args[1]);
  if (whole) return *whole;
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
    // Of a constant whose elements are whole numbers start, start + step, ..., start >= 0 and step >= 1.
    {Fn::start, "start", 1, 1, true, nullptr},
    {Fn::step, "step", 1, 1, true, nullptr},
    {Fn::varies, "varies", 2, 2, true, nullptr},  // varies(?i, k): elements of a constant differ along axis k only
    {Fn::len, "len", 1, 1, false, of_lists<Fn::len>},
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
    {Fn::item, "[]", 2, 2, false, of_lists<Fn::item>},
    {Fn::min, "min", 2, 2, false, arithmetic<Fn::min>},
    {Fn::max, "max", 2, 2, false, arithmetic<Fn::max>},
    {Fn::cat, "cat", 1, kAny, false, of_lists<Fn::cat>},
    {Fn::sum, "sum", 1, 1, false, of_lists<Fn::sum>},
    {Fn::product, "product", 1, 1, false, of_lists<Fn::product>},
    {Fn::index_of, "index_of", 2, 2, false, of_lists<Fn::index_of>},
    {Fn::has, "has", 2, 2, false, of_lists<Fn::has>},
    {Fn::iota, "iota", 1, 1, false, of_lists<Fn::iota>},
    {Fn::repeat, "repeat", 2, 2, false, of_lists<Fn::repeat>},
    {Fn::pick, "pick", 2, 2, false, of_lists<Fn::pick>},
    {Fn::inverse, "inverse", 1, 1, false, of_lists<Fn::inverse>},
    {Fn::set, "set", 3, 3, false, of_lists<Fn::set>},
    {Fn::sub, "sub", 3, 3, false, of_lists<Fn::sub>},
    {Fn::broadcast, "broadcast", 2, 2, false, of_lists<Fn::broadcast>},
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
