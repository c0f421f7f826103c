// Bindings, choices, and conditions of a rule as assumptions.
#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/rulegen/prove/sym_expr.h"

namespace rlgo::rulegen::sym {
namespace {
using Kind = Value::Kind;
using rules::Expr;
using rules::Fn;

void demand(bool consistent) {
  if (!consistent) throw Impossible();
}

std::optional<int32_t> real_of(World& world, const Value& v) {
  if (v.kind == Kind::real) return v.id;
  return v.kind == Kind::extent ? std::optional(world.pool.real_of(v.id)) : std::nullopt;
}
}  // namespace

Binding::Binding(const rules::CompiledRule& rule)
    : nodes(rule.left.size(), -1),
      tensors(rule.tensors.size(), -1),
      scalars(rule.scalars.size(), -1),
      sequences(rule.sequences.size()),
      attributes(rule.attributes.size()),
      bundles(rule.bundles.size()) {}

int Choices::choose(const void* place, int part, int count) {
  RLGO_CHECK(count >= 1);
  for (auto& choice : made_) {
    if (choice.place == place && choice.part == part && choice.count == count) return choice.chosen;
  }
  made_.push_back({place, part, 0, count});
  return 0;
}

bool Choices::advance() {
  while (!made_.empty() && made_.back().chosen + 1 == made_.back().count) made_.pop_back();
  if (made_.empty()) return false;
  ++made_.back().chosen;
  return true;
}

namespace {
bool follows(const World& world, const Facts::Order& wanted) {
  const auto& pool = world.pool;
  const auto& orders = world.logic.facts.orders();
  if (!wanted.strict && wanted.big == wanted.small) return true;
  const auto p = pool.real_value(wanted.big), q = pool.real_value(wanted.small);
  if (p && q) return wanted.strict ? *p > *q : *p >= *q;
  return std::ranges::any_of(orders, [&](const Facts::Order& known) {
    const auto r = pool.real_value(known.big), s = pool.real_value(known.small);
    const bool enough = known.strict || !wanted.strict;
    if (known.big == wanted.big)
      return known.small == wanted.small ? enough : q && s && (*s > *q || (*s == *q && enough));
    return known.small == wanted.small && p && r && (*r < *p || (*r == *p && enough));
  });
}
}  // namespace

Truth real_order(World& world, const Facts::Order& order) {
  if (follows(world, order)) return Truth::yes;
  return follows(world, {order.small, order.big, !order.strict}) ? Truth::no : Truth::unknown;
}

int32_t extreme_product(World& world, int32_t a, int32_t b) {
  for (const auto& [number, other] : {std::pair(a, b), std::pair(b, a)}) {
    const auto value = world.pool.real_value(number);
    if (!value || world.pool.real_value(other)) continue;
    if (*value == 0) return number;
    if (!std::isinf(*value)) continue;
    if (follows(world, {other, world.pool.real(0), true})) return number;
    if (follows(world, {world.pool.real(0), other, true})) return world.pool.real(-*value);
  }
  return -1;
}

Truth equal(World& world, const Value& a, const Value& b) {
  Facts& facts = world.logic.facts;
  if (a.kind == Kind::open || b.kind == Kind::open) return Truth::unknown;
  if (a.kind == Kind::extent && b.kind == Kind::extent) return facts.equal(a.id, b.id);
  if (a.kind == Kind::list && b.kind == Kind::list) {
    if (a.list.size() != b.list.size()) return Truth::no;
    Truth all = Truth::yes;
    for (size_t k = 0; k < a.list.size() && all != Truth::no; ++k) {
      const Truth t = facts.equal(a.list[k], b.list[k]);
      if (t != Truth::yes) all = t;
    }
    return all;
  }
  if (a.kind == Kind::word && b.kind == Kind::word) {
    if (a.id == b.id) return Truth::yes;
    const int32_t any = world.pool.element_type();  // one of several words
    return a.id == any || b.id == any ? Truth::unknown : Truth::no;
  }
  if (a.kind == Kind::truth && b.kind == Kind::truth) {
    if (a.truth == Truth::unknown || b.truth == Truth::unknown) return Truth::unknown;
    return a.truth == b.truth ? Truth::yes : Truth::no;
  }
  const auto x = real_of(world, a), y = real_of(world, b);
  if (!x || !y) return Truth::no;
  if (*x == *y) return Truth::yes;
  const auto never_zero = [&](int32_t number, int32_t other) {
    const auto zero = world.pool.real_value(other);
    return zero && *zero == 0 && (world.pool.inverse(number) >= 0 || world.pool.at_least_one(number));
  };
  if (never_zero(*x, *y) || never_zero(*y, *x)) return Truth::no;
  if (facts.real_different(*x, *y) || follows(world, {*x, *y, true}) || follows(world, {*y, *x, true}))
    return Truth::no;
  return world.pool.real_value(*x) && world.pool.real_value(*y) ? Truth::no : Truth::unknown;
}

void assume_equal(World& world, const Value& a, const Value& b) {
  Facts& facts = world.logic.facts;
  const Truth known = equal(world, a, b);
  demand(known != Truth::no);
  if (known == Truth::yes) return;
  if (a.kind == Kind::extent && b.kind == Kind::extent) demand(facts.assume_equal(a.id, b.id));
  if (a.kind == Kind::list && b.kind == Kind::list) {
    for (size_t k = 0; k < a.list.size(); ++k) demand(facts.assume_equal(a.list[k], b.list[k]));
  }
  const Value &symbol = a.kind == Kind::real && !world.pool.real_value(a.id) ? a : b, &other = &symbol == &a ? b : a;
  if (symbol.kind != Kind::real || world.pool.real_value(symbol.id)) return;
  if (other.kind == Kind::real) facts.assume_real(symbol.id, other.id);
  if (other.kind == Kind::extent) facts.assume_real(symbol.id, world.pool.real_of(other.id));
}

namespace {

// The first of two is the greater one (or equal), and is not equal.
bool is_greater(Fn fn) { return fn == Fn::greater || fn == Fn::greater_equal; }
bool is_strict(Fn fn) { return fn == Fn::less || fn == Fn::greater; }
bool is_order(Fn fn) { return is_greater(fn) || fn == Fn::less || fn == Fn::less_equal; }

// A comparison of real numbers.
void assume_order(World& world, const Value& a, const Value& b, Fn fn, bool wanted) {
  const auto x = real_of(world, a), y = real_of(world, b);
  if (!x || !y) return;
  const bool first_big = is_greater(fn) == wanted;
  const Facts::Order order{first_big ? *x : *y, first_big ? *y : *x, is_strict(fn) == wanted};
  demand(real_order(world, order) != Truth::no);
  world.logic.facts.assume_order(order);
}

// near(v * p, t): v = t / p, where v is a number that nothing is known of. False: not of that form.
bool assume_factor(const std::vector<Expr>& args, const Scope& scope) {
  World& world = scope.world;
  if (!args[0].calls(Fn::multiply)) return false;
  const Value v = evaluate(args[0].args[0], scope);
  if (v.kind != Kind::real || world.pool.real_value(v.id)) return false;
  const auto p = real_of(world, evaluate(args[0].args[1], scope)), t = real_of(world, evaluate(args[1], scope));
  const auto factor = p && t ? world.pool.real_op(Fn::divide, *t, *p) : std::nullopt;
  if (!factor) return false;
  if (*factor != v.id) world.logic.facts.assume_real(v.id, *factor);
  return true;
}

}  // namespace

void assume(const Expr& condition, bool wanted, const Scope& scope) {
  World& world = scope.world;
  if (condition.kind == Expr::Kind::call) {
    const Fn fn = condition.function;
    const auto& args = condition.args;
    if (fn == Fn::logical_not) return assume(args[0], !wanted, scope);
    if (fn == (wanted ? Fn::logical_and : Fn::logical_or)) {
      assume(args[0], wanted, scope);
      return assume(args[1], wanted, scope);
    }
    if (fn == (wanted ? Fn::logical_or : Fn::logical_and)) {
      const Value known = evaluate(condition, scope);
      if (known.kind == Kind::truth && known.truth == (wanted ? Truth::yes : Truth::no)) return;
      return assume(args[scope.choices->choose(&condition, wanted, 2) == 0 ? 0 : 1], wanted, scope);
    }
    const bool divided = fn == Fn::equal && wanted && args[0].calls(Fn::remainder) &&
                         args[1].kind == Expr::Kind::integer && args[1].integer == 0;
    if (divided) {
      const Value a = evaluate(args[0].args[0], scope), b = evaluate(args[0].args[1], scope);
      ExtentId quotient = 0;
      if (a.kind == Kind::extent && b.kind == Kind::extent)
        return demand(world.logic.divides(a.id, b.id, &quotient) != Fit::misfit);
    }
    if (fn == Fn::near && wanted && assume_factor(args, scope)) return;
    if (fn == (wanted ? Fn::equal : Fn::not_equal) || (fn == Fn::near && wanted)) {
      const Value a = evaluate(args[0], scope), b = evaluate(args[1], scope);
      demand(a.kind != Kind::none && b.kind != Kind::none);
      return assume_equal(world, a, b);
    }
    if (is_order(fn)) {
      const Value a = evaluate(args[0], scope), b = evaluate(args[1], scope);
      demand(a.kind != Kind::none && b.kind != Kind::none);
      if (a.kind == Kind::extent && b.kind == Kind::extent) {
        const bool first_big = is_greater(fn) == wanted;
        const bool strict = is_strict(fn) == wanted;
        ExtentPool& extents = world.pool.extents;
        const ExtentId room = first_big ? extents.sub(a.id, b.id) : extents.sub(b.id, a.id);
        return demand(world.logic.facts.assume_at_least(room, strict ? 1 : 0));
      }
      assume_order(world, a, b, fn, wanted);
    }
    if (fn == (wanted ? Fn::not_equal : Fn::equal)) {
      const Value a = evaluate(args[0], scope), b = evaluate(args[1], scope);
      demand(a.kind != Kind::none && b.kind != Kind::none && equal(world, a, b) != Truth::yes);
      if (a.kind == Kind::extent && b.kind == Kind::extent) world.logic.facts.assume_different(a.id, b.id);
      const auto x = real_of(world, a), y = real_of(world, b);
      if (x && y && (a.kind == Kind::real || b.kind == Kind::real)) world.logic.facts.assume_real_different(*x, *y);
      return;
    }
  }
  const Value known = evaluate(condition, scope);
  demand(known.kind != Kind::none && (known.kind != Kind::truth || known.truth != (wanted ? Truth::no : Truth::yes)));
}

Value to_attr(Pool& pool, Value value, const ops::AttrValue& like) {
  if (value.kind == Kind::open) return value;
  if (std::holds_alternative<double>(like)) {
    if (value.kind == Kind::extent) return Value::real(pool.real_of(value.id));
    return value.kind == Kind::real ? value : Value();
  }
  if (value.kind == Kind::extent && std::holds_alternative<int64_t>(like)) return value;
  if (value.kind == Kind::list && std::holds_alternative<ops::Ints>(like)) return value;
  return value.kind == Kind::word && std::holds_alternative<std::string>(like) ? value : Value();
}

}  // namespace rlgo::rulegen::sym
