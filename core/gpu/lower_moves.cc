// What moves elements: strided copies, and constants around them.
#include "core/base/error.h"
#include "core/gpu/places.h"

namespace rlgo::gpu {

using ops::Attr;
using ops::Op;

namespace {

// Elements of `x` from `from` on by `from_steps`, to those of `out` from `to` on by `to_steps`.
void add_copy(const NodeCall& call, const Operand& x, int64_t from, std::vector<int64_t> from_steps, const Operand& out,
              int64_t to, std::vector<int64_t> to_steps, const ops::Shape& extents) {
  Step step = make_step(kCopy, out.buffer);
  Copy& copy = step.copy;
  step.in[0] = x.buffer;
  copy.count = ops::TensorType(x.type.dtype, extents).elements();
  if (copy.count == 0) return;
  copy.bytes = static_cast<int32_t>(ops::size_bytes(x.type.dtype));
  if (copy.bytes == 0) call.refuse("elements that are no numbers");
  copy.from = from;
  copy.to = to;
  Walk walk(call, extents);
  walk.add(std::move(from_steps));
  walk.add(std::move(to_steps));
  walk.write(copy.axes, copy.extents);
  walk.write_steps(0, copy.from_steps);
  walk.write_steps(1, copy.to_steps);
  call.steps.add(step);
}

void lower_concat(const NodeCall& call) {
  const auto axis = static_cast<size_t>(call.attrs().i(Attr::axis));
  const auto steps = row_major(call.out[0].type.shape);
  int64_t place = 0;
  for (const auto& x : call.in) {
    add_copy(call, x, 0, row_major(x.type.shape), call.out[0], place * steps[axis], steps, x.type.shape);
    place += x.type.shape[axis];
  }
}

void lower_split(const NodeCall& call) {
  const auto axis = static_cast<size_t>(call.attrs().i(Attr::axis));
  const auto steps = row_major(call.in[0].type.shape);
  int64_t place = 0;
  for (const auto& out : call.out) {
    add_copy(call, call.in[0], place * steps[axis], steps, out, 0, row_major(out.type.shape), out.type.shape);
    place += out.type.shape[axis];
  }
}

// The input's elements as a tensor of this shape, its axes in another order.
void add_transposed(const NodeCall& call, const ops::Shape& from, const ops::Ints& order) {
  const auto own = row_major(from);
  std::vector<int64_t> steps;
  ops::Shape shape;
  for (const int64_t axis : order) {
    steps.push_back(own[static_cast<size_t>(axis)]);
    shape.push_back(from[static_cast<size_t>(axis)]);
  }
  add_copy(call, call.in[0], 0, steps, call.out[0], 0, row_major(shape), shape);
}

void lower_depth_to_space(const NodeCall& call) {
  const auto& x = call.in[0].type.shape;
  const int64_t b = call.attrs().i(Attr::blocksize), c = x[1] / (b * b);
  if (call.attrs().word(Attr::mode) == "DCR")
    add_transposed(call, {x[0], b, b, c, x[2], x[3]}, {0, 3, 4, 1, 5, 2});
  else
    add_transposed(call, {x[0], c, b, b, x[2], x[3]}, {0, 1, 4, 2, 5, 3});
}

void lower_space_to_depth(const NodeCall& call) {
  const auto& x = call.in[0].type.shape;
  const int64_t b = call.attrs().i(Attr::blocksize);
  add_transposed(call, {x[0], x[1], x[2] / b, b, x[3] / b, b}, {0, 3, 5, 1, 2, 4});
}

void lower_slice(const NodeCall& call) {
  const auto& attrs = call.attrs();
  auto steps = row_major(call.in[0].type.shape);
  int64_t from = 0;
  for (size_t k = 0; k < attrs.ints(Attr::axes).size(); ++k) {
    const auto axis = static_cast<size_t>(attrs.ints(Attr::axes)[k]);
    from += attrs.ints(Attr::starts)[k] * steps[axis];
    steps[axis] *= attrs.ints(Attr::steps)[k];
  }
  const auto& shape = call.out[0].type.shape;
  add_copy(call, call.in[0], from, steps, call.out[0], 0, row_major(shape), shape);
}

void lower_gather(const NodeCall& call) {
  const auto axis = static_cast<size_t>(call.attrs().i(Attr::axis));
  const auto& shape = call.in[0].type.shape;
  Step step = make_step(kGather, call.out[0].buffer);
  Gather& gather = step.gather;
  for (size_t k = 0; k < 2; ++k) step.in[k] = call.in[k].buffer;
  gather.count = call.out[0].type.elements();
  gather.extent = shape[axis];
  gather.indices = call.in[1].type.elements();
  gather.inner = row_major(shape)[axis];
  gather.bytes = static_cast<int32_t>(ops::size_bytes(call.in[0].type.dtype));
  gather.index_type = kernel_type(call, call.in[1].type);
  if (gather.bytes == 0) call.refuse("elements that are no numbers");
  call.steps.add(step);
}

}  // namespace

void add_padded(const NodeCall& call, const Operand& x, const ops::Ints& pads, double value, const Operand& out) {
  const auto &shape = x.type.shape, &padded = out.type.shape;
  const auto from_steps = row_major(shape), to_steps = row_major(padded);
  ops::Shape kept = shape;
  int64_t from = 0, to = 0;
  bool filled = false;  // by the elements of x alone
  for (size_t d = 0; d < shape.size(); ++d) {
    const int64_t begin = pads[d], end = pads[shape.size() + d];
    kept[d] = std::max<int64_t>(0, shape[d] + std::min<int64_t>(begin, 0) + std::min<int64_t>(end, 0));
    (begin < 0 ? from : to) += std::abs(begin) * (begin < 0 ? from_steps[d] : to_steps[d]);
    filled = filled || begin > 0 || end > 0;
  }
  if (filled) call.steps.add(make_map(call, k_constant, {}, out, {value}));
  add_copy(call, x, from, from_steps, out, to, to_steps, kept);
}

void add_expanded(const NodeCall& call, const Operand& x, const Operand& out) {
  const auto& shape = out.type.shape;
  add_copy(call, x, 0, broadcast_steps(x.type.shape, shape), out, 0, row_major(shape), shape);
}

bool lower_move(const NodeCall& call) {
  switch (call.info.op) {
    case Op::concat:
      return lower_concat(call), true;
    case Op::split:
      return lower_split(call), true;
    case Op::transpose:
      return add_transposed(call, call.in[0].type.shape, call.attrs().ints(Attr::perm)), true;
    case Op::depth_to_space:
      return lower_depth_to_space(call), true;
    case Op::space_to_depth:
      return lower_space_to_depth(call), true;
    case Op::slice:
      return lower_slice(call), true;
    case Op::gather:
      return lower_gather(call), true;
    case Op::expand:
      return add_expanded(call, call.in[0], call.out[0]), true;
    case Op::pad:
      return add_padded(call, call.in[0], call.attrs().ints(Attr::pads), call.attrs().f(Attr::value), call.out[0]),
             true;
    default:
      return false;
  }
}

}  // namespace rlgo::gpu
