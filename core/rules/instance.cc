#include "core/rules/instance.h"

#include <algorithm>
#include <cstring>

#include "core/base/error.h"
#include "core/rules/instance_maker.h"
#include "core/rules/matcher.h"
#include "core/rules/proof_scope.h"
#include "core/rules/random_attributes.h"

namespace rlgo::rules {
namespace {

using graph::Value;

constexpr int64_t kMostElements = 20'000;  // of an operand

class RandomMaker : public InstanceMaker<RandomMaker> {
 public:
  static constexpr bool kTypesAgree = false;

  RandomMaker(const CompiledRule& rule, Rng& rng) : InstanceMaker(rule), random_attributes_(rng), rng_(rng) {
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

  int64_t length(int64_t room) { return static_cast<int64_t>(rng_.below(static_cast<uint64_t>(room) + 1)); }
  bool is_output() { return rng_.below(8) == 0; }

  bool complete(Draft& draft) {
    return random_attributes_.complete(draft) &&
           std::ranges::all_of(draft.types, [](const auto& type) { return type->elements() <= kMostElements; });
  }

  std::optional<Value> valued(const Operand&, const Draft& draft) {
    if (rng_.below(8) == 0) return std::nullopt;
    const double number = asked_.numbers.empty() || rng_.below(3) == 0
                              ? static_cast<double>(rng_.below(7)) - 2.0
                              : asked_.numbers[rng_.below(asked_.numbers.size())];
    const bool kernel = draft.op == ops::Op::conv2d && draft.types.size() == 1;
    return kernel ? averaging_kernel() : fill(number);
  }

  Value fill(double number) {
    const ops::Ints shape(rng_.below(4) == 0 ? 1 : 0, 1);
    return editor_.op(ops::Op::fill, {}, {{ops::Attr::shape, shape}, {ops::Attr::value, number}});
  }

  Value leaf(const LeftNode& left, int place, const Slot& slot, const Draft& draft) {
    const ops::TensorType& type = *draft.types[static_cast<size_t>(place)];
    if (const auto made = indices(slot, place, draft, rng_)) return *made;
    const bool positive = wants_positive(left, place);
    const bool asked = slot.is_tensor() && (asked_.constant >> slot.index & 1u);
    const bool parameter =
        place > 0 && (left.op == ops::Op::conv2d || left.op == ops::Op::batch_norm || left.op == ops::Op::layer_norm);
    const std::string name = next_name();
    if (!ops::is_float(type.dtype)) return editor_.add_input(name, type);
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

 private:
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

  RandomAttributes random_attributes_;
  Rng& rng_;
};

}  // namespace

std::optional<graph::Graph> random_instance(const CompiledRule& rule, Rng& rng) { return RandomMaker(rule, rng).run(); }

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
