#include "core/rulegen/check/wild_wishes.h"

#include <optional>

namespace rlgo::rulegen {

using rules::Expr;
using rules::Fn;

WildWishes::WildWishes(const rules::CompiledRule& rule) {
  for (const auto& condition : rule.conditions) {
    if (condition.let < 0) look(condition.expr);
  }
}

WildWishes::Side WildWishes::side_of(const Expr& expr) {
  if (expr.kind == Expr::Kind::integer) return {Side::Kind::number, -1, expr.integer};
  const bool of_tensor =
      expr.kind == Expr::Kind::call && !expr.args.empty() && expr.args[0].slot.kind == rules::SlotKind::tensor;
  if (!of_tensor) return {};
  const int tensor = expr.args[0].slot.index;
  if (expr.function == Fn::rank) return {Side::Kind::rank, tensor, 0};
  if (expr.function == Fn::shape) return {Side::Kind::shape, tensor, 0};
  if (expr.function == Fn::dim && expr.args[1].kind == Expr::Kind::integer)
    return {Side::Kind::dim, tensor, expr.args[1].integer};
  return {};
}

void WildWishes::look(const Expr& expr) {
  if (expr.calls(Fn::logical_and)) {
    for (const auto& arg : expr.args) look(arg);
  }
  if (expr.args.size() != 2) return;
  Side left = side_of(expr.args[0]), right = side_of(expr.args[1]);
  if (expr.calls(Fn::equal) && expr.args[0].calls(Fn::remainder)) {  // dim(?x, 1) % 8 == 0
    left = side_of(expr.args[0].args[0]);
    const Side divisor = side_of(expr.args[0].args[1]);
    if (divisor.kind == Side::Kind::number) right.number += divisor.number;
  }
  if (left.kind == Side::Kind::other || right.kind == Side::Kind::other) return;
  // Of what is to be large, the least that is asked for.
  const bool above = expr.calls(Fn::greater) || expr.calls(Fn::greater_equal);
  const bool below = expr.calls(Fn::less) || expr.calls(Fn::less_equal);
  if (below) std::swap(left, right);
  if (above || below) {
    if (right.kind != Side::Kind::number) return;
    right.number += expr.calls(Fn::greater) || expr.calls(Fn::less) ? 1 : 0;
  } else if (!expr.calls(Fn::equal)) {
    return;
  }
  if (left.tensor >= 0) equal_.emplace_back(left, right);
  if (right.tensor >= 0) equal_.emplace_back(right, left);
}

void WildWishes::grant(int tensor, ops::Shape& shape, const Known& known) const {
  const auto place = [](const ops::Shape& of, int64_t axis) -> std::optional<size_t> {
    const auto rank = static_cast<int64_t>(of.size());
    if (axis < -rank || axis >= rank) return std::nullopt;
    return static_cast<size_t>(axis < 0 ? axis + rank : axis);
  };
  for (const auto& [mine, asked] : equal_) {
    if (mine.tensor != tensor) continue;
    const ops::Shape* other = asked.tensor >= 0 ? known(asked.tensor) : nullptr;
    if (asked.tensor >= 0 && other == nullptr) continue;
    if (other != nullptr && mine.kind == Side::Kind::shape && asked.kind == Side::Kind::shape) shape = *other;
    if (mine.kind == Side::Kind::rank && asked.kind == Side::Kind::number && asked.number >= 0 && asked.number <= 6)
      shape.resize(static_cast<size_t>(asked.number), 1);
    if (mine.kind != Side::Kind::dim) continue;
    const auto at = place(shape, mine.number);
    if (at && asked.kind == Side::Kind::number && asked.number >= 0) shape[*at] = asked.number;
    if (at && other != nullptr && asked.kind == Side::Kind::dim) {
      if (const auto from = place(*other, asked.number)) shape[*at] = (*other)[*from];
    }
  }
}

}  // namespace rlgo::rulegen
