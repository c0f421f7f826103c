#include <map>
#include <tuple>

#include "core/base/error.h"
#include "core/ops/windows.h"
#include "core/rulegen/check/bounded_choice.h"
#include "core/rules/instance_parts.h"
#include "core/rules/value.h"

namespace rlgo::rulegen {
namespace {

using graph::Value;
using rules::LeftNode;
using rules::Operand;

class Maker {
 public:
  Maker(const rules::CompiledRule& rule, const Bounds& bounds, Choices& choices)
      : rule_(rule), chooser_(bounds, choices), least_list_(bounds.least_list), editor_("instance") {
    for (const auto& condition : rule.conditions) asked_.look(condition.expr);
    chooser_.wish(asked_.extents);
  }

  std::optional<graph::Graph> run() {
    nodes_.assign(rule_.left.size(), graph::kNoNode);
    for (size_t k = 0; k < rule_.left.size(); ++k) {
      if (!make(static_cast<int>(k))) return std::nullopt;
    }
    rules::add_outputs(editor_, rule_, nodes_, [] { return false; });
    return editor_.finish();
  }

 private:
  bool make(int index) {
    if (nodes_[index] != graph::kNoNode) return true;
    const LeftNode& left = rule_.left[index];
    for (const auto& operand : left.operands) {
      if (operand.kind == Operand::Kind::left && !make(operand.index)) return false;
    }
    NodeDraft draft;
    draft.op = left.op;
    known_attributes(left, draft);
    if (!known_operands(left, draft) || !chooser_.complete(draft)) return false;
    std::vector<Value> inputs;
    for (size_t k = 0; k < values_.size(); ++k) {
      if (values_[k].node == graph::kNoNode) {
        const auto held = tensors_.find(slots_[k]);  // named twice in this term
        if (held == tensors_.end()) {
          tensors_[slots_[k]] = values_[k] = leaf(slots_[k], *draft.types[k]);
        } else if (editor_.type(held->second) == *draft.types[k]) {
          values_[k] = held->second;
        } else {
          return false;
        }
      }
      inputs.push_back(values_[k]);
    }
    attributes_.bind(left, draft.attrs);
    const auto id = editor_.try_add(left.op, inputs, draft.attrs);
    if (!id || std::ranges::find(nodes_, *id) != nodes_.end()) return false;
    nodes_[index] = *id;
    return true;
  }

  void known_attributes(const LeftNode& left, NodeDraft& draft) {
    attributes_.give(left, draft.attrs);
    for (const auto& test : left.tests) {
      if (test.is_list && test.key == ops::Attr::sizes) draft.parts = test.items.size();
      if (test.is_list && ops::is_window_list(test.key))
        draft.axes = test.key == ops::Attr::pads ? test.items.size() / 2 : test.items.size();
    }
  }

  bool known_operands(const LeftNode& left, NodeDraft& draft) {
    values_.clear();
    slots_.clear();
    const auto& spec = ops::spec(left.op);
    const auto spreads = std::ranges::count_if(left.operands, [](const Operand& o) { return o.spread; });
    const auto single = static_cast<int64_t>(left.operands.size()) - static_cast<int64_t>(spreads);
    for (const auto& operand : left.operands) {
      if (operand.kind == Operand::Kind::sequence) {
        const int64_t room = spec.max_inputs == ops::kAnyArity ? 2 : spec.max_inputs - single;
        const auto [held, fresh] = lengths_.try_emplace(operand.index, 0);
        if (fresh) held->second = chooser_.between(std::min(least_list_, room), room);
        for (int64_t k = 0; k < held->second; ++k) slot(operand, static_cast<int>(k), draft);
      } else if (operand.kind == Operand::Kind::left) {
        const auto ports = static_cast<int32_t>(editor_.node(nodes_[operand.index]).info->outputs.size());
        if (!operand.spread && operand.port >= ports) return false;
        const int32_t first = operand.spread ? 0 : operand.port, last = operand.spread ? ports : operand.port + 1;
        for (int32_t p = first; p < last; ++p) push({nodes_[operand.index], p}, draft);
      } else {
        slot(operand, 0, draft);
      }
    }
    return true;
  }
  void push(Value value, NodeDraft& draft) {
    values_.push_back(value);
    slots_.emplace_back();
    draft.types.emplace_back(editor_.type(value));
  }
  void slot(const Operand& operand, int element, NodeDraft& draft) {
    const SlotKey key{static_cast<int>(operand.kind), operand.index, element};
    if (operand.kind == Operand::Kind::scalar) {
      const rules::Expr& number = rule_.scalars[operand.index];
      push(fill(number.kind == rules::Expr::Kind::integer ? static_cast<double>(number.integer) : number.real), draft);
    } else if (const auto held = tensors_.find(key); held != tensors_.end()) {
      push(held->second, draft);
    } else if (operand.kind == Operand::Kind::tensor && (asked_.value >> operand.index & 1u)) {
      std::vector<double> numbers = asked_.numbers;
      for (double n : {0.0, 1.0, 2.0, -0.5}) numbers.push_back(n);
      const auto chosen = static_cast<size_t>(chooser_.pick(static_cast<int64_t>(numbers.size())));
      push(tensors_[key] = fill(numbers[chosen]), draft);
    } else {
      values_.emplace_back();
      slots_.push_back(key);
      draft.types.emplace_back();
    }
  }
  Value fill(double number) {
    return editor_.op(ops::Op::fill, {}, {{ops::Attr::shape, ops::Ints{}}, {ops::Attr::value, number}});
  }

  using SlotKey = std::tuple<int, int, int>;  // operand kind, index, element
  Value leaf(const SlotKey& key, const ops::TensorType& type) {
    const bool tensor = std::get<0>(key) == static_cast<int>(Operand::Kind::tensor);
    const std::string name = "v" + std::to_string(count_++);
    if (tensor && (asked_.constant >> std::get<1>(key) & 1u)) {
      return editor_.add_weight(name, graph::Blob::absent(type, static_cast<uint64_t>(count_)));
    }
    return editor_.add_input(name, type);
  }

  const rules::CompiledRule& rule_;
  BoundedChooser chooser_;
  const int64_t least_list_;
  graph::Editor editor_;
  rules::Asked asked_;
  std::vector<graph::NodeId> nodes_;
  std::map<SlotKey, Value> tensors_;
  std::map<int, int64_t> lengths_;  // of sequences
  rules::BoundAttributes attributes_;
  std::vector<Value> values_;  // of the node in work
  std::vector<SlotKey> slots_;
  int count_ = 0;
};

}  // namespace

std::optional<graph::Graph> bounded_instance(const rules::CompiledRule& rule, const Bounds& bounds, Choices& choices) {
  return Maker(rule, bounds, choices).run();
}

}  // namespace rlgo::rulegen
