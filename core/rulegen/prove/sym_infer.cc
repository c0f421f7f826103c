#include "core/rulegen/prove/sym_infer.h"

#include <array>
#include <cmath>

#include "core/base/error.h"
#include "core/ops/shapes.h"

namespace rlgo::rulegen::sym {
namespace {

using ops::Attr;
using ops::Op;

class Symbols {  // a domain of core/ops/shapes.h: demands are assumed, or must follow
 public:
  using Extent = ExtentId;
  using Extents = Shape;
  static constexpr int64_t kLeast = 1;

  Symbols(World& world, const Params& params, std::span<const Shape> in, std::vector<Shape>& out)
      : w_(world), params_(params), in_(in), out_(out) {}

  Fit run(Op op) {
    const bool unread = op == Op::input || op == Op::weight || op == Op::opaque || op == Op::where;
    // A cast is read where it is to the type that all tensors are of.
    if (unread || (op == Op::cast && attr(Attr::to).id != w_.pool.element_type())) return Fit::unknown;
    ops::state_shapes(*this, op);
    return worst_;
  }

  size_t inputs() const { return in_.size(); }
  const Shape& in(size_t k) const { return in_[k]; }
  const Shape& list(Attr key) const { return attr(key).list; }
  const Shape& extents(Attr key) const { return attr(key).list; }
  ExtentId item(Attr key) const { return attr(key).id; }
  std::optional<ops::Ints> constants(Attr key) {
    ops::Ints items;
    for (const ExtentId item : list(key)) {
      const auto held = pool().value(item);
      if (!require_known(held)) return std::nullopt;
      items.push_back(*held);
    }
    return items;
  }
  std::optional<int64_t> constant(ExtentId extent) { return pool().value(norm(extent)); }
  std::optional<size_t> axis() {
    const auto held = pool().value(item(Attr::axis));
    if (!require_known(held) || !require(*held >= 0 && *held < static_cast<int64_t>(in_[0].size())))
      return std::nullopt;
    return static_cast<size_t>(*held);
  }

  ExtentId lit(int64_t number) { return pool().number(number); }
  ExtentId add(ExtentId a, ExtentId b) { return pool().add(a, b); }
  ExtentId sub(ExtentId a, ExtentId b) { return pool().sub(a, b); }
  ExtentId mul(ExtentId a, ExtentId b) { return pool().mul(a, b); }
  ExtentId quotient(ExtentId a, ExtentId b) { return pool().quotient(norm(a), norm(b)); }
  // By whole scales that are numbers.
  std::optional<ExtentId> scaled(ExtentId extent, Attr key) {
    const auto scale = w_.pool.real_value(attr(key).id);
    const bool whole = scale && *scale >= 1 && *scale <= 1e6 && *scale == std::floor(*scale);
    if (!whole) return meet(Fit::unknown), std::nullopt;
    return mul(extent, lit(static_cast<int64_t>(*scale)));
  }

  bool require(bool holds) { return meet(holds ? Fit::fits : Fit::misfit), holds; }
  bool require_known(std::optional<int64_t> number) {
    return meet(number ? Fit::fits : Fit::unknown), number.has_value();
  }
  ExtentId equal(ExtentId a, ExtentId b) { return meet(w_.logic.equal(a, b)), a; }
  void at_least(ExtentId extent, int64_t bound) { meet(w_.logic.at_least(extent, bound)); }
  void at_most(ExtentId a, ExtentId b) { at_least(sub(b, a), 0); }
  void divides(ExtentId a, ExtentId b) { exact(a, b); }
  ExtentId exact(ExtentId a, ExtentId b) {
    ExtentId each = 0;
    meet(w_.logic.divides(a, b, &each));
    return each;
  }
  void into(ExtentId whole, ExtentId part) { meet(w_.logic.absorbs(whole, part)); }
  ExtentId joint(const Shape& members) {
    RLGO_CHECK(members.size() == 2);
    meet(w_.logic.compatible(members[0], members[1]));
    return w_.logic.facts.joint(members);
  }
  void any_at_least_zero(const std::vector<ExtentId>& all) { meet(w_.logic.any_at_least_zero(all)); }
  // Extents of a rule's tensors are 1 at least.
  static void exists(ExtentId) {}
  ExtentId positive(ExtentId extent) { return at_least(norm(extent), 1), extent; }
  ExtentId window(ExtentId extent, ExtentId begin, ExtentId end, ExtentId size, ExtentId stride, ExtentId dilation,
                  ExtentId round_up) {
    const ExtentId span = add(mul(dilation, sub(size, lit(1))), lit(1));
    const ExtentId room = norm(sub(add(add(extent, begin), end), span));
    at_least(room, 0);
    if (constant(round_up) == 0) return norm(add(quotient(room, stride), lit(1)));
    return pool().opaque("window", {norm(extent), norm(begin), norm(end), norm(span), norm(stride), norm(round_up)}, 1);
  }
  // rules::in_scope() sees to it on both sides.
  void no_window_of_padding(ExtentId extent, ExtentId dilation, ExtentId begin, ExtentId end) {
    any_at_least_zero({sub(lit(1), dilation), sub(extent, dilation), sub(lit(0), add(begin, end))});
  }
  static void two_pixels(ExtentId) {}
  void out(Shape shape) {
    for (ExtentId& extent : shape) extent = norm(extent);
    out_.push_back(std::move(shape));
  }
  bool ok() const { return worst_ != Fit::misfit; }

 private:
  ExtentPool& pool() { return w_.pool.extents; }
  ExtentId norm(ExtentId a) { return w_.logic.facts.canon(a); }
  const Value& attr(Attr key) const {
    const Value* held = find(params_, key);
    RLGO_CHECK(held != nullptr);
    return *held;
  }
  // Keeps the worst of all demands.
  void meet(Fit fit) {
    if (worst_ != Fit::misfit && fit != Fit::fits) worst_ = fit;
  }

  World& w_;
  const Params& params_;
  std::span<const Shape> in_;
  std::vector<Shape>& out_;
  Fit worst_ = Fit::fits;
};

}  // namespace

Fit infer(World& world, ops::Op op, const Params& params, std::span<const Shape> inputs, std::vector<Shape>& outputs) {
  const auto& spec = ops::spec(op);
  const auto arity = static_cast<int>(inputs.size());
  if (arity < spec.min_inputs || arity > spec.max_inputs) return Fit::misfit;
  for (const auto& known : spec.attrs) {
    const Value* held = find(params, known.key);
    if (!held || held->kind == Value::Kind::open) return Fit::unknown;
    const bool fits = std::holds_alternative<int64_t>(known.fallback)     ? held->kind == Value::Kind::extent
                      : std::holds_alternative<double>(known.fallback)    ? held->kind == Value::Kind::real
                      : std::holds_alternative<ops::Ints>(known.fallback) ? held->kind == Value::Kind::list
                                                                          : held->kind == Value::Kind::word;
    if (!fits) return Fit::misfit;
  }
  return Symbols(world, params, inputs, outputs).run(op);
}

Fit broadcast(World& world, const Shape& a, const Shape& b, Shape& out) {
  const std::array<Shape, 2> both{a, b};
  std::vector<Shape> outputs;
  const Fit fit = infer(world, Op::add, {}, both, outputs);
  if (!outputs.empty()) out = std::move(outputs[0]);
  return fit;
}

ExtentId elements(World& world, const Shape& shape) {
  ExtentId product = world.pool.extents.number(1);
  for (ExtentId extent : shape) product = world.pool.extents.mul(product, extent);
  return world.logic.facts.canon(product);
}

}  // namespace rlgo::rulegen::sym
