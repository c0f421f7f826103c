// Attention and recurrent networks. What one of rlgo's operators does not say stays as it is: past keys and values,
// steps that differ in a batch, other activations than the usual ones, peepholes.
#include <algorithm>
#include <cmath>

#include "core/onnx/converters.h"

namespace rlgo::onnx_io {
namespace {

using ops::Attr;
using ops::Op;

// Whether all attributes that the node has are among these.
bool has_only(const OnnxNode& node, std::initializer_list<std::string_view> known) {
  return std::ranges::all_of(node.attrs,
                             [&](const auto& attr) { return std::ranges::find(known, attr.first) != known.end(); });
}

struct Cell {
  std::string_view op;
  int64_t gates;
  std::vector<std::string> activations;
};

const Cell& cell_of(const OnnxNode& node) {
  static const std::vector<Cell> cells{
      {"RNN", 1, {"tanh"}}, {"GRU", 3, {"sigmoid", "tanh"}}, {"LSTM", 4, {"sigmoid", "tanh", "tanh"}}};
  return *std::ranges::find(cells, node.op, &Cell::op);
}

// The usual activations for each direction, in any case of letters.
bool has_usual_activations(const OnnxNode& node, const Cell& cell, size_t directions) {
  const auto found = node.attrs.find("activations");
  if (found == node.attrs.end()) return true;
  const auto* words = std::get_if<Words>(&found->second);
  if (words == nullptr || words->size() != directions * cell.activations.size()) return false;
  for (size_t k = 0; k < words->size(); ++k) {
    std::string word = (*words)[k];
    std::ranges::transform(word, word.begin(), [](char c) { return static_cast<char>(std::tolower(c)); });
    if (word != cell.activations[k % cell.activations.size()]) return false;
  }
  return true;
}

// Whether all sequences of the batch have all steps.
bool has_all_steps(const OnnxNode& node) {
  if (!node.has_input(4)) return true;
  const Constant* lengths = node.constant(4);
  const auto& x = node.input_types[0];
  return lengths != nullptr && !lengths->is_float() && !x.is_open(0) &&
         std::ranges::all_of(lengths->ints, [&](int64_t length) { return length == x.shape[0]; });
}

graph::Value zeros(Maker& maker, ops::DType dtype, const Ints& shape) {
  return maker.op(Op::fill, {}, {{Attr::shape, shape}, {Attr::to, std::string(ops::name(dtype))}, {Attr::value, 0.0}});
}

// x, w, r, [bias, states]: what the node leaves out in front of what it has becomes zeros.
std::optional<std::vector<graph::Value>> operands(const OnnxNode& node, Maker& maker, int64_t gates) {
  std::vector<graph::Value> out(node.inputs.begin(), node.inputs.begin() + 3);
  const size_t states = gates == 4 ? 2 : 1;
  const auto has_state = [&](size_t k) { return node.has_input(5 + k); };
  const bool any = has_state(0) || (states == 2 && has_state(1));
  const auto &x = node.input_types[0], &w = node.input_types[1], &r = node.input_types[2];
  if (any || node.has_input(3))
    out.push_back(node.has_input(3) ? node.inputs[3] : zeros(maker, x.dtype, {w.shape[0], 2 * w.shape[1]}));
  for (size_t k = 0; any && k < states; ++k) {
    if (!has_state(k) && x.is_open(1)) return std::nullopt;
    out.push_back(has_state(k) ? node.inputs[5 + k] : zeros(maker, x.dtype, {w.shape[0], x.shape[1], r.shape[2]}));
  }
  return out;
}

}  // namespace

// RNN, GRU, LSTM.
bool convert_recurrent(const OnnxNode& node, Maker& maker) {
  const Cell& cell = cell_of(node);
  if (!has_only(node, {"hidden_size", "direction", "layout", "activations", "input_forget", "linear_before_reset"}))
    return false;
  const auto &w = node.input_types[1], &r = node.input_types[2];
  if (w.rank() != 3 || r.rank() != 3 || node.input_types[0].rank() != 3 || !is_closed(w) || !is_closed(r)) return false;
  const std::string direction = node.s("direction", "forward");
  const size_t directions = direction == "bidirectional" ? 2 : 1;
  if (static_cast<int64_t>(directions) != w.shape[0] || node.i("hidden_size", r.shape[2]) != r.shape[2]) return false;
  if (node.i("layout", 0) != 0 || node.i("input_forget", 0) != 0 || node.has_input(7)) return false;
  if (!has_usual_activations(node, cell, directions) || !has_all_steps(node)) return false;
  const auto inputs = operands(node, maker, cell.gates);
  if (!inputs) return false;
  maker.out(Op::recurrent, *inputs,
            {{Attr::gates, cell.gates},
             {Attr::reset_after, node.i("linear_before_reset", 0)},
             {Attr::reverse, int64_t{direction == "reverse"}}});
  maker.keep_outputs(node.outputs.size());
  return true;
}

// With `softcap`, versions of the operator differ in whether the mask comes before: only without one.
bool convert_attention(const OnnxNode& node, Maker& maker) {
  if (!has_only(node, {"scale", "is_causal", "softcap", "q_num_heads", "kv_num_heads", "softmax_precision",
                       "qk_matmul_output_mode"}))
    return false;
  for (size_t k = 4; k < node.inputs.size(); ++k) {
    if (node.has_input(k)) return false;
  }
  if (!node.only_first_output()) return false;
  const auto& q = node.input_types[0];
  const bool own_axis = q.rank() == 4;
  const int64_t heads = own_axis ? 0 : node.i("q_num_heads", 0), of_keys = own_axis ? 0 : node.i("kv_num_heads", 0);
  const bool masked = node.has_input(3), causal = node.i("is_causal", 0) != 0;
  const double cap = node.f("softcap", 0);
  if (node.has("softmax_precision") && (q.dtype != ops::DType::f32 || node.i("softmax_precision", 0) != 1))
    return false;
  if ((cap != 0 && (masked || causal)) || q.rank() < 3 || q.is_open(q.rank() - 1)) return false;
  if (!own_axis && (heads < 1 || of_keys < 1)) return false;
  const int64_t features = q.shape[static_cast<size_t>(q.rank()) - 1] / std::max<int64_t>(heads, 1);
  if (features < 1) return false;
  std::vector<graph::Value> inputs(node.inputs.begin(), node.inputs.begin() + 3);
  if (masked) inputs.push_back(node.inputs[3]);
  maker.out(Op::attention, inputs,
            {{Attr::causal, int64_t{causal}},
             {Attr::heads, heads},
             {Attr::kv_heads, of_keys},
             {Attr::scale, node.f("scale", plain_double(1 / std::sqrt(static_cast<float>(features))))},
             {Attr::softcap, cap}});
  maker.keep_outputs(node.outputs.size());
  return true;
}

}  // namespace rlgo::onnx_io
