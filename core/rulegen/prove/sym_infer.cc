#include "core/rulegen/prove/sym_infer.h"

#include <algorithm>
#include <array>

#include "core/rulegen/prove/sym_inference.h"

namespace rlgo::rulegen::sym {

Fit Inference::matmul() {
  const Shape &a = in_[0], &b = in_[1];
  if (a.size() < 2 || b.size() < 2) return Fit::misfit;
  Demands d;
  d << w_.logic.equal(a.back(), b[b.size() - 2]);
  Shape out;
  d << broadcast(w_, Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2), out);
  out.push_back(a[a.size() - 2]);
  out.push_back(b.back());
  if (in_.size() == 3) {
    const Shape& bias = in_[2];
    if (bias.size() > out.size()) return Fit::misfit;
    for (size_t k = 0; k < bias.size(); ++k) d << w_.logic.absorbs(out[out.size() - bias.size() + k], bias[k]);
  }
  one(std::move(out));
  return d.worst();
}

Fit Inference::concat() {
  int64_t at = 0;
  if (const Fit fit = axis(&at); fit != Fit::fits) return fit;
  Shape out = in_[0];
  Demands d;
  for (const Shape& shape : in_.subspan(1)) {
    if (shape.size() != out.size()) return Fit::misfit;
    for (size_t k = 0; k < shape.size(); ++k) {
      if (static_cast<int64_t>(k) != at) d << w_.logic.equal(out[k], shape[k]);
    }
    out[static_cast<size_t>(at)] = extents().add(out[static_cast<size_t>(at)], shape[static_cast<size_t>(at)]);
  }
  one(std::move(out));
  return d.worst();
}

Fit Inference::split() {
  int64_t at = 0;
  if (const Fit fit = axis(&at); fit != Fit::fits) return fit;
  const auto& sizes = list(Attr::sizes);
  if (sizes.empty()) return Fit::misfit;
  ExtentId total = number(0);
  for (ExtentId size : sizes) {
    total = extents().add(total, size);
    Shape piece = in_[0];
    piece[static_cast<size_t>(at)] = size;
    one(std::move(piece));
  }
  Demands d;
  d << w_.logic.equal(in_[0][static_cast<size_t>(at)], total) << each_at_least(sizes, 1);
  return d.worst();
}

Fit Inference::transpose() {
  const auto perm = constants(Attr::perm);
  if (!perm) return Fit::unknown;
  if (perm->size() != in_[0].size()) return Fit::misfit;
  Shape out;
  for (size_t k = 0; k < perm->size(); ++k) {
    const int64_t from = (*perm)[k];
    if (from < 0 || from >= static_cast<int64_t>(perm->size())) return Fit::misfit;
    if (std::find(perm->begin(), perm->begin() + static_cast<int64_t>(k), from) !=
        perm->begin() + static_cast<int64_t>(k))
      return Fit::misfit;
    out.push_back(in_[0][static_cast<size_t>(from)]);
  }
  return one(std::move(out));
}

Fit Inference::reshape() {
  Shape shape = list(Attr::shape);
  for (size_t k = 0; k < shape.size(); ++k) {
    if (extents().value(norm(shape[k])) != ops::kSameExtent) continue;
    if (k >= in_[0].size()) return Fit::misfit;
    shape[k] = in_[0][k];
  }
  Demands d;
  d << each_at_least(shape, 1) << w_.logic.equal(elements(w_, shape), elements(w_, in_[0]));
  one(std::move(shape));
  return d.worst();
}

Fit Inference::slice() {
  const auto axes = constants(Attr::axes);
  if (!axes) return Fit::unknown;
  const auto &starts = list(Attr::starts), &ends = list(Attr::ends), &steps = list(Attr::steps);
  if (starts.size() != axes->size() || ends.size() != axes->size() || steps.size() != axes->size()) return Fit::misfit;
  Shape out = in_[0];
  Demands d;
  int64_t before = -1;
  for (size_t k = 0; k < axes->size(); ++k) {
    const int64_t at = (*axes)[k];
    if (at <= before || at >= static_cast<int64_t>(out.size())) return Fit::misfit;
    before = at;
    ExtentId& extent = out[static_cast<size_t>(at)];
    const ExtentId length = extents().sub(ends[k], starts[k]);
    d << w_.logic.at_least(starts[k], 0) << w_.logic.at_least(length, 1)
      << w_.logic.at_least(extents().sub(extent, ends[k]), 0) << w_.logic.at_least(steps[k], 1);
    extent = extents().add(extents().quotient(norm(extents().sub(length, number(1))), norm(steps[k])), number(1));
  }
  one(std::move(out));
  return d.worst();
}

Fit Inference::pad() {
  const auto& pads = list(Attr::pads);
  const size_t rank = in_[0].size();
  if (pads.size() != 2 * rank) return Fit::misfit;
  Shape out = in_[0];
  for (size_t k = 0; k < rank; ++k) out[k] = extents().add(extents().add(out[k], pads[k]), pads[rank + k]);
  one(std::move(out));
  return each_at_least(pads, 0);
}

