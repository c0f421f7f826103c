// Tensors over a ring, and the index arithmetic that the evaluator's families share.
#pragma once

#include <span>
#include <vector>

#include "core/ops/op.h"

namespace rlgo::rulegen {

// Row-major elements of a static type.
template <class E>
struct Tensor {
  ops::TensorType type;
  std::vector<E> data;

  const ops::Shape& shape() const { return type.shape; }
};

template <class R>
using TensorOf = Tensor<typename R::Element>;

// One call of an operator: what eval_op's families get. `types` are the inferred output types.
template <class R>
struct Eval {
  R& ring;
  const ops::Attrs& attrs;
  std::span<const TensorOf<R>* const> in;
  const ops::Types& types;
  std::vector<TensorOf<R>>& out;

  const ops::Shape& shape(size_t input) const { return in[input]->type.shape; }
  // An output with room for its elements, all zero.
  TensorOf<R>& make(size_t port = 0) {
    if (out.size() <= port) out.resize(types.size());
    out[port].type = types[port];
    out[port].data.assign(static_cast<size_t>(types[port].elements()), ring.zero());
    return out[port];
  }
};

// For eval_op, where an index names no element: then a runtime fails, and the graph has no value on these inputs. Rings
// that decide what differs note it.
template <class R>
bool no_element(R& ring) {
  if constexpr (requires { ring.note_no_element(); }) ring.note_no_element();
  return false;
}

using Steps = SmallVector<int64_t, 6>;

// Distance in elements between neighbours along each axis.
inline Steps strides_of(const ops::Shape& shape) {
  Steps steps(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) steps[d - 1] = steps[d] * shape[d];
  return steps;
}

// How a tensor of shape `from` is walked when it is broadcast to `to`: 0 along repeated axes.
inline Steps broadcast_steps(const ops::Shape& from, const ops::Shape& to) {
  const Steps own = strides_of(from);
  Steps steps(to.size(), 0);
  const size_t lead = to.size() - from.size();
  for (size_t d = 0; d < from.size(); ++d) steps[lead + d] = from[d] == 1 ? 0 : own[d];
  return steps;
}

// Calls visit(index of the element in row-major order, offset) for all elements of `shape`, where offset moves by
// steps.
template <class F>
void walk(const ops::Shape& shape, const Steps& steps, F&& visit) {
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  Steps at(shape.size(), 0);
  int64_t offset = 0;
  for (int64_t index = 0; index < count; ++index) {
    visit(static_cast<size_t>(index), static_cast<size_t>(offset));
    for (size_t d = shape.size(); d-- > 0;) {
      offset += steps[d];
      if (++at[d] < shape[d]) break;
      offset -= steps[d] * shape[d];
      at[d] = 0;
    }
  }
}

}  // namespace rlgo::rulegen
