// Convolutions by cuDNN, pools and resized images by kernels.
#include <algorithm>

#include "core/base/error.h"
#include "core/gpu/places.h"

namespace rlgo::gpu {

using ops::Attr;
using ops::Ints;
using ops::Op;

namespace {

// cuDNN computes in these types; float32 without TF32, as LibTorch's prices are (exec::tune).
void check_type(const NodeCall& call) {
  const auto type = call.in[0].type.dtype;
  if (type != ops::DType::f32 && type != ops::DType::f16 && type != ops::DType::bf16)
    call.refuse(fmt::format("cuDNN convolves f32, f16 and bf16, not {}", ops::name(type)));
  for (const auto& operand : call.in) {
    if (operand.type.elements() == 0) call.refuse("a sum over no elements");
  }
}

// Extents with at least two spatial axes, which is the least that cuDNN takes.
void write_extents(const ops::Shape& shape, int64_t (&to)[5]) {
  size_t n = 0;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (d == 2 && shape.size() == 3) to[n++] = 1;
    to[n++] = shape[d];
  }
}
void write_list(const int64_t* list, size_t axes, int64_t first, int64_t (&to)[3]) {
  size_t n = 0;
  if (axes == 1) to[n++] = first;
  std::copy_n(list, axes, to + n);
}

// x, w, bias (or none) to out, both ends padded by `pads`.
Step make_conv(const NodeCall& call, const Operand& x, const Operand* bias, const Operand& out, const Ints& pads) {
  const auto& attrs = call.attrs();
  const size_t axes = call.in[0].type.shape.size() - 2;
  Step step = make_step(kConv, out.buffer);
  step.in[0] = x.buffer;
  step.in[1] = call.in[1].buffer;
  if (bias != nullptr) step.in[2] = bias->buffer;
  Conv& conv = step.conv;
  conv.axes = static_cast<int32_t>(std::max<size_t>(2, axes));
  conv.group = static_cast<int32_t>(attrs.i(Attr::group));
  conv.transposed = call.info.op == Op::conv_transpose ? 1 : 0;
  conv.type = kernel_type(call, x.type);
  write_extents(x.type.shape, conv.x);
  write_extents(call.in[1].type.shape, conv.w);
  write_extents(out.type.shape, conv.y);
  write_list(pads.data(), axes, 0, conv.pads);
  write_list(attrs.ints(Attr::strides).data(), axes, 1, conv.strides);
  write_list(attrs.ints(Attr::dilations).data(), axes, 1, conv.dilations);
  return step;
}

// Pads of the axes N, C and those of `begin` and `end`, all begins, then all ends.
Ints with_channels(const Ints& begin, const Ints& end) {
  Ints pads{0, 0};
  pads.insert(pads.end(), begin.begin(), begin.end());
  pads.insert(pads.end(), {0, 0});
  pads.insert(pads.end(), end.begin(), end.end());
  return pads;
}

// cuDNN pads both ends alike: what one has more is a step of its own.
void lower_conv(const NodeCall& call) {
  check_type(call);
  const auto& pads = call.attrs().ints(Attr::pads);
  const size_t axes = pads.size() / 2;
  Ints alike, begin, end;
  bool symmetric = true;
  Operand x = call.in[0];
  for (size_t d = 0; d < axes; ++d) {
    alike.push_back(std::min(pads[d], pads[axes + d]));
    begin.push_back(pads[d] - alike[d]);
    end.push_back(pads[axes + d] - alike[d]);
    symmetric = symmetric && begin[d] == 0 && end[d] == 0;
    x.type.shape[2 + d] += begin[d] + end[d];
  }
  if (!symmetric) {
    x = call.steps.temporary(x.type);
    add_padded(call, call.in[0], with_channels(begin, end), 0, x);
  }
  const auto& act = call.attrs().word(Attr::act);
  Step step = make_conv(call, x, call.in.size() == 3 ? &call.in[2] : nullptr, call.out[0], alike);
  step.conv.relu = act == "relu" ? 1 : 0;  // the one activation that cuDNN fuses
  call.steps.add(step);
  if (act != "relu") add_activation(call, call.out[0], act);
}

// As the gradient of a convolution by its input, which ends where that one's last window does: other ends are cut off
// or added behind the whole.
void lower_conv_transpose(const NodeCall& call) {
  check_type(call);
  const auto& attrs = call.attrs();
  const auto &pads = attrs.ints(Attr::pads), &more = attrs.ints(Attr::output_padding);
  const size_t axes = pads.size() / 2;
  bool direct = true;
  for (size_t d = 0; d < axes; ++d)
    direct = direct && pads[d] == pads[axes + d] && more[d] < attrs.ints(Attr::strides)[d];
  Operand whole = call.out[0];
  if (direct) {
    call.steps.add(
        make_conv(call, call.in[0], nullptr, whole, {pads.begin(), pads.begin() + static_cast<ptrdiff_t>(axes)}));
  } else {
    Ints front, back;
    for (size_t d = 0; d < axes; ++d) {
      front.push_back(-pads[d]);
      back.push_back(more[d] - pads[axes + d]);
      whole.type.shape[2 + d] -= front[d] + back[d];
    }
    whole = call.steps.temporary(whole.type);
    call.steps.add(make_conv(call, call.in[0], nullptr, whole, Ints(axes, 0)));
    add_padded(call, whole, with_channels(front, back), 0, call.out[0]);
  }
  if (call.in.size() < 3) return;
  Operand bias = call.in[2];
  for (size_t d = 0; d < axes; ++d) bias.type.shape.push_back(1);
  const Operand both[] = {call.out[0], bias};
  call.steps.add(make_map(call, k_add, both, call.out[0]));
}

void lower_pool(const NodeCall& call, bool mean) {
  const auto& attrs = call.attrs();
  const auto &from = call.in[0].type.shape, &to = call.out[0].type.shape;
  const auto axes = static_cast<size_t>(call.in[0].type.rank() - 2);
  Step step = make_step(kPool, call.out[0].buffer);
  step.in[0] = call.in[0].buffer;
  Pool& pool = step.pool;
  pool.count = call.out[0].type.elements();
  pool.mean = mean ? 1 : 0;
  pool.count_pad = mean && attrs.i(Attr::count_include_pad) == 1 ? 1 : 0;
  pool.type = kernel_type(call, call.in[0].type);
  const auto* dilations = attrs.find(Attr::dilations) != nullptr ? &attrs.ints(Attr::dilations) : nullptr;
  const size_t first = 3 - axes;
  for (size_t d = 0; d < 3; ++d) {
    const bool there = d >= first;
    const size_t k = there ? d - first : 0;
    pool.in[d] = there ? from[2 + k] : 1;
    pool.out[d] = there ? to[2 + k] : 1;
    pool.kernel[d] = there ? attrs.ints(Attr::kernel)[k] : 1;
    pool.strides[d] = there ? attrs.ints(Attr::strides)[k] : 1;
    pool.dilations[d] = there && dilations != nullptr ? (*dilations)[k] : 1;
    pool.begins[d] = there ? attrs.ints(Attr::pads)[k] : 0;
    pool.ends[d] = there ? attrs.ints(Attr::pads)[axes + k] : 0;
  }
  call.steps.add(step);
}

void lower_resize(const NodeCall& call) {
  const auto& attrs = call.attrs();
  Step step = make_step(kResize, call.out[0].buffer);
  step.in[0] = call.in[0].buffer;
  Resize& resize = step.resize;
  resize.count = call.out[0].type.elements();
  for (size_t d = 0; d < 2; ++d) {
    resize.in[d] = call.in[0].type.shape[2 + d];
    resize.out[d] = call.out[0].type.shape[2 + d];
    resize.scale[d] = attrs.f(d == 0 ? Attr::scale_h : Attr::scale_w);
  }
  resize.linear = attrs.word(Attr::mode) == "linear" ? 1 : 0;
  resize.corners = attrs.word(Attr::coordinates) == "align_corners" ? 1 : 0;
  resize.type = kernel_type(call, call.in[0].type);
  call.steps.add(step);
}

}  // namespace

bool lower_window(const NodeCall& call) {
  switch (call.info.op) {
    case Op::conv2d:
      return lower_conv(call), true;
    case Op::conv_transpose:
      return lower_conv_transpose(call), true;
    case Op::max_pool:
      return lower_pool(call, false), true;
    case Op::avg_pool:
      return lower_pool(call, true), true;
    case Op::resize:
      return lower_resize(call), true;
    default:
      return false;
  }
}

}  // namespace rlgo::gpu
