#include "core/rules/binding.h"

#include <algorithm>
#include <cstring>

#include "core/base/error.h"
#include "core/rules/whole_numbers.h"

namespace rlgo::rules {
namespace {

using graph::Node;
using graph::Value;

Val attribute(const Binding& binding, int slot) {
  if ((binding.masks.attributes >> slot & 1u) == 0) return {};
  const auto& held = binding.attributes[slot];
  return held.attr ? from_attr(*held.attr) : held.own;
}

const ops::TensorType* type_of(const Slot& slot, const Scope& scope) {
  switch (slot.kind) {
    case SlotKind::tensor:
      return &scope.graph.type(scope.binding.tensors[slot.index]);
    case SlotKind::sequence: {
      const auto& items = scope.binding.sequences[slot.index];
      if (scope.round < 0 || scope.round >= static_cast<int>(items.size())) return nullptr;
      return &scope.graph.type(items[scope.round]);
    }
    case SlotKind::left: {
      const auto& outputs = scope.graph.node(scope.binding.nodes[slot.index]).info->outputs;
      return slot.port < static_cast<int>(outputs.size()) ? &outputs[slot.port] : nullptr;
    }
    case SlotKind::right: {
      if (!scope.right_types) return nullptr;
      const auto& outputs = (*scope.right_types)[slot.index];
      const int port = scope.rule.right[slot.index].mapped ? scope.round : slot.port;
      return port >= 0 && port < static_cast<int>(outputs.size()) ? &outputs[port] : nullptr;
    }
    default:
      return nullptr;
  }
}

Val dim(const ops::TensorType& type, const Val& axis) {
  const auto* i = std::get_if<int64_t>(&axis);
  if (!i) return {};
  const int64_t at = *i < 0 ? *i + type.rank() : *i;
  if (at < 0 || at >= type.rank()) return {};
  return type.is_open(at) ? from_extent(type.extent(at)) : Val(type.shape[static_cast<size_t>(at)]);
}

bool is_constant(const Slot& slot, const Scope& scope) {
  if (slot.kind == SlotKind::tensor) return scope.graph.node(scope.binding.tensors[slot.index].node).constant;
  if (slot.kind == SlotKind::left) return scope.graph.node(scope.binding.nodes[slot.index]).constant;
  return false;
}

// Appends an integer to a list; with the first open one `extents` takes over. False where it is none.
bool append(const Val& item, ops::Ints& numbers, ops::Extents& extents) {
  const auto* i = std::get_if<int64_t>(&item);
  if (!i && !std::holds_alternative<OpenInt>(item)) return false;
  if (!i && extents.empty()) extents.assign(numbers.begin(), numbers.end());
  if (!i || !extents.empty()) extents.push_back(*to_extent(item));
  if (i) numbers.push_back(*i);
  return true;
}

// Of a whole sequence, outside mapped terms.
Val of_sequence(Fn which, const Slot& slot, const Val& second, const Scope& scope) {
  const auto& items = scope.binding.sequences[slot.index];
  if (which == Fn::count) return static_cast<int64_t>(items.size());
  if (which == Fn::constant) {
    return std::ranges::all_of(items, [&](const Value& v) { return scope.graph.node(v.node).constant; });
  }
  ops::Ints out;
  ops::Extents extents;  // of all items, from the first open one on
  for (const Value& v : items) {
    const auto& type = scope.graph.type(v);
    if (which != Fn::rank && which != Fn::dim) return {};
    const Val item = which == Fn::rank ? Val(int64_t{type.rank()}) : dim(type, second);
    if (!append(item, out, extents)) return {};
  }
  return extents.empty() ? Val(std::move(out)) : from_extents(extents);
}

Val of_node_uses(const Slot& slot, const Scope& scope) {
  const auto id = scope.binding.nodes[slot.index];
  int64_t uses = static_cast<int64_t>(scope.graph.node(id).uses.size());
  for (const auto& output : scope.graph.outputs()) uses += output.value.node == id ? 1 : 0;
  return uses;
}

// start, step, varies
Val of_whole_numbers(Fn which, const Slot& slot, const Val& axis, const Scope& scope) {
  if (slot.kind != SlotKind::tensor) return {};
  const Value value = scope.binding.tensors[slot.index];
  if (which == Fn::varies) {
    const auto* k = std::get_if<int64_t>(&axis);
    const int64_t rank = scope.graph.type(value).rank();
    return k && *k >= 0 && *k < rank ? Val(varies_along(scope.graph, value, *k)) : Val();
  }
  const auto numbers = progression(scope.graph, value);
  if (!numbers) return {};
  return which == Fn::start ? numbers->first : numbers->step;
}

Val of_tensor(Fn which, const Expr& call, const Scope& scope) {
  const Slot& slot = call.args[0].slot;
  const Val second = call.args.size() > 1 ? evaluate(call.args[1], scope) : Val();
  if (slot.kind == SlotKind::sequence && scope.round < 0) return of_sequence(which, slot, second, scope);
  const ops::TensorType* type = type_of(slot, scope);
  if (!type) return {};
  switch (which) {
    case Fn::rank:
      return static_cast<int64_t>(type->rank());
    case Fn::dim:
      return dim(*type, second);
    case Fn::shape:
      return type->open ? from_extents(*type->open) : from_shape(type->shape);
    case Fn::dtype:
      return std::string(ops::name(type->dtype));
    case Fn::elements:
      return type->open ? from_extent(ops::product(*type->open)) : Val(type->elements());
    case Fn::is_float:
      return ops::is_float(type->dtype);
    case Fn::constant:
      return is_constant(slot, scope);
    case Fn::uses:
      return of_node_uses(slot, scope);
    case Fn::value: {
      if (slot.kind != SlotKind::tensor) return {};
      const auto number = uniform_value(scope.graph, scope.binding.tensors[slot.index]);
      return number ? Val(*number) : Val();
    }
    case Fn::start:
    case Fn::step:
    case Fn::varies:
      return of_whole_numbers(which, slot, second, scope);
    case Fn::total: {
      if (slot.kind != SlotKind::tensor) return false;
      const ops::Op op = scope.graph.node(scope.binding.tensors[slot.index].node).op();
      return op == ops::Op::input || op == ops::Op::weight || op == ops::Op::fill;
    }
    case Fn::count:
      return slot.kind == SlotKind::left
                 ? Val(static_cast<int64_t>(scope.graph.node(scope.binding.nodes[slot.index]).info->outputs.size()))
                 : Val();
    default:
      return {};  // no function of a tensor
  }
}

template <typename T>
double first_as_double(const std::string& bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return static_cast<double>(value);
}

}  // namespace

bool in_bundle(const LeftNode& pattern, ops::Attr key) {
  return std::ranges::find(pattern.mentioned, key) == pattern.mentioned.end();
}

bool equal_bundles(const Binding::BundleSlot& a, const Binding::BundleSlot& b) {
  const auto covered = [](const Binding::BundleSlot& x, const Binding::BundleSlot& y) {
    for (const auto& [key, value] : x.attrs->items()) {
      if (!in_bundle(*x.pattern, key)) continue;
      const auto* other = in_bundle(*y.pattern, key) ? y.attrs->find(key) : nullptr;
      if (!other || *other != value) return false;
    }
    return true;
  };
  return covered(a, b) && covered(b, a);
}

bool refers_to_input(const graph::Node& node) {
  if (node.op() != ops::Op::reshape) return false;
  return std::ranges::any_of(node.attrs().ints(ops::Attr::shape), [](int64_t item) { return item < 0; });
}

Val attribute_of(const graph::Node& node, const ops::AttrValue& held, ops::Attr key) {
  if (key != ops::Attr::shape || !refers_to_input(node)) return from_attr(held);
  return from_extents(node.info->outputs[0].extents());
}

std::optional<double> uniform_value(const graph::Graph& graph, Value value) {
  const auto& info = *graph.node(value.node).info;
  if (info.op == ops::Op::fill) return info.attrs.f(ops::Attr::value);
  if (info.op != ops::Op::weight || !info.blob->available() || !info.outputs[0].is_static() ||
      info.outputs[0].elements() != 1)
    return std::nullopt;
  switch (info.outputs[0].dtype) {
    case ops::DType::f32:
      return first_as_double<float>(info.blob->load());
    case ops::DType::f64:
      return first_as_double<double>(info.blob->load());
    default:
      return std::nullopt;
  }
}

namespace {

// An attribute of a node, or (attr null) a number out of a list.
bool bind_attribute(Binding& binding, int slot, const ops::AttrValue* attr, int64_t number) {
  auto& held = binding.attributes[slot];
  if (binding.masks.attributes >> slot & 1u) {
    if (attr && held.attr) return *held.attr == *attr;
    if (attr) return equal(held.own, *attr);
    return held.attr ? equal(Val(number), *held.attr) : held.own == Val(number);
  }
  held.attr = attr;
  if (!attr) held.own = number;
  binding.masks.attributes |= 1u << slot;
  return true;
}

bool bind_value(Binding& binding, int slot, const Val& value) {
  auto& held = binding.attributes[slot];
  if (binding.masks.attributes >> slot & 1u)
    return held.attr ? equal(value, *held.attr) : has_value(value) && held.own == value;
  held.attr = nullptr;
  held.own = value;
  binding.masks.attributes |= 1u << slot;
  return true;
}

bool test_items(Binding& binding, const AttrTest& test, const ops::AttrValue& value) {
  if (!test.is_list) return bind_attribute(binding, test.items[0].slot, &value, 0);
  const auto* list = std::get_if<ops::Ints>(&value);
  if (!list || list->size() != test.items.size()) return false;
  for (size_t k = 0; k < list->size(); ++k) {
    const auto& item = test.items[k];
    if (item.slot < 0 ? item.number != (*list)[k] : !bind_attribute(binding, item.slot, nullptr, (*list)[k]))
      return false;
  }
  return true;
}

// The same for a shape that refers to its reshape's input, given the extents that it makes.
bool test_resolved(Binding& binding, const AttrTest& test, const Val& value) {
  if (!test.is_list) return bind_value(binding, test.items[0].slot, value);
  const auto extents = to_extents(value);
  if (!extents || extents->size() != test.items.size()) return false;
  for (size_t k = 0; k < extents->size(); ++k) {
    const auto& item = test.items[k];
    const bool fits = item.slot < 0 ? (*extents)[k].number() == item.number
                                    : bind_value(binding, item.slot, from_extent((*extents)[k]));
    if (!fits) return false;
  }
  return true;
}

}  // namespace

bool bind_attributes(const LeftNode& pattern, const Node& node, Binding& binding) {
  const ops::Attrs& attrs = node.attrs();
  for (const auto& [key, value] : pattern.fixed) {
    const auto* held = attrs.find(key);
    if (!held || *held != value) return false;
  }
  for (const auto& test : pattern.tests) {
    const auto* held = attrs.find(test.key);
    if (!held) return false;
    if (test.key == ops::Attr::shape && refers_to_input(node)) {
      if (!test_resolved(binding, test, attribute_of(node, *held, test.key))) return false;
    } else if (!test_items(binding, test, *held)) {
      return false;
    }
  }
  if (pattern.bundle < 0) return true;
  if (refers_to_input(node)) return false;  // elsewhere the same items may make another shape
  auto& slot = binding.bundles[pattern.bundle];
  const Binding::BundleSlot here{&attrs, &pattern};
  if (binding.masks.bundles >> pattern.bundle & 1u) return equal_bundles(slot, here);
  slot = here;
  binding.masks.bundles |= 1u << pattern.bundle;
  return true;
}

bool bind_input(const CompiledRule& rule, const graph::Graph& graph, const Operand& operand, Value value,
                Binding& binding) {
  if (operand.kind == Operand::Kind::tensor) {
    auto& held = binding.tensors[operand.index];
    if (binding.masks.tensors >> operand.index & 1u) return held == value;
    held = value;
    binding.masks.tensors |= 1u << operand.index;
    return true;
  }
  RLGO_CHECK(operand.kind == Operand::Kind::scalar);
  const auto number = uniform_value(graph, value);
  const Expr& wanted = rule.scalars[operand.index];
  const double target = wanted.kind == Expr::Kind::integer ? static_cast<double>(wanted.integer) : wanted.real;
  // What single precision holds exactly is spelt so, and doubles have all digits.
  const bool exact =
      static_cast<double>(static_cast<float>(target)) == target || graph.type(value).dtype == ops::DType::f64;
  return number && (exact ? *number == target : is_near(*number, target));
}

bool bind_node(const CompiledRule& rule, int pattern, graph::NodeId id, Binding& binding) {
  if (binding.masks.nodes >> pattern & 1u) return binding.nodes[pattern] == id;
  for (size_t k = 0; k < rule.left.size(); ++k) {
    if ((binding.masks.nodes >> k & 1u) && binding.nodes[k] == id) return false;
  }
  binding.nodes[pattern] = id;
  binding.masks.nodes |= 1u << pattern;
  return true;
}

std::optional<size_t> bound_length(const Binding& binding, int sequence, std::span<const Value> inputs) {
  const auto& bound = binding.sequences[sequence];
  const bool begins = bound.size() <= inputs.size() && std::equal(bound.begin(), bound.end(), inputs.begin());
  return begins ? std::optional(bound.size()) : std::nullopt;
}

bool deferred_tests_hold(const Scope& scope) {
  return std::ranges::all_of(scope.rule.deferred, [&](const DeferredTest& test) {
    const Node& node = scope.graph.node(scope.binding.nodes[test.node]);
    const auto* held = node.attrs().find(test.key);
    if (!held) return false;
    const Val wanted = evaluate(test.expr, scope);
    const bool resolved = test.key == ops::Attr::shape && refers_to_input(node);
    return resolved ? has_value(wanted) && wanted == attribute_of(node, *held, test.key) : equal(wanted, *held);
  });
}

Val evaluate(const Expr& expr, const Scope& scope) {
  switch (expr.kind) {
    case Expr::Kind::integer:
      return expr.integer;
    case Expr::Kind::real:
      return expr.real;
    case Expr::Kind::word:
      return expr.text;
    case Expr::Kind::name:
      return attribute(scope.binding, expr.slot.index);
    case Expr::Kind::list: {
      ops::Ints items;
      ops::Extents extents;
      for (const auto& arg : expr.args) {
        if (!append(evaluate(arg, scope), items, extents)) return {};
      }
      return extents.empty() ? Val(std::move(items)) : from_extents(extents);
    }
    case Expr::Kind::call:
      break;
  }
  const Function& called = function(expr.function);
  if (called.of_tensor) return of_tensor(expr.function, expr, scope);
  std::array<Val, 8> few;
  if (expr.args.size() > few.size()) {
    std::vector<Val> args;
    for (const auto& arg : expr.args) args.push_back(evaluate(arg, scope));
    return called.call(args);
  }
  for (size_t k = 0; k < expr.args.size(); ++k) few[k] = evaluate(expr.args[k], scope);
  return called.call(std::span<const Val>(few.data(), expr.args.size()));
}

}  // namespace rlgo::rules
