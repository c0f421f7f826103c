#include "core/rules/plan.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/ops/folding.h"
#include "core/rules/proof_scope.h"

namespace rlgo::rules {
namespace {

using graph::Value;
constexpr int kMostFactors = 8;        // in a row, of one value
constexpr int64_t kMaxPlanned = 4096;  // mapped terms over hostile sequences

// Whether the number is finite in this type and has all digits. Products and quotients of a model's constants need not
// be such, though each of them is: 1 / 3e38 is denormal.
bool holds(ops::DType dtype, double number) {
  const double size = std::abs(number);
  if (dtype == ops::DType::f16) return size == 0 || (size <= 65504 && size >= 0x1p-14);
  if (dtype == ops::DType::f64) return size == 0 || std::isnormal(number);
  return size == 0 || std::isnormal(static_cast<float>(number));
}

class Planner {
 public:
  Planner(const CompiledRule& rule, const graph::Graph& graph, const Binding& binding)
      : rule_(rule), graph_(graph), binding_(binding), results_(rule.right.size()), types_(rule.right.size()) {}

  std::optional<Plan> run() {
    for (size_t k = 0; k < rule_.right.size(); ++k) {
      if (!right_node(static_cast<int>(k))) return std::nullopt;
    }
    for (const auto& replacement : rule_.replacements) {
      if (!replace(replacement)) return std::nullopt;
    }
    if (reads_replaced()) plan_.changes = false;
    return std::move(plan_);
  }

 private:
  Scope scope(int round) const { return {rule_, graph_, binding_, &types_, round}; }
  const ops::TensorType& type(const PlanRef& ref) const {
    return ref.planned < 0 ? graph_.type(ref.value) : plan_.nodes[ref.planned].types[ref.value.port];
  }
  uint64_t hash(const PlanRef& ref) const {
    if (ref.planned < 0)
      return hash_combine(static_cast<uint64_t>(ref.value.node), static_cast<uint64_t>(ref.value.port));
    return hash_combine(plan_.nodes[ref.planned].hash, 0x77u + static_cast<uint64_t>(ref.value.port));
  }
  // The value of the old graph that this is, or no node.
  Value resolved(const PlanRef& ref) const {
    return ref.planned < 0 ? ref.value : Value{plan_.nodes[ref.planned].same_as, ref.value.port};
  }

  // Rounds of a mapped node: all its element operands are equally long.
  std::optional<int> rounds(const RightNode& node) const {
    int count = -1;
    for (const auto& operand : node.operands) {
      if (!operand.element) continue;
      const int length = static_cast<int>(length_of(operand));
      if (count >= 0 && length != count) return std::nullopt;
      count = length;
    }
    return count;
  }
  size_t length_of(const Operand& operand) const {
    if (operand.kind == Operand::Kind::sequence) return binding_.sequences[operand.index].size();
    if (operand.kind == Operand::Kind::left) return graph_.node(binding_.nodes[operand.index]).info->outputs.size();
    return results_[operand.index].size();
  }

  // Appends what an operand stands for. False where an output does not exist.
  bool expand(const Operand& operand, int round, std::vector<PlanRef>& out) const {
    const bool one = !operand.spread;
    const size_t at = static_cast<size_t>(operand.element ? round : operand.port);
    if (operand.kind == Operand::Kind::tensor) {
      out.push_back({-1, binding_.tensors[operand.index]});
      return true;
    }
    const size_t length = length_of(operand);
    if (one && at >= length) return false;
    for (size_t k = one ? at : 0; k < (one ? at + 1 : length); ++k) {
      if (operand.kind == Operand::Kind::sequence) out.push_back({-1, binding_.sequences[operand.index][k]});
      if (operand.kind == Operand::Kind::left)
        out.push_back({-1, Value{binding_.nodes[operand.index], static_cast<int32_t>(k)}});
      if (operand.kind == Operand::Kind::right) out.push_back(results_[operand.index][k]);
    }
    return true;
  }

  bool right_node(int index) {
    const RightNode& node = rule_.right[index];
    if (!node.mapped) return make(index, -1);
    const auto count = rounds(node);
    if (!count) return false;
    for (int round = 0; round < *count; ++round) {
      if (!make(index, round)) return false;
    }
    return true;
  }

