#include "core/rulegen/check/bounded_choice.h"
#include "core/rules/instance_maker.h"

namespace rlgo::rulegen {
namespace {

using graph::Value;

class BoundedMaker : public rules::InstanceMaker<BoundedMaker> {
 public:
  static constexpr bool kTypesAgree = true;

  BoundedMaker(const rules::CompiledRule& rule, const Bounds& bounds, Choices& choices)
      : InstanceMaker(rule), chooser_(bounds, choices), least_list_(bounds.least_list) {
    chooser_.wish(asked_.extents);
  }

  int64_t length(int64_t room) { return chooser_.between(std::min(least_list_, room), room); }
  bool is_output() const { return false; }
  bool complete(rules::Draft& draft) { return chooser_.complete(draft); }

  std::optional<Value> valued(const rules::Operand&, const rules::Draft&) {
    std::vector<double> numbers = asked_.numbers;
    for (double n : {0.0, 1.0, 2.0, -0.5}) numbers.push_back(n);
    return fill(numbers[static_cast<size_t>(chooser_.pick(std::ssize(numbers)))]);
  }

  Value fill(double number) {
    return editor_.op(ops::Op::fill, {}, {{ops::Attr::shape, ops::Ints{}}, {ops::Attr::value, number}});
  }

  Value leaf(const rules::LeftNode&, int place, const Slot& slot, const rules::Draft& draft) {
    const ops::TensorType& type = *draft.types[static_cast<size_t>(place)];
    const std::string name = next_name();
    if (slot.is_tensor() && (asked_.constant >> slot.index & 1u))
      return editor_.add_weight(name, graph::Blob::absent(type, static_cast<uint64_t>(leaves_)));
    return editor_.add_input(name, type);
  }

 private:
  BoundedChooser chooser_;
  const int64_t least_list_;
};

}  // namespace

std::optional<graph::Graph> bounded_instance(const rules::CompiledRule& rule, const Bounds& bounds, Choices& choices) {
  return BoundedMaker(rule, bounds, choices).run();
}

}  // namespace rlgo::rulegen
