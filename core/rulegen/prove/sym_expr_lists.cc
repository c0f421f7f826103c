// Functions of the rule language that take lists: len, sum, product, has, index_of, inverse, broadcast, sub.
#include "core/rulegen/prove/sym_expr.h"

namespace rlgo::rulegen::sym {

using rules::Fn;
using Kind = Value::Kind;

Value of_lists(rules::Fn fn, const std::vector<Value>& args, World& world) {
  ExtentPool& extents = world.pool.extents;
  Facts& facts = world.logic.facts;
  const auto number = [&](int64_t k) { return Value::extent(extents.number(k)); };
  const bool list = args[0].kind == Kind::list;
  if (fn == Fn::len) return list ? number(static_cast<int64_t>(args[0].list.size())) : Value();
  if (fn == Fn::sum || fn == Fn::product) {
    if (!list) return {};
    ExtentId total = extents.number(fn == Fn::sum ? 0 : 1);
    for (ExtentId item : args[0].list) total = fn == Fn::sum ? extents.add(total, item) : extents.mul(total, item);
    return Value::extent(facts.canon(total));
  }
  if (fn == Fn::has || fn == Fn::index_of) {
    if (!list || args[1].kind != Kind::extent) return {};
    for (size_t k = 0; k < args[0].list.size(); ++k) {
      const Truth t = facts.equal(args[0].list[k], args[1].id);
      if (t == Truth::unknown) return Value::open();
      if (t == Truth::yes) return fn == Fn::has ? Value::of(true) : number(static_cast<int64_t>(k));
    }
    return fn == Fn::has ? Value::of(false) : Value();
  }
  if (fn == Fn::inverse) {
    if (!list) return {};
    Shape out(args[0].list.size(), -1);
    for (size_t k = 0; k < out.size(); ++k) {
      const auto p = extents.value(args[0].list[k]);
      if (!p) return Value::open();
      const int64_t at = *p < static_cast<int64_t>(out.size()) ? *p : -1;
      if (at < 0 || out[static_cast<size_t>(at)] >= 0) return {};
      out[static_cast<size_t>(at)] = extents.number(static_cast<int64_t>(k));
    }
    return Value::of(std::move(out));
  }
  if (fn == Fn::broadcast) {
    if (!list || args[1].kind != Kind::list) return {};
    World asking{world.pool, {facts, false}};
    Shape out;
    const Fit fit = broadcast(asking, args[0].list, args[1].list, out);
    return fit == Fit::fits ? Value::of(std::move(out)) : fit == Fit::misfit ? Value() : Value::open();
  }
  if (fn == Fn::sub) {
    if (!list || args[1].kind != Kind::extent || args[2].kind != Kind::extent) return {};
    const auto begin = extents.value(args[1].id), end = extents.value(args[2].id);
    if (!begin || !end) return Value::open();
    if (*begin < 0 || *begin > *end || *end > static_cast<int64_t>(args[0].list.size())) return {};
    return Value::of(Shape(args[0].list.begin() + *begin, args[0].list.begin() + *end));
  }
  return Value::open();
}

}  // namespace rlgo::rulegen::sym
