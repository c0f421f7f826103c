#include "core/exec/kernels.h"

namespace rlgo::exec {

// A bias that is one row rides along in the matrix product (addmm); any other is added in place.
Tensors matmul_kernel(const Call& call) {
  const at::Tensor &a = call.in[0], &b = call.in[1];
  at::Tensor out;
  bool biased = call.in.size() < 3;
  if (b.dim() == 2) {
    const int64_t inner = a.size(-1), columns = b.size(1);
    const at::Tensor rows =
        a.reshape({a.numel() == 0 ? call.info.outputs[0].elements() / columns : a.numel() / inner, inner});
    if (!biased && call.in[2].numel() == columns && (call.in[2].dim() == 0 || call.in[2].size(-1) == columns)) {
      out = at::addmm(call.in[2].reshape({columns}), rows, b);
      biased = true;
    } else {
      out = at::mm(rows, b);
    }
    out = out.view(sizes_of(call.info.outputs[0]));
  } else {
    out = at::matmul(a, b);
  }
  if (!biased) out.add_(call.in[2]);
  activate_in_place(out, call.attrs().word(ops::Attr::act));
  return {out};
}

}  // namespace rlgo::exec
