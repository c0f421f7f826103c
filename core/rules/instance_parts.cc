#include "core/rules/instance_parts.h"

#include <algorithm>

#include "core/ops/windows.h"
#include "core/rules/value.h"

namespace rlgo::rules {

void Asked::look(const Expr& expr) {
  if (expr.kind == Expr::Kind::real) numbers.push_back(expr.real);
  if (expr.kind == Expr::Kind::integer) numbers.push_back(static_cast<double>(expr.integer));
  if (expr.kind == Expr::Kind::call && !expr.args.empty() && expr.args[0].slot.kind == SlotKind::tensor) {
    if (expr.function == Fn::constant) constant |= 1u << expr.args[0].slot.index;
    if (expr.function == Fn::value) value |= 1u << expr.args[0].slot.index;
    if (expr.function == Fn::start || expr.function == Fn::step) rising |= 1u << expr.args[0].slot.index;
    if (expr.function == Fn::varies) varying |= 1u << expr.args[0].slot.index;
  }
  if (expr.calls(Fn::equal) && expr.args[0].calls(Fn::dim) && expr.args[1].kind == Expr::Kind::integer)
    extents.push_back(expr.args[1].integer);
  look_at_size(expr);
  for (const auto& arg : expr.args) look(arg);
}

void Asked::look_at_size(const Expr& expr) {
  if (expr.args.size() != 2) return;
  const Expr &left = expr.args[0], &right = expr.args[1];
  const auto note = [&](const Expr& of, const Expr& number, int64_t more) {
    if (of.calls(Fn::dim) && number.kind == Expr::Kind::integer) sizes.push_back(number.integer + more);
  };
  if (expr.calls(Fn::equal) || expr.calls(Fn::greater_equal) || expr.calls(Fn::remainder)) note(left, right, 0);
  if (expr.calls(Fn::equal) || expr.calls(Fn::less_equal)) note(right, left, 0);
  if (expr.calls(Fn::greater)) note(left, right, 1);
  if (expr.calls(Fn::less)) note(right, left, 1);
}

size_t window_axes(const Draft& draft) {
  const auto axes = [](ops::Attr key, size_t items) { return key == ops::Attr::pads ? items / 2 : items; };
  for (const auto& [key, count] : draft.wanted_lengths) {
    if (ops::is_window_list(key)) return axes(key, count);
  }
  for (const auto& [key, value] : draft.attrs.items()) {
    if (ops::is_window_list(key)) return axes(key, std::get<ops::Ints>(value).size());
  }
  for (size_t k = 0; k < draft.types.size() && k < 2; ++k) {
    if (draft.types[k] && draft.types[k]->rank() > 2) return static_cast<size_t>(draft.types[k]->rank() - 2);
  }
  return 0;
}

ops::Attrs literal_of_indices(const ops::TensorType& type, bool rising, int64_t axis, int64_t end, Rng& rng) {
  const auto below = [&](int64_t bound) { return static_cast<int64_t>(rng.below(static_cast<uint64_t>(bound))); };
  end = std::max<int64_t>(end, 1);
  ops::Ints values;
  if (rising) {
    const int64_t start = below(rng.below(3) == 0 ? end : std::min<int64_t>(end, 2));
    const int64_t step = rng.below(3) == 0 ? 1 + below(3) : 1;
    for (int64_t k = 0; k < type.elements(); ++k) values.push_back(start + k * step);
  } else {
    int64_t inner = 1;
    for (int64_t d = axis + 1; d < type.rank(); ++d) inner *= type.shape[static_cast<size_t>(d)];
    const int64_t length = type.shape[static_cast<size_t>(axis)];
    for (int64_t k = 0; k < type.elements(); ++k) {
      const int64_t of_line = k / inner % length * inner;
      values.push_back(of_line == k ? below(end) : values[static_cast<size_t>(of_line)]);
    }
  }
  return {{ops::Attr::shape, ops::Ints(type.shape.begin(), type.shape.end())},
          {ops::Attr::to, std::string(ops::name(type.dtype))},
          {ops::Attr::values, values}};
}

void add_outputs(graph::Editor& editor, const CompiledRule& rule, std::span<const graph::NodeId> nodes,
                 const std::function<bool()>& also) {
  int number = 0;
  for (size_t k = 0; k < rule.left.size(); ++k) {
    if (!rule.left[k].replaced && !also()) continue;
    const auto ports = static_cast<int32_t>(editor.node(nodes[k]).info->outputs.size());
    for (int32_t p = 0; p < ports; ++p) editor.add_output("out" + std::to_string(number++), {nodes[k], p});
  }
}

void BoundAttributes::give(const LeftNode& left, ops::Attrs& attrs) const {
  for (const auto& [key, value] : left.fixed) attrs.set(key, value);
  for (const auto& test : left.tests) {
    if (test.is_list) {
      ops::Ints list;
      for (const auto& item : test.items) {
        const auto held = names_.find(item.slot);
        // Null where a rule uses the name for something else, too: it then has no instance.
        const int64_t* number = item.slot < 0          ? &item.number
                                : held == names_.end() ? nullptr
                                                       : std::get_if<int64_t>(&held->second);
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
        if (const int64_t* number = std::get_if<int64_t>(&held->second)) list[k] = *number;
      }
      if (item.slot >= 0) names_[item.slot] = list[k];
    }
    attrs.set(test.key, list);
  }
  if (left.bundle >= 0) bundles_.emplace(left.bundle, attrs);
}

}  // namespace rlgo::rules
