#include "core/exec/kernels.h"

namespace rlgo::exec {

using ops::Attr;

// [B,S,H*D] as [B,H,S,D]; what has the heads as an axis already stays.
static at::Tensor by_heads(const at::Tensor& x, int64_t heads) {
  return heads == 0 ? x : x.view({x.size(0), x.size(1), heads, x.size(2) / heads}).transpose(1, 2);
}

Tensors attention_kernel(const Call& call) {
  constexpr double kNever = -std::numeric_limits<double>::infinity();
  const int64_t heads = call.attrs().i(Attr::heads), of_keys = call.attrs().i(Attr::kv_heads);
  const at::Tensor q = by_heads(call.in[0], heads);
  at::Tensor k = by_heads(call.in[1], of_keys), v = by_heads(call.in[2], of_keys);
  if (q.size(1) != k.size(1)) {
    k = at::repeat_interleave(k, q.size(1) / k.size(1), 1);
    v = at::repeat_interleave(v, q.size(1) / v.size(1), 1);
  }
  at::Tensor scores = at::matmul(q, k.transpose(2, 3)) * call.attrs().f(Attr::scale);
  if (const double cap = call.attrs().f(Attr::softcap); cap > 0) scores = at::tanh(scores / cap) * cap;
  if (call.in.size() == 4)
    scores = call.in[3].scalar_type() == at::kBool ? scores.masked_fill(at::logical_not(call.in[3]), kNever)
                                                   : scores + call.in[3];
  if (call.attrs().i(Attr::causal) == 1) {
    const at::Tensor later = at::ones({q.size(2), k.size(2)}, scores.options().dtype(at::kBool)).triu(1);
    scores = scores.masked_fill(later, kNever);
  }
  const at::Tensor out = at::matmul(at::softmax(scores, 3), v);
  return {heads == 0 ? out.contiguous() : out.transpose(1, 2).reshape(sizes_of(call.info.outputs[0])).contiguous()};
}

// One step: input gates `x`, those of the state h under `r` and `bias`. Gates in ONNX's order.
static void recurrent_step(const Call& call, const at::Tensor& x, const at::Tensor& r, const at::Tensor& bias,
                           at::Tensor& h, at::Tensor& c) {
  const int64_t gates = call.attrs().i(Attr::gates), units = r.size(1);
  const auto part = [&](const at::Tensor& all, int64_t gate) { return at::narrow(all, -1, gate * units, units); };
  const at::Tensor y = at::matmul(h, r.t()) + bias, sum = x + y;
  if (gates == 1) {
    h = at::tanh(sum);
  } else if (gates == 4) {
    c = at::sigmoid(part(sum, 2)) * c + at::sigmoid(part(sum, 0)) * at::tanh(part(sum, 3));
    h = at::sigmoid(part(sum, 1)) * at::tanh(c);
  } else {
    const at::Tensor keep = at::sigmoid(part(sum, 0)), reset = at::sigmoid(part(sum, 1));
    const at::Tensor state = call.attrs().i(Attr::reset_after) == 1
                                 ? reset * part(y, 2)
                                 : at::matmul(reset * h, at::narrow(r, 0, 2 * units, units).t()) + part(bias, 2);
    h = (1 - keep) * at::tanh(part(x, 2) + state) + keep * h;
  }
}

Tensors recurrent_kernel(const Call& call) {
  const at::Tensor &x = call.in[0], &w = call.in[1], &r = call.in[2];
  const int64_t steps = x.size(0), directions = w.size(0), rows = w.size(1);
  const at::Tensor bias = call.in.size() > 3 ? call.in[3] : at::zeros({directions, 2 * rows}, x.options());
  const at::Tensor none = at::zeros({directions, x.size(1), r.size(2)}, x.options());
  std::vector<at::Tensor> ys, hs, cs;
  for (int64_t d = 0; d < directions; ++d) {
    at::Tensor h = call.in.size() > 4 ? call.in[4][d] : none[d], c = call.in.size() > 5 ? call.in[5][d] : none[d];
    const at::Tensor of_x = at::matmul(x, w[d].t()) + at::narrow(bias[d], 0, 0, rows);
    std::vector<at::Tensor> y(static_cast<size_t>(steps));
    for (int64_t s = 0; s < steps; ++s) {
      const int64_t t = d == 1 || call.attrs().i(Attr::reverse) == 1 ? steps - 1 - s : s;
      recurrent_step(call, of_x[t], r[d], at::narrow(bias[d], 0, rows, rows), h, c);
      y[static_cast<size_t>(t)] = h;
    }
    ys.push_back(at::stack(y));
    hs.push_back(h);
    cs.push_back(c);
  }
  Tensors out{at::stack(ys, 1).contiguous(), at::stack(hs).contiguous()};
  if (call.attrs().i(Attr::gates) == 4) out.push_back(at::stack(cs).contiguous());
  return out;
}

}  // namespace rlgo::exec