  bool make(int index, int round) {
    const RightNode& node = rule_.right[index];
    PlanNode made;
    made.op = node.op;
    if (plan_.nodes.size() > kMaxPlanned || !operands(node, round, made.inputs) ||
        !attributes(node, round, made.inputs, made.attrs)) {
      return false;
    }
    if (!add(std::move(made)) || !keeps_open_shape(node, plan_.nodes.back())) return false;
    if (does_nothing(plan_.nodes.back())) {
      const PlanRef input = plan_.nodes.back().inputs[0];
      plan_.nodes.pop_back();
      results_[index].push_back(input);
      types_[index].push_back(type(input));
      return true;
    }
    const auto planned = static_cast<int32_t>(plan_.nodes.size()) - 1;
    const auto& types = plan_.nodes.back().types;
    for (size_t port = 0; port < types.size(); ++port) {
      results_[index].push_back({planned, Value{graph::kNoNode, static_cast<int32_t>(port)}});
      types_[index].push_back(types[port]);
    }
    return true;
  }

  // A shape with open items (-1, -2) that is passed on means what it meant on the left side.
  bool keeps_open_shape(const RightNode& node, const PlanNode& made) const {
    if (made.op != ops::Op::reshape) return true;
    const auto& items = made.attrs.ints(ops::Attr::shape);
    if (std::ranges::none_of(items, [](int64_t item) { return item < 0; })) return true;
    const auto same_as = [&](size_t left) { return made.types == graph_.node(binding_.nodes[left]).info->outputs; };
    if (node.attrs.empty()) {
      return node.bundle < 0 || same_as(static_cast<size_t>(binding_.bundles[node.bundle].pattern - rule_.left.data()));
    }
    const Expr& expr = node.attrs[0].expr;
    if (expr.kind != Expr::Kind::name) return true;
    for (size_t k = 0; k < rule_.left.size(); ++k) {
      for (const auto& test : rule_.left[k].tests) {
        if (!test.is_list && test.items[0].slot == expr.slot.index) return same_as(k);
      }
    }
    return true;
  }

  // A concat of one tensor, a reshape to the same shape, a transpose that moves nothing: never planned.
  bool does_nothing(const PlanNode& node) const {
    if (node.inputs.size() != 1 || node.types.size() != 1 || node.types[0] != type(node.inputs[0])) return false;
    if (node.op == ops::Op::transpose) return std::ranges::is_sorted(node.attrs.ints(ops::Attr::perm));
    return node.op == ops::Op::concat || node.op == ops::Op::reshape;
  }

  // A number that the rule computes of others. Bounds may be infinite.
  static bool in_range(const RightAttr& attr, const ops::AttrValue& value) {
    const auto* number = std::get_if<double>(&value);
    const bool bound = attr.key == ops::Attr::min || attr.key == ops::Attr::max;
    return number == nullptr || bound || attr.expr.kind != Expr::Kind::call || holds(ops::DType::f32, *number);
  }

  bool operands(const RightNode& node, int round, std::vector<PlanRef>& inputs) {
    for (const auto& operand : node.operands) {
      if (operand.kind != Operand::Kind::scalar && !expand(operand, round, inputs)) return false;
      if (operand.kind == Operand::Kind::scalar) inputs.push_back({});  // needs the others' dtype
    }
    const auto is_hole = [](const PlanRef& ref) { return ref.planned < 0 && ref.value.node == graph::kNoNode; };
    const auto other = std::ranges::find_if_not(inputs, is_hole);
    const ops::DType dtype = other == inputs.end() ? ops::DType::f32 : type(*other).dtype;
    auto hole = inputs.begin();
    for (const auto& operand : node.operands) {
      if (operand.kind != Operand::Kind::scalar) continue;
      hole = std::find_if(hole, inputs.end(), is_hole);
      const auto number = to_attr(evaluate(rule_.scalars[operand.index], scope(round)), 0.0);
      if (!number || !holds(dtype, std::get<double>(*number))) return false;
      PlanNode fill;
      fill.op = ops::Op::fill;
      fill.attrs = {
          {ops::Attr::shape, ops::Ints{}}, {ops::Attr::to, std::string(ops::name(dtype))}, {ops::Attr::value, *number}};
      if (!add(std::move(fill))) return false;
      *hole = {static_cast<int32_t>(plan_.nodes.size()) - 1, Value{graph::kNoNode, 0}};
    }
    return true;
  }

