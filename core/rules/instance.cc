#include "core/rules/instance.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "core/base/error.h"
#include "core/rules/instance_parts.h"
#include "core/rules/matcher.h"
#include "core/rules/proof_scope.h"
#include "core/rules/random_attributes.h"

namespace rlgo::rules {
namespace {

using graph::Value;

constexpr int64_t kMostElements = 20'000;  // of an operand

class Maker {
 public:
  Maker(const CompiledRule& rule, Rng& rng) : rule_(rule), random_attributes_(rng), rng_(rng), editor_("instance") {
    for (const auto& condition : rule.conditions) asked_.look(condition.expr);
    const auto literals = asked_.numbers;
    random_attributes_.wish(asked_.extents);
    for (const auto& node : rule.left) {
      for (const auto& [key, value] : node.fixed) {
        const auto* ends = key == ops::Attr::ends ? std::get_if<ops::Ints>(&value) : nullptr;
        if (ends) asked_.sizes.insert(asked_.sizes.end(), ends->begin(), ends->end());
      }
      for (const auto& test : node.tests) {  // lists of numbers and names
        if (test.key != ops::Attr::ends) continue;
        for (const auto& item : test.items) {
          if (item.slot < 0) asked_.sizes.push_back(item.number);
        }
      }
    }
    random_attributes_.ask(asked_.sizes);
    if (rule.text.proof == "proved" && rule.all_windows && has_windows(rule)) random_attributes_.vary_axes();
    for (const auto& node : rule.right) {
      for (const auto& attr : node.attrs) asked_.look(attr.expr);
    }
    for (const auto& scalar : rule.scalars) asked_.look(scalar);
    asked_.numbers = literals;
  }

  std::optional<graph::Graph> run() {
    nodes_.assign(rule_.left.size(), graph::kNoNode);
    for (size_t k = 0; k < rule_.left.size(); ++k) {
      if (!make(static_cast<int>(k))) return std::nullopt;
    }
    add_outputs(editor_, rule_, nodes_, [&] { return rng_.below(8) == 0; });
    return editor_.finish();
  }

 private:
  bool make(int index) {
    if (nodes_[index] != graph::kNoNode) return true;
    const LeftNode& left = rule_.left[index];
    for (const auto& operand : left.operands) {
      if (operand.kind == Operand::Kind::left && !make(operand.index)) return false;
    }
    Draft draft;
    draft.op = left.op;
    known_attributes(left, draft);
    if (!known_operands(left, draft)) return false;
    if (!random_attributes_.complete(draft)) return false;
    if (std::ranges::any_of(draft.types, [](const auto& type) { return type->elements() > kMostElements; }))
      return false;
    std::vector<Value> inputs;
    for (size_t k = 0; k < draft.types.size(); ++k) {
      if (values_[k].node == graph::kNoNode) values_[k] = earlier_slot(k);
      if (values_[k].node == graph::kNoNode) values_[k] = leaf(left, static_cast<int>(k), *draft.types[k]);
      inputs.push_back(values_[k]);
    }
    bind_operands(left);
    attributes_.bind(left, draft.attrs);
    const auto id = editor_.try_add(left.op, inputs, draft.attrs);
    if (!id || std::ranges::find(nodes_, *id) != nodes_.end()) return false;
    nodes_[index] = *id;
    return true;
  }

  void known_attributes(const LeftNode& left, Draft& draft) {
    attributes_.give(left, draft.attrs);
    for (const auto& test : left.tests) {
      if (test.is_list) draft.wanted_lengths[test.key] = test.items.size();
    }
  }

