// Attention and recurrent networks.
#include "core/base/error.h"
#include "core/onnx/operator_table.h"

namespace rlgo::onnx_io {
namespace {

using ops::Attr;

}  // namespace

void write_attention(Writer& w, const OutNode& n) {
  const int since = row_of(n.op).since;
  if (w.opset() < since) fail("attention needs opset {}, the model has {}", since, w.opset());
  OnnxAttrs attrs{{"scale", static_cast<float>(n.attrs.f(Attr::scale))}};
  if (n.attrs.i(Attr::causal) == 1) attrs.emplace_back("is_causal", int64_t{1});
  if (n.attrs.f(Attr::softcap) != 0) attrs.emplace_back("softcap", static_cast<float>(n.attrs.f(Attr::softcap)));
  if (n.attrs.i(Attr::heads) != 0) {
    attrs.emplace_back("q_num_heads", n.attrs.i(Attr::heads));
    attrs.emplace_back("kv_num_heads", n.attrs.i(Attr::kv_heads));
  }
  w.node("Attention", n.inputs, n.outputs, attrs);
}

// Left out: lengths of sequences.
void write_recurrent(Writer& w, const OutNode& n) {
  const int64_t gates = n.attrs.i(Attr::gates);
  const std::string_view op = gates == 4 ? "LSTM" : gates == 3 ? "GRU" : "RNN";
  Names inputs = n.inputs, outputs = n.outputs;
  if (inputs.size() > 4) inputs.insert(inputs.begin() + 4, "");
  while (outputs.back().empty()) outputs.pop_back();
  OnnxAttrs attrs{{"hidden_size", n.input_types[2].shape[2]}};
  if (n.input_types[1].shape[0] == 2) attrs.emplace_back("direction", std::string("bidirectional"));
  if (n.attrs.i(Attr::reverse) == 1) attrs.emplace_back("direction", std::string("reverse"));
  if (n.attrs.i(Attr::reset_after) == 1) attrs.emplace_back("linear_before_reset", int64_t{1});
  w.node(op, inputs, outputs, attrs);
}

}  // namespace rlgo::onnx_io
