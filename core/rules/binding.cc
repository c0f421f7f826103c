#include "core/rules/binding.h"

#include <algorithm>
#include <cstring>

#include "core/base/error.h"

namespace rlgo::rules {
namespace {

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
Val of_sequence(TensorFn which, const Slot& slot, const Val& second, const Scope& scope) {
  const auto& items = scope.binding.sequences[slot.index];
  if (which == TensorFn::count) return static_cast<int64_t>(items.size());
  if (which == TensorFn::constant) {
    return std::ranges::all_of(items, [&](const Value& v) { return scope.graph.node(v.node).constant; });
  }
  ops::Ints out;
  ops::Extents extents;  // of all items, from the first open one on
  for (const Value& v : items) {
    const auto& type = scope.graph.type(v);
    if (which != TensorFn::rank && which != TensorFn::dim) return {};
    const Val item = which == TensorFn::rank ? Val(int64_t{type.rank()}) : dim(type, second);
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

Val of_tensor(TensorFn which, const Expr& call, const Scope& scope) {
  const Slot& slot = call.args[0].slot;
  const Val second = call.args.size() > 1 ? evaluate(call.args[1], scope) : Val();
  if (slot.kind == SlotKind::sequence && scope.round < 0) return of_sequence(which, slot, second, scope);
  const ops::TensorType* type = type_of(slot, scope);
  if (!type) return {};
  switch (which) {
    case TensorFn::rank:
      return static_cast<int64_t>(type->rank());
    case TensorFn::dim:
      return dim(*type, second);
    case TensorFn::shape:
      return type->open ? from_extents(*type->open) : from_shape(type->shape);
    case TensorFn::dtype:
      return std::string(ops::name(type->dtype));
    case TensorFn::elements:
      return type->open ? from_extent(ops::product(*type->open)) : Val(type->elements());
    case TensorFn::is_float:
      return ops::is_float(type->dtype);
    case TensorFn::constant:
      return is_constant(slot, scope);
    case TensorFn::uses:
      return of_node_uses(slot, scope);
    case TensorFn::value: {
      if (slot.kind != SlotKind::tensor) return {};
      const auto number = uniform_value(scope.graph, scope.binding.tensors[slot.index]);
      return number ? Val(*number) : Val();
    }
    case TensorFn::total: {
      if (slot.kind != SlotKind::tensor) return false;
      const ops::Op op = scope.graph.node(scope.binding.tensors[slot.index].node).op();
      return op == ops::Op::input || op == ops::Op::weight || op == ops::Op::fill;
    }
    case TensorFn::count:
      return slot.kind == SlotKind::left
                 ? Val(static_cast<int64_t>(scope.graph.node(scope.binding.nodes[slot.index]).info->outputs.size()))
                 : Val();
  }
  return {};
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
  const Function& function = functions()[expr.function];
  if (function.of_tensor) return of_tensor(static_cast<TensorFn>(expr.function), expr, scope);
  std::array<Val, 8> few;
  if (expr.args.size() > few.size()) {
    std::vector<Val> args;
    for (const auto& arg : expr.args) args.push_back(evaluate(arg, scope));
    return function.call(args);
  }
  for (size_t k = 0; k < expr.args.size(); ++k) few[k] = evaluate(expr.args[k], scope);
  return function.call(std::span<const Val>(few.data(), expr.args.size()));
}

}  // namespace rlgo::rules