  // Fills values_ (where the graph has the operand already) and the draft's types; the rest is left open.
  bool known_operands(const LeftNode& left, Draft& draft) {
    values_.clear();
    slots_.clear();
    const auto open_slots = [&](const Operand& operand) {
      const auto& spec = ops::spec(left.op);
      const auto fixed =
          static_cast<int>(left.operands.size()) -
          static_cast<int>(std::ranges::count_if(left.operands, [](const Operand& o) { return o.spread; }));
      const int room = spec.max_inputs == ops::kAnyArity ? 2 : spec.max_inputs - fixed;
      const auto held = lengths_.find(operand.index);
      const int length =
          held != lengths_.end() ? held->second : static_cast<int>(rng_.below(static_cast<uint64_t>(room) + 1));
      lengths_[operand.index] = length;
      return length;
    };
    for (const auto& operand : left.operands) {
      if (operand.kind == Operand::Kind::sequence) {
        const int length = open_slots(operand);
        for (int k = 0; k < length; ++k) add_slot(operand, k, draft);
      } else if (operand.kind == Operand::Kind::left && operand.spread) {
        const auto ports = static_cast<int32_t>(editor_.node(nodes_[operand.index]).info->outputs.size());
        for (int32_t p = 0; p < ports; ++p) add_value({nodes_[operand.index], p}, draft);
      } else if (operand.kind == Operand::Kind::left) {
        if (operand.port >= static_cast<int32_t>(editor_.node(nodes_[operand.index]).info->outputs.size()))
          return false;
        add_value({nodes_[operand.index], operand.port}, draft);
      } else {
        add_slot(operand, 0, draft);
      }
    }
    return true;
  }
  void add_value(Value value, Draft& draft) {
    values_.push_back(value);
    slots_.push_back({});
    draft.types.emplace_back(editor_.type(value));
  }
  void add_slot(const Operand& operand, int element, Draft& draft) {
    const auto held = tensors_.find({static_cast<int>(operand.kind), operand.index, element});
    if (operand.kind == Operand::Kind::scalar) {
      const Expr& number = rule_.scalars[operand.index];
      add_value(fill(number.kind == Expr::Kind::integer ? static_cast<double>(number.integer) : number.real), draft);
    } else if (held != tensors_.end()) {
      add_value(held->second, draft);
    } else if (operand.kind == Operand::Kind::tensor && (asked_.value >> operand.index & 1u) && rng_.below(8) != 0) {
      const double number = asked_.numbers.empty() || rng_.below(3) == 0
                                ? static_cast<double>(rng_.below(7)) - 2.0
                                : asked_.numbers[rng_.below(asked_.numbers.size())];
      const bool kernel = draft.op == ops::Op::conv2d && draft.types.size() == 1;
      const Value value = kernel ? averaging_kernel() : fill(number);
      tensors_[{static_cast<int>(operand.kind), operand.index, 0}] = value;
      add_value(value, draft);
    } else {
      values_.push_back({});
      slots_.push_back({static_cast<int>(operand.kind), operand.index, element});
      draft.types.emplace_back();
    }
  }
  // The value of the same variable among the operands before `place`; none where it has not occurred.
  Value earlier_slot(size_t place) const {
    for (size_t k = 0; k < place; ++k) {
      if (slots_[k].kind >= 0 && slots_[k] == slots_[place]) return values_[k];
    }
    return {};
  }
  Value fill(double number) {
    const ops::Ints shape(rng_.below(4) == 0 ? 1 : 0, 1);
    return editor_.op(ops::Op::fill, {}, {{ops::Attr::shape, shape}, {ops::Attr::value, number}});
  }

  // Of one channel each, the number 1 by its size.
  Value averaging_kernel() {
    const int64_t size = rng_.below(3) == 0 ? 1 + static_cast<int64_t>(rng_.below(3)) : 3;
    const ops::Ints shape{1 + static_cast<int64_t>(rng_.below(3)), 1, size, size};
    const double mean = 1.0 / static_cast<double>(size * size);
    return editor_.op(ops::Op::fill, {}, {{ops::Attr::shape, shape}, {ops::Attr::value, mean}});
  }

  // One eighth to two: what rules compute from it stays exact for a while.
  std::shared_ptr<const graph::Blob> number(const ops::TensorType& type, bool positive) {
    const float magnitude = static_cast<float>(1 + rng_.below(16)) / 8;
    const float value = positive || rng_.below(2) == 0 ? magnitude : -magnitude;
    std::string bytes(sizeof(value), '\0');
    std::memcpy(bytes.data(), &value, sizeof(value));
    return graph::Blob::bytes(type, std::move(bytes));
  }

