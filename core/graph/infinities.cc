#include "core/graph/infinities.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_set>

#include "core/graph/graph.h"
#include "core/ops/moves.h"

namespace rlgo::graph {
namespace {

using ops::Attr;
using ops::Op;

uint8_t negated(uint8_t bits) {
  return static_cast<uint8_t>((bits & kPositiveInfinite ? kNegativeInfinite : 0) |
                              (bits & kNegativeInfinite ? kPositiveInfinite : 0));
}

uint8_t any_of(std::span<const uint8_t> inputs) {
  uint8_t bits = kFinite;
  for (const uint8_t one : inputs) bits |= one;
  return bits;
}

uint8_t all_of(std::span<const uint8_t> inputs) {
  uint8_t bits = kBothInfinite;
  for (const uint8_t one : inputs) bits &= one;
  return bits;
}

// Of operators that rlgo keeps as they are.
bool is_bounded(const Opaque& opaque) {
  static const std::unordered_set<std::string_view> kBounded{"Softmax",     "Sigmoid",   "Tanh", "Erf",
                                                             "HardSigmoid", "Attention", "LSTM", "GRU"};
  return kBounded.contains(opaque.op_type);
}

uint8_t of_clip(const NodeInfo& info, uint8_t bits) {
  if (std::isfinite(info.attrs.f(Attr::min))) bits &= kPositiveInfinite;
  if (std::isfinite(info.attrs.f(Attr::max))) bits &= kNegativeInfinite;
  return bits;
}

// Of operators that read something infinite.
uint8_t made_of(const NodeInfo& info, std::span<const uint8_t> inputs, uint8_t any) {
  if (ops::moves_only(info.op)) return any;
  switch (info.op) {
    case Op::sigmoid:
    case Op::hard_sigmoid:
    case Op::tanh:
    case Op::erf:
    case Op::softmax:
    case Op::recurrent:
      return kFinite;
    case Op::attention:  // means of values
      return inputs[2] & kBothInfinite;
    case Op::relu:
    case Op::softplus:
    case Op::exp:
      return any & kPositiveInfinite;
    case Op::abs:
      return kPositiveInfinite;
    case Op::neg:
      return negated(any);
    case Op::sub:
      return inputs[0] | negated(inputs[1]);
    case Op::clip:
      return of_clip(info, any);
    case Op::max:
      return (any & kPositiveInfinite) | (all_of(inputs) & kNegativeInfinite);
    case Op::min:
      return (any & kNegativeInfinite) | (all_of(inputs) & kPositiveInfinite);
    case Op::add:
    case Op::where:
    case Op::expand:
    case Op::cast:
    case Op::max_pool:
    case Op::avg_pool:
    case Op::global_avg_pool:
    case Op::reduce_max:
    case Op::reduce_min:
    case Op::reduce_mean:
    case Op::reduce_sum:
      return any;
    default:
      return kBothInfinite;
  }
}

}  // namespace

uint8_t infinities_of(double number) {
  if (std::isnan(number)) return kBothInfinite;
  if (std::isinf(number)) return number > 0 ? kPositiveInfinite : kNegativeInfinite;
  return number != 0 && (std::abs(number) >= 0x1p20 || std::abs(number) <= 0x1p-20) ? kExtreme : kFinite;
}

uint8_t infinities_of(const NodeInfo& info, std::span<const uint8_t> inputs) {
  if (info.op == Op::weight) return info.blob->infinities();
  uint8_t own = kFinite;
  if (info.op == Op::fill || info.op == Op::pad) own = infinities_of(info.attrs.f(Attr::value));
  if (info.op == Op::opaque) own = info.opaque->infinities;
  const uint8_t any = any_of(inputs) | own, extreme = any & kExtreme;
  if ((any & kBothInfinite) == kFinite || info.op == Op::fill) return any;
  const auto may_hold = [](const ops::TensorType& type) {
    return ops::is_float(type.dtype) || type.dtype == ops::DType::other;
  };
  if (std::ranges::none_of(info.outputs, may_hold)) return kFinite;
  if (info.op == Op::opaque) return is_bounded(*info.opaque) ? kFinite : inputs.empty() ? own : kBothInfinite;
  return made_of(info, inputs, any & kBothInfinite) | extreme;
}

}  // namespace rlgo::graph