  bool attributes(const RightNode& node, int round, const std::vector<PlanRef>& inputs, ops::Attrs& attrs) const {
    attrs = node.defaults;
    if (node.bundle >= 0) {
      const auto& bundle = binding_.bundles[node.bundle];
      for (const auto& [key, value] : bundle.attrs->items()) {
        const auto known = [&key = key, &value = value](const ops::AttrSpec& spec) {
          return spec.key == key && spec.fallback.index() == value.index();
        };
        if (in_bundle(*bundle.pattern, key) && std::ranges::any_of(ops::spec(node.op).attrs, known))
          attrs.set(key, value);
      }
    }
    for (const auto& attr : node.attrs) {
      const Val given = evaluate(attr.expr, scope(round));
      const auto* open = std::get_if<OpenInts>(&given);
      const bool shapes = open != nullptr && node.op == ops::Op::reshape && inputs.size() == 1;
      const auto items = shapes ? ops::reshape_items(type(inputs[0]), *open->extents) : std::nullopt;
      auto value = items ? std::optional<ops::AttrValue>(*items) : to_attr(given, attr.fallback);
      if (!value || !in_range(attr, *value)) return false;
      attrs.set(attr.key, std::move(*value));
    }
    if (node.bundle < 0 && node.op != ops::Op::slice) return true;
    auto complete = ops::complete_attrs(node.op, attrs);
    if (!complete) return false;
    attrs = std::move(*complete);
    return true;
  }

  std::optional<double> number(const PlanRef& ref) const {
    if (ref.planned < 0) return uniform_value(graph_, ref.value);
    const PlanNode& made = plan_.nodes[static_cast<size_t>(ref.planned)];
    return made.op == ops::Op::fill ? std::optional(made.attrs.f(ops::Attr::value)) : std::nullopt;
  }

  struct Made {
    ops::Op op;
    std::span<const PlanRef> inputs;
  };
  Made made_by(const PlanRef& ref, std::array<PlanRef, 2>& room) const {
    if (ref.planned >= 0) return {plan_.nodes[ref.planned].op, plan_.nodes[ref.planned].inputs};
    const auto& node = graph_.node(ref.value.node);
    const size_t count = std::min(node.inputs.size(), room.size());
    for (size_t k = 0; k < count; ++k) room[k] = {-1, node.inputs[k]};
    return {node.op(), {room.data(), count}};
  }

  // A number times some other value, which `ref` becomes; a constant is a number times nothing.
  double take_factor(PlanRef& ref) const {
    double factor = 1;
    for (int step = 0; step < kMostFactors; ++step) {
      if (const auto all = number(ref)) {
        ref = {};
        return factor * *all;
      }
      std::array<PlanRef, 2> room;
      const auto [op, inputs] = made_by(ref, room);
      const auto by = [this, inputs = inputs](size_t k) {
        return inputs.size() == 2 ? number(inputs[k]) : std::nullopt;
      };
      const bool scales = op == ops::Op::mul || op == ops::Op::div;
      if (op == ops::Op::neg) {
        factor = -factor;
        ref = PlanRef(inputs[0]);
      } else if (scales && by(1)) {
        factor = op == ops::Op::mul ? factor * *by(1) : factor / *by(1);
        ref = PlanRef(inputs[0]);
      } else if (op == ops::Op::mul && by(0)) {
        factor *= *by(0);
        ref = PlanRef(inputs[1]);
      } else {
        break;
      }
    }
    return factor;
  }

  bool same(const PlanRef& a, const PlanRef& b) const {
    if (a.planned >= 0 && b.planned >= 0 && hash(a) == hash(b)) return true;
    return resolved(a) == resolved(b) && (resolved(a).node != graph::kNoNode || (a.planned < 0 && b.planned < 0));
  }

  // (x + 2^23) - 2^23 rounds x to whole numbers: what all but cancels is not drawn together, be it numbers or multiples
  // of one value, whose size is not known.
  bool cancels(const PlanNode& made) const {
    if (made.op != ops::Op::add && made.op != ops::Op::sub) return false;
    PlanRef x = made.inputs[0], y = made.inputs[1];
    const double a = take_factor(x), b = take_factor(y);
    return same(x, y) && ops::cancels(std::max(std::abs(a), std::abs(b)), made.op == ops::Op::add ? a + b : a - b);
  }

