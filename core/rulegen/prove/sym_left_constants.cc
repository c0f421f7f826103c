// Constants of which conditions of the left side ask what they hold, as terms of which that is known.
#include "core/rulegen/prove/sym_rule.h"

namespace rlgo::rulegen::sym {

using ops::Attr;
using ops::Op;

TermId LeftSide::built(Op op, Params params, const std::vector<TermId>& kids) {
  Fit fit = Fit::fits;
  const TermId t = make_term(graph_, w_, op, std::move(params), kids, &fit);
  if (fit == Fit::misfit) throw Impossible();
  if (fit == Fit::unknown) throw Untranslatable("cannot infer the shape of a constant");
  return t;
}

// Of a tensor variable; `rank`: where conditions state it, else -1.
TermId LeftSide::constant(const std::string& name, int32_t slot, int rank) {
  const bool valued = (plan_.asked_value >> slot & 1u) != 0;
  if (rank < 0 || valued) rank = choose_rank(&name, 0, 0, limits_.max_rank, plan_.ranks.of_tensor(slot));
  if (valued) return uniform(rank, name, Value::real(w_.logic.facts.real(w_.pool.real_symbol(name))));
  const Shape shape = symbols(name, static_cast<size_t>(rank), 1).list;
  return plan_.asked_rising >> slot & 1u ? rising(name, shape) : varying(name, shape);
}

// A constant of any shape whose elements all are one number.
TermId LeftSide::uniform(int rank, const std::string& name, Value value) {
  Params params;
  set(params, Attr::shape, symbols(name, static_cast<size_t>(rank), 1));
  set(params, Attr::value, std::move(value));
  return built(Op::fill, params, {});
}

// start, start + step, ...: every step-th of the numbers 0, 1, 2, ... from start on.
TermId LeftSide::rising(const std::string& name, const Shape& shape) {
  ExtentPool& pool = w_.pool.extents;
  const auto number = [&](int64_t k) { return Value::extent(pool.number(k)); };
  const auto one = [](ExtentId item) { return Value::of(Shape{item}); };
  const ExtentId count = elements(w_, shape);
  const ExtentId start = w_.logic.facts.canon(pool.symbol(name + ".start", 0));
  const ExtentId step = w_.logic.facts.canon(pool.symbol(name + ".step", 1));
  const ExtentId end = pool.add(pool.add(start, pool.mul(pool.sub(count, pool.number(1)), step)), pool.number(1));
  Params ones, sums, part;
  set(ones, Attr::shape, one(end));
  set(ones, Attr::value, Value::real(w_.pool.real(1)));
  set(sums, Attr::axis, number(0));
  set(sums, Attr::exclusive, number(1));
  set(sums, Attr::reverse, number(0));
  set(part, Attr::axes, one(pool.number(0)));
  set(part, Attr::starts, one(start));
  set(part, Attr::ends, one(end));
  set(part, Attr::steps, one(step));
  const TermId line = built(Op::slice, part, {built(Op::cumsum, sums, {built(Op::fill, ones, {})})});
  if (shape.size() == 1) return line;
  Params params;
  set(params, Attr::shape, Value::of(shape));
  return built(Op::reshape, params, {line});
}

// One line along some axis, repeated along the others.
TermId LeftSide::varying(const std::string& name, const Shape& shape) {
  if (shape.empty()) throw Impossible();
  constexpr int kAxis = 1;  // part of the choice
  const auto axis = static_cast<size_t>(choices_.choose(&name, kAxis, static_cast<int>(shape.size())));
  Shape line(shape.size(), w_.pool.extents.number(1));
  line[axis] = shape[axis];
  const TermId of_line = graph_.add(kVariable, w_.pool.word(name), {}, Kids{w_.pool.shape(line)});
  Params params;
  set(params, Attr::shape, Value::of(shape));
  return built(Op::expand, params, {of_line});
}

}  // namespace rlgo::rulegen::sym
