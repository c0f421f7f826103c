#include "core/rulegen/prove/sym_expr.h"

#include <algorithm>
#include <string_view>

#include "core/base/error.h"
#include "core/rulegen/prove/sym_constants.h"
#include "core/rulegen/prove/totality.h"
#include "core/rules/list_functions.h"
#include "core/rules/value.h"

namespace rlgo::rulegen::sym {
namespace {

using Kind = Value::Kind;
using rules::Expr;
using rules::Fn;
using rules::SlotKind;

// The domain of rules::ListFunctions: extents under the facts of a case.
struct Symbols {
  using Value = sym::Value;
  using Int = ExtentId;
  using List = Shape;
  static constexpr int64_t kMostItems = 64;
  World& world;

  ExtentPool& extents() const { return world.pool.extents; }
  static const Int* integer(const Value& v) { return v.kind == Kind::extent ? &v.id : nullptr; }
  static const List* list(const Value& v) { return v.kind == Kind::list ? &v.list : nullptr; }
  std::optional<int64_t> number(Int i) const { return extents().value(i); }
  std::optional<bool> equal(Int a, Int b) const {
    const Truth t = world.logic.facts.equal(a, b);
    return t == Truth::unknown ? std::nullopt : std::optional(t == Truth::yes);
  }
  std::optional<Int> combine(Fn op, Int a, Int b, bool* none) const;
  Int make(int64_t k) const { return extents().number(k); }
  static Value of(Int i) { return Value::extent(i); }
  static Value of(List list) { return Value::of(std::move(list)); }
  static Value truth(bool t) { return Value::of(t); }
  static Value open() { return Value::open(); }
  Value broadcast(const List& a, const List& b) const {
    World asking{world.pool, {world.logic.facts, false}};
    Shape out;
    const Fit fit = sym::broadcast(asking, a, b, out);
    return fit == Fit::fits ? Value::of(std::move(out)) : fit == Fit::misfit ? Value() : Value::open();
  }
};

// Nothing with *none: certainly no value; without: cannot decide.
std::optional<ExtentId> Symbols::combine(Fn op, Int a, Int b, bool* none) const {
  Facts& facts = world.logic.facts;
  switch (op) {
    case Fn::add:
      return facts.canon(extents().add(a, b));
    case Fn::subtract:
      return facts.canon(extents().sub(a, b));
    case Fn::multiply:
      return facts.canon(extents().mul(a, b));
    case Fn::min:
    case Fn::max: {
      const Truth order = facts.at_least(extents().sub(a, b), 0);
      if (order == Truth::yes) return op == Fn::min ? b : a;
      if (order == Truth::no || facts.at_least(extents().sub(b, a), 0) == Truth::yes) return op == Fn::min ? a : b;
      return std::nullopt;
    }
    default: {
      const ExtentId divisor = facts.canon(b);
      const auto zero = extents().value(divisor);
      *none = zero && *zero == 0;
      if (*none) return std::nullopt;
      const ExtentId quotient = facts.canon(extents().quotient(facts.canon(a), divisor));
      return op == Fn::divide ? quotient : facts.canon(extents().sub(a, extents().mul(quotient, divisor)));
    }
  }
}

class Evaluator {
 public:
  explicit Evaluator(const Scope& scope) : s_(scope), pool_(scope.world.pool), facts_(scope.world.logic.facts) {}

  Value eval(const Expr& expr);

 private:
  ExtentPool& extents() { return pool_.extents; }
  Value number(int64_t k) { return Value::extent(extents().number(k)); }
  std::optional<int64_t> whole(const Value& v) const {
    return v.kind == Kind::extent ? pool_.extents.value(v.id) : std::nullopt;
  }
  std::optional<int32_t> as_real(const Value& v) {
    if (v.kind == Kind::real) return v.id;
    if (v.kind == Kind::extent) return pool_.real_of(v.id);
    return std::nullopt;
  }