  bool add(PlanNode made) {
    if (cancels(made)) return false;
    ops::Types inputs;
    inputs.reserve(made.inputs.size());
    for (const auto& ref : made.inputs) inputs.push_back(type(ref));
    std::vector<ops::Requirement> required;
    auto types = ops::infer(made.op, inputs, made.attrs, nullptr, &required);
    if (!types || !are_met(required)) return false;
    SmallVector<const ops::TensorType*, 8> read;
    for (const auto& input : inputs) read.push_back(&input);
    if (!in_scope(rule_, made.op, std::span<const ops::TensorType* const>(read.data(), read.size()), made.attrs,
                  *types))
      return false;
    made.constant = std::ranges::all_of(made.inputs, [&](const PlanRef& ref) {
      return ref.planned < 0 ? graph_.node(ref.value.node).constant : plan_.nodes[ref.planned].constant;
    });
    if (made.constant && ops::spec(made.op).work(inputs, made.attrs).flops > ops::kMostFoldedFlops) return false;
    made.types = std::move(*types);
    SmallVector<uint64_t, 8> hashes;
    for (const auto& ref : made.inputs) hashes.push_back(hash(ref));
    const bool commutative = ops::spec(made.op).commutative;
    if (commutative) std::sort(hashes.begin(), hashes.end());
    made.hash = hash_combine(static_cast<uint64_t>(made.op), made.attrs.hash());
    for (uint64_t h : hashes) made.hash = hash_combine(made.hash, h);
    made.same_as = equal_left(made, commutative);
    plan_.nodes.push_back(std::move(made));
    return true;
  }

  // What a new node needs of the open sizes must hold wherever the matched nodes run.
  bool are_met(const std::vector<ops::Requirement>& required) {
    if (required.empty()) return true;
    if (!known_) {
      known_.emplace();
      for (size_t k = 0; k < rule_.left.size(); ++k) {
        const graph::NodeId id = binding_.nodes[k];
        const auto types = graph_.input_types(id);
        ops::infer(graph_.node(id).op(), types, graph_.node(id).attrs(), nullptr, &*known_);
      }
    }
    return std::ranges::all_of(required, [&](const auto& wanted) { return ops::is_implied(wanted, *known_); });
  }

  graph::NodeId equal_left(const PlanNode& made, bool commutative) const {
    for (size_t k = 0; k < rule_.left.size(); ++k) {
      if (rule_.left[k].op != made.op) continue;
      const graph::NodeId id = binding_.nodes[k];
      const auto& node = graph_.node(id);
      if (node.inputs.size() != made.inputs.size()) continue;
      const size_t size = made.inputs.size();
      bool same = true;
      for (size_t i = 0; i < size; ++i) same &= resolved(made.inputs[i]) == node.inputs[i];
      if (!same && commutative && size == 2)
        same = resolved(made.inputs[0]) == node.inputs[1] && resolved(made.inputs[1]) == node.inputs[0];
      if (same && node.attrs() == made.attrs) return id;
    }
    return graph::kNoNode;
  }

  bool replace(const Replacement& replacement) {
    const graph::NodeId id = binding_.nodes[replacement.left];
    const auto& outputs = graph_.node(id).info->outputs;
    std::vector<PlanRef> values;
    if (replacement.with.kind == Operand::Kind::scalar || !expand(replacement.with, -1, values)) return false;
    const bool all = replacement.port < 0;
    if (values.size() != (all ? outputs.size() : 1) || (!all && replacement.port >= static_cast<int>(outputs.size())))
      return false;
    for (size_t k = 0; k < values.size(); ++k) {
      const auto port = all ? static_cast<int32_t>(k) : replacement.port;
      const Value old{id, port};
      if (type(values[k]) != outputs[port]) return false;
      plan_.changes |= resolved(values[k]) != old;
      plan_.signature +=
          hash_combine(hash_combine(static_cast<uint64_t>(id), static_cast<uint64_t>(port)), hash(values[k]));
      plan_.replacements.emplace_back(old, values[k]);
    }
    return true;
  }

  // A new node over a planned term that is a replaced node itself, as in x = f(x): growth without end.
  bool reads_replaced() const {
    const auto replaced = [&](const Value& value) {
      return std::ranges::any_of(plan_.replacements,
                                 [&](const auto& r) { return r.first == value && resolved(r.second) != value; });
    };
    return std::ranges::any_of(plan_.nodes, [&](const PlanNode& node) {
      return node.same_as == graph::kNoNode && std::ranges::any_of(node.inputs, [&](const PlanRef& ref) {
               return ref.planned >= 0 && replaced(resolved(ref));
             });
    });
  }

  const CompiledRule& rule_;
  const graph::Graph& graph_;
  const Binding& binding_;
  Plan plan_;
  std::optional<std::vector<ops::Requirement>> known_;  // what the matched nodes need
  std::vector<std::vector<PlanRef>> results_;
  std::vector<ops::Types> types_;
};

}  // namespace

std::optional<Plan> make_plan(const CompiledRule& rule, const graph::Graph& graph, const Binding& binding) {
  return Planner(rule, graph, binding).run();
}

}  // namespace rlgo::rules
