#include "core/rules/instance_parts.h"

#include <algorithm>

#include "core/rules/value.h"

namespace rlgo::rules {

void Asked::look(const Expr& expr) {
  if (expr.kind == Expr::Kind::real) numbers.push_back(expr.real);
  if (expr.kind == Expr::Kind::integer) numbers.push_back(static_cast<double>(expr.integer));
  if (expr.kind == Expr::Kind::call && !expr.args.empty() && expr.args[0].slot.kind == SlotKind::tensor) {
    const auto which = static_cast<TensorFn>(expr.function);
    if (which == TensorFn::constant) constant |= 1u << expr.args[0].slot.index;
    if (which == TensorFn::value) value |= 1u << expr.args[0].slot.index;
  }
  if (expr.text == "==" && expr.args[0].text == "dim" && expr.args[1].kind == Expr::Kind::integer)
    extents.push_back(expr.args[1].integer);
  for (const auto& arg : expr.args) look(arg);
}

// Null where a rule uses the name for something else, too: it then has no instance.
static const int64_t* number_of(const ops::AttrValue& value) { return std::get_if<int64_t>(&value); }

void BoundAttributes::give(const LeftNode& left, ops::Attrs& attrs) const {
  for (const auto& [key, value] : left.fixed) attrs.set(key, value);
  for (const auto& test : left.tests) {
    if (test.is_list) {
      ops::Ints list;
      for (const auto& item : test.items) {
        const auto held = names_.find(item.slot);
        const int64_t* number = item.slot < 0 ? &item.number : held == names_.end() ? nullptr : number_of(held->second);
        if (number == nullptr) break;
        list.push_back(*number);
      }
      if (list.size() == test.items.size()) attrs.set(test.key, list);
      continue;
    }
    if (const auto held = names_.find(test.items[0].slot); held != names_.end()) attrs.set(test.key, held->second);
  }
  if (left.bundle < 0) return;
  const auto held = bundles_.find(left.bundle);
  if (held == bundles_.end()) return;
  for (const auto& [key, value] : held->second.items()) {
    if (std::ranges::find(left.mentioned, key) == left.mentioned.end()) attrs.set(key, value);
  }
}

void BoundAttributes::bind(const LeftNode& left, ops::Attrs& attrs) {
  for (const auto& test : left.tests) {
    const ops::AttrValue value = *attrs.find(test.key);
    if (!test.is_list) {
      names_[test.items[0].slot] = value;
      continue;
    }
    auto list = std::get<ops::Ints>(value);
    for (size_t k = 0; k < test.items.size() && k < list.size(); ++k) {
      const auto& item = test.items[k];
      if (item.slot < 0) list[k] = item.number;
      if (const auto held = names_.find(item.slot); item.slot >= 0 && held != names_.end()) {
        if (const int64_t* number = number_of(held->second)) list[k] = *number;
      }
      if (item.slot >= 0) names_[item.slot] = list[k];
    }
    attrs.set(test.key, list);
  }
  if (left.bundle >= 0) bundles_.emplace(left.bundle, attrs);
}

}  // namespace rlgo::rules
