#include "core/rules/whole_numbers.h"

#include <cstring>
#include <memory>
#include <string>

#include "core/base/error.h"

namespace rlgo::rules {
namespace {

using ops::DType;
using ops::Op;

constexpr int64_t kMost = int64_t{1} << 22;  // elements that are looked at

// The elements of a constant of integers, one at a time.
class WholeNumbers {
 public:
  // Whether there are any: known() is asked before the rest.
  WholeNumbers(const graph::Graph& graph, graph::Value value) : info_(*graph.node(value.node).info) {
    const auto& type = graph.type(value);
    if (!type.is_static() || (type.dtype != DType::i64 && type.dtype != DType::i32)) return;
    dtype_ = type.dtype;
    const int64_t count = type.elements();
    if (count < 1 || count > kMost) return;
    if (info_.op == Op::weight) {
      if (!info_.blob->available()) return;
      bytes_ = info_.blob->share();
    } else if (info_.op == Op::literal) {
      values_ = &info_.attrs.ints(ops::Attr::values);
    } else if (info_.op != Op::fill) {
      return;
    }
    count_ = count;
  }

  bool known() const { return count_ > 0; }
  int64_t count() const { return count_; }
  int64_t operator[](int64_t k) const {
    if (bytes_) return dtype_ == DType::i64 ? read<int64_t>(k) : read<int32_t>(k);
    return values_ != nullptr ? (*values_)[static_cast<size_t>(k)]
                              : static_cast<int64_t>(info_.attrs.f(ops::Attr::value));
  }

 private:
  template <typename T>
  int64_t read(int64_t k) const {
    T number;
    std::memcpy(&number, bytes_->data() + static_cast<size_t>(k) * sizeof(T), sizeof(T));
    return number;
  }

  const graph::NodeInfo& info_;
  DType dtype_ = DType::i64;
  std::shared_ptr<const std::string> bytes_;
  const ops::Ints* values_ = nullptr;
  int64_t count_ = 0;
};

}  // namespace

std::optional<Progression> progression(const graph::Graph& graph, graph::Value value) {
  const WholeNumbers numbers(graph, value);
  if (!numbers.known() || numbers[0] < 0) return std::nullopt;
  Progression made{numbers[0], 1};
  // Without overflow: all numbers looked at so far are 0 at least, and rise.
  for (int64_t k = 1; k < numbers.count(); ++k) {
    if (numbers[k] <= numbers[k - 1]) return std::nullopt;
    const int64_t step = numbers[k] - numbers[k - 1];
    if (k == 1) made.step = step;
    if (step != made.step) return std::nullopt;
  }
  return made;
}

bool varies_along(const graph::Graph& graph, graph::Value value, int64_t axis) {
  const auto& type = graph.type(value);
  RLGO_CHECK(axis >= 0 && axis < type.rank());
  const WholeNumbers numbers(graph, value);
  if (!numbers.known()) return false;
  int64_t inner = 1;
  for (int64_t d = axis + 1; d < type.rank(); ++d) inner *= type.shape[static_cast<size_t>(d)];
  const int64_t length = type.shape[static_cast<size_t>(axis)];
  for (int64_t k = 0; k < numbers.count(); ++k) {
    if (numbers[k] != numbers[k / inner % length * inner]) return false;
  }
  return true;
}

}  // namespace rlgo::rules