Fit Inference::reduce() {
  const auto axes = constants(Attr::axes);
  const auto keep = extents().value(norm(attr(Attr::keepdims).id));
  if (!axes || !keep) return Fit::unknown;
  if (axes->empty() || (*keep != 0 && *keep != 1)) return Fit::misfit;
  Shape out;
  for (size_t k = 0; k < in_[0].size(); ++k) {
    const bool reduced = std::ranges::find(*axes, static_cast<int64_t>(k)) != axes->end();
    if (!reduced) out.push_back(in_[0][k]);
    if (reduced && *keep == 1) out.push_back(number(1));
  }
  const bool increasing = std::ranges::adjacent_find(*axes, std::greater_equal<>()) == axes->end();
  if (!increasing || axes->front() < 0 || axes->back() >= static_cast<int64_t>(in_[0].size())) return Fit::misfit;
  return one(std::move(out));
}

// Parameters behind the first operand have the shape of its axes from `axis_from` on.
Fit Inference::normalised(size_t axis_from) {
  Demands d;
  const Shape expected(in_[0].begin() + static_cast<int64_t>(axis_from), in_[0].end());
  for (const Shape& parameter : in_.subspan(1)) d << all_equal(parameter, expected);
  same_as_input();
  return d.worst();
}

Fit Inference::gather() {
  int64_t at = 0;
  if (const Fit fit = axis(&at); fit != Fit::fits) return fit;
  Shape out(in_[0].begin(), in_[0].begin() + at);
  out.insert(out.end(), in_[1].begin(), in_[1].end());
  out.insert(out.end(), in_[0].begin() + at + 1, in_[0].end());
  return one(std::move(out));
}

Fit Inference::elementwise() {
  if (in_.size() == 1) return same_as_input();
  Shape out;
  const Fit fit = broadcast(w_, in_[0], in_[1], out);
  if (fit != Fit::misfit) one(std::move(out));
  return fit;
}

Fit Inference::run(Op op) {
  int64_t at = 0;
  switch (op) {
    case Op::conv2d:
      return conv2d();
    case Op::conv_transpose:
      return conv_transpose();
    case Op::resize:
      return resize();
    case Op::matmul:
      return matmul();
    case Op::max_pool:
    case Op::avg_pool:
      return pool(op == Op::max_pool);
    case Op::global_avg_pool:
      return in_[0].size() == 4 ? one({in_[0][0], in_[0][1], number(1), number(1)}) : Fit::misfit;
    case Op::concat:
      return concat();
    case Op::split:
      return split();
    case Op::transpose:
      return transpose();
    case Op::reshape:
      return reshape();
    case Op::slice:
      return slice();
    case Op::pad:
      return pad();
    case Op::reduce_mean:
    case Op::reduce_sum:
    case Op::reduce_max:
      return reduce();
    case Op::softmax:
      if (const Fit fit = axis(&at); fit != Fit::fits) return fit;
      return same_as_input();
    case Op::layer_norm:
      if (const Fit fit = axis(&at); fit != Fit::fits) return fit;
      return normalised(static_cast<size_t>(at));
    case Op::batch_norm:
      if (in_[0].size() < 2) return Fit::misfit;
      for (const Shape& parameter : in_.subspan(1)) {
        if (parameter.size() != 1) return Fit::misfit;
        if (const Fit fit = w_.logic.equal(parameter[0], in_[0][1]); fit != Fit::fits) return fit;
      }
      return same_as_input();
    case Op::gather:
      return gather();
    case Op::fill:
      one(list(Attr::shape));
      return each_at_least(list(Attr::shape), 1);
    case Op::literal:
      one(list(Attr::shape));
      return w_.logic.equal(elements(w_, list(Attr::shape)), number(static_cast<int64_t>(list(Attr::values).size())));
    case Op::cast:  // to the type that all tensors are of
      return attr(Attr::to).id == w_.pool.element_type() ? same_as_input() : Fit::unknown;
    case Op::input:
    case Op::weight:
    case Op::opaque:
    case Op::where:
    case Op::expand:
      return Fit::unknown;
    default:
      return elementwise();
  }
}

Fit infer(World& world, ops::Op op, const Params& params, std::span<const Shape> inputs, std::vector<Shape>& outputs) {
  const auto& spec = ops::spec(op);
  const auto arity = static_cast<int>(inputs.size());
  if (arity < spec.min_inputs || arity > spec.max_inputs) return Fit::misfit;
  for (const auto& known : spec.attrs) {
    const Value* held = find(params, known.key);
    if (!held || held->kind == Value::Kind::open) return Fit::unknown;
    const bool fits = std::holds_alternative<int64_t>(known.fallback)     ? held->kind == Value::Kind::extent
                      : std::holds_alternative<double>(known.fallback)    ? held->kind == Value::Kind::real
                      : std::holds_alternative<ops::Ints>(known.fallback) ? held->kind == Value::Kind::list
                                                                          : held->kind == Value::Kind::word;
    if (!fits) return Fit::misfit;
  }
  return Inference(world, params, inputs, outputs).run(op);
}

Fit broadcast(World& world, const Shape& a, const Shape& b, Shape& out) {
  const Shape &longer = a.size() >= b.size() ? a : b, &shorter = a.size() >= b.size() ? b : a;
  out = longer;
  Demands d;
  const size_t shift = longer.size() - shorter.size();
  for (size_t k = 0; k < shorter.size(); ++k) {
    const std::array<ExtentId, 2> both{longer[shift + k], shorter[k]};
    d << world.logic.compatible(both[0], both[1]);
    out[shift + k] = world.logic.facts.joint(both);
  }
  return d.worst();
}

ExtentId elements(World& world, const Shape& shape) {
  ExtentId product = world.pool.extents.number(1);
  for (ExtentId extent : shape) product = world.pool.extents.mul(product, extent);
  return world.logic.facts.canon(product);
}

}  // namespace rlgo::rulegen::sym