  Value tensor_function(Fn which, const Expr& call);
  Value of_sequence(Fn which, const rules::Slot& slot, const Value& axis);
  Value of_constant(Fn which, const rules::Slot& slot, const Value& axis);
  const Shape* shape_of(const rules::Slot& slot);
  Value dim(const Shape& shape, const Value& axis);
  Value arithmetic(Fn op, const Value& a, const Value& b);
  Value compare(Fn op, const Value& a, const Value& b);
  Value logical(Fn fn, const Expr& expr);
  Value choose(const Expr& expr);
  Value root(const Value& a);
  Value near(const Value& a, const Value& b);

  const Scope& s_;
  Pool& pool_;
  Facts& facts_;
};

const Shape* Evaluator::shape_of(const rules::Slot& slot) {
  const auto& b = s_.binding;
  const auto of_term = [&](TermId t, size_t port) -> const Shape* {
    const auto& outs = s_.graph.node(t).outs;
    return port < outs.size() ? &pool_.shape_of(outs[port]) : nullptr;
  };
  const auto index = static_cast<size_t>(slot.index);
  switch (slot.kind) {
    case SlotKind::tensor:
      return of_term(b.tensors[index], 0);
    case SlotKind::sequence:
      if (s_.round < 0 || s_.round >= static_cast<int>(b.sequences[index].size())) return nullptr;
      return of_term(b.sequences[index][static_cast<size_t>(s_.round)], 0);
    case SlotKind::left:
      return of_term(b.nodes[index], static_cast<size_t>(slot.port));
    case SlotKind::right: {
      if (!s_.right) return nullptr;
      const auto& made = (*s_.right)[index];
      const int port = s_.rule.right[index].mapped ? s_.round : slot.port;
      return port >= 0 && port < static_cast<int>(made.size()) ? of_term(made[static_cast<size_t>(port)], 0) : nullptr;
    }
    default:
      return nullptr;
  }
}

Value Evaluator::dim(const Shape& shape, const Value& axis) {
  if (axis.kind == Kind::open) return Value::open();
  if (axis.kind != Kind::extent) return {};
  const auto k = whole(axis);
  if (!k) return Value::open();
  const auto at = rules::place(*k, shape.size());
  return at ? Value::extent(shape[*at]) : Value();
}

Value Evaluator::of_sequence(Fn which, const rules::Slot& slot, const Value& axis) {
  const auto& items = s_.binding.sequences[static_cast<size_t>(slot.index)];
  if (which == Fn::count) return number(static_cast<int64_t>(items.size()));
  if (which == Fn::constant) return Value::open();
  Shape out;
  for (TermId t : items) {
    const Shape& shape = pool_.shape_of(s_.graph.node(t).outs[0]);
    if (which == Fn::rank) {
      out.push_back(extents().number(static_cast<int64_t>(shape.size())));
    } else if (which == Fn::dim) {
      const Value extent = dim(shape, axis);
      if (extent.kind != Kind::extent) return extent;
      out.push_back(extent.id);
    } else {
      return {};
    }
  }
  return Value::of(std::move(out));
}

// What the left side made of a constant (sym_left_constants.cc).
Value Evaluator::of_constant(Fn which, const rules::Slot& slot, const Value& axis) {
  if (slot.kind != SlotKind::tensor) return {};
  const TermId constant = s_.binding.tensors[static_cast<size_t>(slot.index)];
  const auto k = whole(axis);
  if (which == Fn::varies) return k ? Value::of(varies_along(s_.graph, s_.world, constant, *k)) : Value::open();
  const auto numbers = progression(s_.graph, s_.world, constant);
  if (!numbers) return Value::open();
  return Value::extent(which == Fn::start ? numbers->first : numbers->second);
}

Value Evaluator::tensor_function(Fn which, const Expr& call) {
  const auto& slot = call.args[0].slot;
  const Value second = call.args.size() > 1 ? eval(call.args[1]) : Value();
  if (slot.kind == SlotKind::sequence && s_.round < 0) return of_sequence(which, slot, second);
  if (which == Fn::count) {
    if (slot.kind != SlotKind::left) return {};
    return number(static_cast<int64_t>(s_.graph.node(s_.binding.nodes[static_cast<size_t>(slot.index)]).outs.size()));
  }
  const Shape* shape = shape_of(slot);
  if (!shape) return {};
  switch (which) {
    case Fn::rank:
      return number(static_cast<int64_t>(shape->size()));
    case Fn::dim:
      return dim(*shape, second);
    case Fn::shape:
      return Value::of(*shape);
    case Fn::dtype:
      return Value::word(pool_.element_type());
    case Fn::elements:
      return Value::extent(elements(s_.world, *shape));
    case Fn::is_float:  // the matcher sees to it, see ProofScope
      return s_.rule.all_types ? Value::open() : Value::of(true);
    case Fn::total:
      return slot.kind == SlotKind::tensor
                 ? Value::of(has_values(s_.graph, s_.world, s_.binding.tensors[static_cast<size_t>(slot.index)]))
                 : Value::open();
    case Fn::value: {
      if (slot.kind != SlotKind::tensor) return {};
      for (TermId t : s_.graph.members(s_.binding.tensors[static_cast<size_t>(slot.index)])) {
        const Node& node = s_.graph.node(t);
        if (node.op == static_cast<int>(ops::Op::fill)) return *find(pool_.params_of(node.params), ops::Attr::value);
      }
      return Value::open();
    }
    case Fn::start:
    case Fn::step:
    case Fn::varies:
      return of_constant(which, slot, second);
    default:
      return Value::open();  // constant, uses
  }
}

Value Evaluator::arithmetic(Fn op, const Value& a, const Value& b) {
  if (a.kind == Kind::open || b.kind == Kind::open) return Value::open();
  if (auto whole = rules::ListFunctions(Symbols{s_.world}).arithmetic(op, a, b)) return *std::move(whole);
  const auto x = as_real(a), y = as_real(b);
  if (!x || !y || op == Fn::remainder) return {};
  if (const int32_t made = op == Fn::multiply ? extreme_product(s_.world, *x, *y) : -1; made >= 0)
    return Value::real(made);
  if (op == Fn::min || op == Fn::max) {
    const Truth order = real_order(s_.world, {*x, *y, false});
    if (order != Truth::unknown) return Value::real((order == Truth::yes) == (op == Fn::min) ? *y : *x);
  }
  const auto out = pool_.real_op(op, *x, *y);
  return out ? Value::real(*out) : Value();
}

Value Evaluator::compare(Fn op, const Value& a, const Value& b) {
  if (a.kind == Kind::open || b.kind == Kind::open) return Value::open();
  if (op == Fn::equal || op == Fn::not_equal) {
    if (a.kind == Kind::none || b.kind == Kind::none) return {};
    const Truth t = sym::equal(s_.world, a, b);
    return Value::of(op == Fn::equal ? t : negated(t));
  }
  const bool swap = op == Fn::less || op == Fn::less_equal, strict = op == Fn::less || op == Fn::greater;
  const Value &big = swap ? b : a, &small = swap ? a : b;
  if (big.kind == Kind::extent && small.kind == Kind::extent)
    return Value::of(facts_.at_least(extents().sub(big.id, small.id), strict ? 1 : 0));
  const auto x = as_real(big), y = as_real(small);
  return x && y ? Value::of(real_order(s_.world, {*x, *y, strict})) : Value();
}

Value Evaluator::root(const Value& a) {
  const auto x = as_real(a);
  if (!x) return a.kind == Kind::open ? Value::open() : Value();
  const auto out = pool_.real_op(Fn::sqrt, *x, *x);
  return out ? Value::real(*out) : Value();
}

Value Evaluator::near(const Value& a, const Value& b) {
  if (a.kind == Kind::open || b.kind == Kind::open) return Value::open();
  const auto x = as_real(a), y = as_real(b);
  if (!x || !y) return {};
  if (*x == *y) return Value::of(true);
  return pool_.real_value(*x) && pool_.real_value(*y) ? Value::of(false) : Value::open();
}

Value Evaluator::logical(Fn fn, const Expr& expr) {
  const Value a = eval(expr.args[0]);
  if (fn == Fn::logical_not) return a.kind == Kind::truth ? Value::of(negated(a.truth)) : a;
  const Value b = eval(expr.args[1]);
  const Truth decisive = fn == Fn::logical_and ? Truth::no : Truth::yes;
  for (const auto* side : {&a, &b}) {
    if (side->kind == Kind::truth && side->truth == decisive) return *side;
  }
  if (a.kind == Kind::truth && b.kind == Kind::truth) return Value::of(a.truth == b.truth ? a.truth : Truth::unknown);
  return a.kind == Kind::none || b.kind == Kind::none ? Value() : Value::open();
}

Value Evaluator::choose(const Expr& expr) {
  const Value condition = eval(expr.args[0]);
  if (condition.kind == Kind::none) return {};
  if (condition.kind != Kind::truth || condition.truth == Truth::unknown) {
    if (!s_.choices || condition.kind != Kind::truth) return Value::open();
    const bool wanted = s_.choices->choose(&expr, s_.round, 2) == 0;
    assume(expr.args[0], wanted, s_);
    return eval(expr.args[wanted ? 1 : 2]);
  }
  return eval(expr.args[condition.truth == Truth::yes ? 1 : 2]);
}

Value Evaluator::eval(const Expr& expr) {
  switch (expr.kind) {
    case Expr::Kind::integer:
      return number(expr.integer);
    case Expr::Kind::real:
      return Value::real(pool_.real(expr.real));
    case Expr::Kind::word:
      return Value::word(pool_.word(expr.text));
    case Expr::Kind::name:
      if ((s_.binding.masks.attributes >> expr.slot.index & 1u) == 0) return {};
      return s_.binding.attributes[static_cast<size_t>(expr.slot.index)];
    case Expr::Kind::list: {
      Shape items;
      for (const auto& arg : expr.args) {
        const Value item = eval(arg);
        if (item.kind != Kind::extent) return item.kind == Kind::open ? Value::open() : Value();
        items.push_back(item.id);
      }
      return Value::of(std::move(items));
    }
    case Expr::Kind::call:
      break;
  }
  const Fn fn = expr.function;
  if (rules::function(fn).of_tensor) return tensor_function(fn, expr);
  if (fn == Fn::logical_and || fn == Fn::logical_or || fn == Fn::logical_not) return logical(fn, expr);
  if (fn == Fn::choose) return choose(expr);
  std::vector<Value> args;
  for (const auto& arg : expr.args) args.push_back(eval(arg));
  switch (fn) {
    case Fn::add:
    case Fn::subtract:
    case Fn::multiply:
    case Fn::divide:
    case Fn::remainder:
    case Fn::min:
    case Fn::max:
      return arithmetic(fn, args[0], args[1]);
    case Fn::negate:
      return arithmetic(Fn::subtract, number(0), args[0]);
    case Fn::equal:
    case Fn::not_equal:
    case Fn::less:
    case Fn::less_equal:
    case Fn::greater:
    case Fn::greater_equal:
      return compare(fn, args[0], args[1]);
    case Fn::near:
      return near(args[0], args[1]);
    case Fn::sqrt:
      return root(args[0]);
    default:
      if (std::ranges::any_of(args, [](const Value& v) { return v.kind == Kind::open; })) return Value::open();
      return rules::ListFunctions(Symbols{s_.world}).call(fn, args);
  }
}

}  // namespace

Value evaluate(const rules::Expr& expr, const Scope& scope) { return Evaluator(scope).eval(expr); }

}  // namespace rlgo::rulegen::sym