  bool wants_positive(const LeftNode& left, int place) const {
    if (left.op == ops::Op::batch_norm) return place == 4;
    if (left.op == ops::Op::div) return place == 1;
    if (left.op != ops::Op::pow)
      return left.op == ops::Op::sqrt || left.op == ops::Op::log || left.op == ops::Op::reciprocal ||
             left.op == ops::Op::reduce_log_sum;
    // Whole powers are there for negative bases too.
    const Operand& exponent = left.operands.back();
    const bool whole = exponent.kind == Operand::Kind::scalar &&
                       rule_.scalars[static_cast<size_t>(exponent.index)].kind == Expr::Kind::integer;
    return place == 0 && !whole;
  }

  Value leaf(const LeftNode& left, int place, const ops::TensorType& type) {
    const bool positive = wants_positive(left, place);
    const Slot slot = slots_[place];
    const bool asked = slot.kind == static_cast<int>(Operand::Kind::tensor) && (asked_.constant >> slot.index & 1u);
    const bool parameter =
        place > 0 && (left.op == ops::Op::conv2d || left.op == ops::Op::batch_norm || left.op == ops::Op::layer_norm);
    const std::string name = "v" + std::to_string(count_++);
    if (positive && left.op != ops::Op::batch_norm && rng_.below(2) == 0) {
      const Value size = editor_.op(ops::Op::abs, {editor_.add_input(name, type)});
      return editor_.op(ops::Op::add, {size, fill(0.25)});
    }
    if (positive || rng_.below(10) < (asked || parameter ? 9u : 4u)) {
      if (type.elements() == 1) return editor_.add_weight(name, number(type, positive));
      return editor_.add_weight(name, graph::Blob::seeded(type, rng_.next(), 0.7, positive ? 0.0 : 0.2, positive));
    }
    return editor_.add_input(name, type);
  }

  void bind_operands(const LeftNode& left) {
    (void)left;
    for (size_t k = 0; k < slots_.size(); ++k) {
      if (slots_[k].kind >= 0) tensors_[{slots_[k].kind, slots_[k].index, slots_[k].element}] = values_[k];
    }
  }

  struct Slot {
    int kind = -1, index = 0, element = 0;
    bool operator==(const Slot&) const = default;
  };
  const CompiledRule& rule_;
  RandomAttributes random_attributes_;
  Rng& rng_;
  graph::Editor editor_;
  Asked asked_;  // numbers: literals of the conditions alone
  std::vector<graph::NodeId> nodes_;
  std::map<std::tuple<int, int, int>, Value> tensors_;  // (operand kind, index, element)
  std::map<int, int> lengths_;                          // of sequences
  BoundAttributes attributes_;
  std::vector<Value> values_;  // of the node in work
  std::vector<Slot> slots_;
  int count_ = 0;
};

}  // namespace

std::optional<graph::Graph> random_instance(const CompiledRule& rule, Rng& rng) { return Maker(rule, rng).run(); }

void check_types(const CompiledRule& rule) {
  constexpr int kAttempts = 1500;
  constexpr int64_t kEnough = 200;  // instances on which all conditions hold
  Rng rng({rule.hash});
  Binding scratch;
  int64_t misfits = 0;
  bool fits = false;
  for (int attempt = 0; attempt < kAttempts && !fits && misfits < kEnough; ++attempt) {
    const auto graph = random_instance(rule, rng);
    if (!graph) continue;
    Matcher matcher(rule, 0, *graph, scratch);
    const Matcher::Sink sink = [&](const Found&, const Plan&) { fits = true; };
    for (graph::NodeId id : graph->order()) matcher.at(0, id, sink);
    misfits += matcher.misfits();
  }
  if (!fits && misfits > 20) {
    throw Error(fmt::format(
        "{}:{}: rule '{}': the two sides differ in type, or the right side does not fit, in all of {} random instances",
        rule.text.file, rule.text.line, rule.text.name, misfits));
  }
}

}  // namespace rlgo::rules
