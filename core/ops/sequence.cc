// Operators on sequences: attention, and recurrent networks as one operator each.
#include "core/ops/families.h"

namespace rlgo::ops {
namespace {

Inferred infer_attention(Inputs in, const Attrs& attrs) {
  const bool fits = same_float(in.first(3)) && is_flag(attrs.i(Attr::causal)) && attrs.f(Attr::softcap) >= 0;
  if (!fits || (in.size() == 4 && in[3].dtype != DType::boolean && in[3].dtype != in[0].dtype)) return std::nullopt;
  return shaped(Op::attention, in[0].dtype, in, attrs);
}

// Two products; scale, mask and softmax between them.
Work work_attention(Inputs in, const Attrs& attrs) {
  const auto out = *infer_attention(in, attrs);
  const auto heads = static_cast<double>(attrs.i(Attr::heads) > 0 ? attrs.i(Attr::heads) : 1);
  const size_t positions = attrs.i(Attr::heads) > 0 ? 1 : 2;
  const auto keys = static_cast<double>(in[1].shape[positions]);
  const double queries = static_cast<double>(in[0].shape[0]) * static_cast<double>(in[0].shape[positions]) *
                         (positions == 2 ? static_cast<double>(in[0].shape[1]) : heads);
  const double softmax = (in.size() == 4 ? 6.0 : 5.0) + kTranscendentalFlops;
  return moved(2.0 * keys * (count(in[0]) + count(out[0])) + softmax * queries * keys, in, out);
}

Inferred infer_recurrent(Inputs in, const Attrs& attrs) {
  const int64_t gates = attrs.i(Attr::gates), after = attrs.i(Attr::reset_after);
  const bool known = gates == 1 || gates == 3 || gates == 4;
  const bool arity = gates == 4 ? in.size() != 5 : in.size() < 6;
  if (!known || !arity || !same_float(in) || !is_flag(attrs.i(Attr::reverse)) || !is_flag(after) ||
      (after == 1 && gates != 3))
    return std::nullopt;
  return shaped(Op::recurrent, in[0].dtype, in, attrs);
}

// At each step a row of gates from input and state, and about three more operations for each gate.
Work work_recurrent(Inputs in, const Attrs& attrs) {
  const auto out = *infer_recurrent(in, attrs);
  const auto gates = static_cast<double>(attrs.i(Attr::gates));
  const auto width = static_cast<double>(in[1].shape[2]) + static_cast<double>(in[2].shape[2]);
  return moved(gates * (2.0 * width + kTranscendentalFlops + 3.0) * count(out[0]), in, out);
}

}  // namespace

// attention(q, k, v, [mask]): softmax(scale * q k^T + mask) v for each head, over keys of all positions; `causal`: over
// those that are not behind the query's. A mask of booleans is -inf where it is false. Several heads of the queries in
// a row may share a head of keys and values.
OpSpec attention_spec() {
  return {Op::attention,
          3,
          4,
          false,
          false,
          {{Attr::causal, int64_t{0}},
           {Attr::heads, int64_t{0}},
           {Attr::kv_heads, int64_t{0}},
           {Attr::scale, 1.0, false},
           {Attr::softcap, 0.0}},
          infer_attention,
          work_attention};
}

// recurrent(x, w, r, [bias, [h, [c]]]): ONNX's RNN, GRU or LSTM, by the number of gates, with sigmoid and tanh. Weights
// of two directions: the second one goes from the last step to the first. States that are not given are 0.
OpSpec recurrent_spec() {
  return {Op::recurrent,
          3,
          6,
          false,
          false,
          {{Attr::gates, int64_t{0}, false}, {Attr::reset_after, int64_t{0}}, {Attr::reverse, int64_t{0}}},
          infer_recurrent,
          work_recurrent};
}

}  // namespace rlgo::ops
