#include "core/rulegen/sym_infer.h"

#include <algorithm>
#include <array>

#include "core/base/error.h"

namespace rlgo::rulegen::sym {
namespace {

using ops::Attr;
using ops::Op;

// The worst of several demands; all of them are made.
class Demands {
 public:
  Demands& operator<<(Fit fit) {
    if (fit == Fit::misfit || worst_ == Fit::misfit) {
      worst_ = Fit::misfit;
    } else if (fit == Fit::unknown) {
      worst_ = Fit::unknown;
    }
    return *this;
  }
  Fit worst() const { return worst_; }

 private:
  Fit worst_ = Fit::fits;
};

class Inference {
 public:
  Inference(World& world, const Params& params, std::span<const Shape> in, std::vector<Shape>& out)
      : w_(world), params_(params), in_(in), out_(out) {}

  Fit run(Op op);

 private:
  LinPool& lins() { return w_.pool.lins; }
  Lin number(int64_t k) { return lins().number(k); }
  Lin norm(Lin a) { return w_.logic.facts.canon(a); }
  const Value& attr(Attr key) const {
    const Value* held = find(params_, key);
    RLGO_CHECK(held != nullptr);
    return *held;
  }
  const Shape& list(Attr key) const { return attr(key).list; }
  std::optional<int64_t> constant(Attr key) const { return w_.pool.lins.value(attr(key).id); }
  std::optional<std::vector<int64_t>> constants(Attr key) const {
    std::vector<int64_t> items;
    for (Lin item : list(key)) {
      const auto held = w_.pool.lins.value(item);
      if (!held) return std::nullopt;
      items.push_back(*held);
    }
    return items;
  }
  Fit one(Shape shape) {
    for (Lin& extent : shape) extent = norm(extent);
    out_.push_back(std::move(shape));
    return Fit::fits;
  }
  Fit same_as_input() { return one(in_[0]); }
  Fit all_equal(const Shape& a, const Shape& b) {
    if (a.size() != b.size()) return Fit::misfit;
    Demands d;
    for (size_t k = 0; k < a.size(); ++k) d << w_.logic.equal(a[k], b[k]);
    return d.worst();
  }
  Fit each_at_least(const Shape& items, int64_t bound) {
    Demands d;
    for (Lin item : items) d << w_.logic.at_least(item, bound);
    return d.worst();
  }
  Fit axis(int64_t* out, size_t operand = 0) {
    const auto held = constant(Attr::axis);
    if (!held) return Fit::unknown;
    *out = *held;
    return *held >= 0 && *held < static_cast<int64_t>(in_[operand].size()) ? Fit::fits : Fit::misfit;
  }

  Fit window(size_t d, Lin extent, Lin window, Lin dilation, Lin* result, Lin mode);
  Fit conv2d();
  Fit matmul();
  Fit pool(bool dilated);
  Fit concat();
  Fit split();
  Fit transpose();
  Fit reshape();
  Fit slice();
  Fit pad();
  Fit reduce();
  Fit normalised(size_t axis_from);
  Fit gather();
  Fit elementwise();

  World& w_;
  const Params& params_;
  std::span<const Shape> in_;
  std::vector<Shape>& out_;
};

// Extent of a window that slides along axis d of an image.
Fit Inference::window(size_t d, Lin extent, Lin window, Lin dilation, Lin* result, Lin mode) {
  const auto &strides = list(Attr::strides), &pads = list(Attr::pads);
  const Lin span = lins().add(lins().mul(dilation, lins().sub(window, number(1))), number(1));
  const Lin room = norm(lins().sub(lins().add(lins().add(extent, pads[d]), pads[d + 2]), span));
  const Fit fit = w_.logic.at_least(room, 0);
  const auto rounding = lins().value(norm(mode));
  if (rounding && *rounding == 0) {
    *result = norm(lins().add(lins().quotient(room, norm(strides[d])), number(1)));
  } else {
    *result = lins().opaque(
        "window", {norm(extent), norm(pads[d]), norm(pads[d + 2]), norm(span), norm(strides[d]), norm(mode)}, 1);
  }
  return fit;
}

Fit Inference::conv2d() {
  if (in_[0].size() != 4 || in_[1].size() != 4) return Fit::misfit;
  const Shape &x = in_[0], &w = in_[1];
  const auto &strides = list(Attr::strides), &pads = list(Attr::pads), &dilations = list(Attr::dilations);
  if (strides.size() != 2 || pads.size() != 4 || dilations.size() != 2) return Fit::misfit;
  const Lin group = attr(Attr::group).id;
  Lin each = 0;
  Demands d;
  d << each_at_least(strides, 1) << each_at_least(dilations, 1) << each_at_least(pads, 0)
    << w_.logic.at_least(group, 1);
  d << w_.logic.equal(x[1], lins().mul(group, w[1])) << w_.logic.divides(w[0], group, &each);
  if (in_.size() == 3) d << all_equal(in_[2], {w[0]});
  Lin height = 0, width = 0;
  d << window(0, x[2], w[2], dilations[0], &height, number(0))
    << window(1, x[3], w[3], dilations[1], &width, number(0));
  one({x[0], w[0], height, width});
  return d.worst();
}

Fit Inference::pool(bool dilated) {
  if (in_[0].size() != 4) return Fit::misfit;
  const Shape& x = in_[0];
  const auto &kernel = list(Attr::kernel), &strides = list(Attr::strides), &pads = list(Attr::pads);
  if (kernel.size() != 2 || strides.size() != 2 || pads.size() != 4) return Fit::misfit;
  if (dilated && list(Attr::dilations).size() != 2) return Fit::misfit;
  Demands d;
  d << each_at_least(kernel, 1) << each_at_least(strides, 1) << each_at_least(pads, 0);
  if (dilated) d << each_at_least(list(Attr::dilations), 1);
  Shape out{x[0], x[1], 0, 0};
  for (size_t k = 0; k < 2; ++k) {
    d << w_.logic.at_least(lins().sub(kernel[k], pads[k]), 1)
      << w_.logic.at_least(lins().sub(kernel[k], pads[k + 2]), 1);
    const Lin dilation = dilated ? list(Attr::dilations)[k] : number(1);
    d << window(k, x[2 + k], kernel[k], dilation, &out[2 + k], attr(Attr::ceil_mode).id);
  }
  one(std::move(out));
  return d.worst();
}

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
    out[static_cast<size_t>(at)] = lins().add(out[static_cast<size_t>(at)], shape[static_cast<size_t>(at)]);
  }
  one(std::move(out));
  return d.worst();
}

Fit Inference::split() {
  int64_t at = 0;
  if (const Fit fit = axis(&at); fit != Fit::fits) return fit;
  const auto& sizes = list(Attr::sizes);
  if (sizes.empty()) return Fit::misfit;
  Lin total = number(0);
  for (Lin size : sizes) {
    total = lins().add(total, size);
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
  const auto& shape = list(Attr::shape);
  Demands d;
  d << each_at_least(shape, 1) << w_.logic.equal(elements(w_, shape), elements(w_, in_[0]));
  one(shape);
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
    Lin& extent = out[static_cast<size_t>(at)];
    const Lin length = lins().sub(ends[k], starts[k]);
    d << w_.logic.at_least(starts[k], 0) << w_.logic.at_least(length, 1)
      << w_.logic.at_least(lins().sub(extent, ends[k]), 0) << w_.logic.at_least(steps[k], 1);
    extent = lins().add(lins().quotient(norm(lins().sub(length, number(1))), norm(steps[k])), number(1));
  }
  one(std::move(out));
  return d.worst();
}

Fit Inference::pad() {
  const auto& pads = list(Attr::pads);
  const size_t rank = in_[0].size();
  if (pads.size() != 2 * rank) return Fit::misfit;
  Shape out = in_[0];
  for (size_t k = 0; k < rank; ++k) out[k] = lins().add(lins().add(out[k], pads[k]), pads[rank + k]);
  one(std::move(out));
  return each_at_least(pads, 0);
}

Fit Inference::reduce() {
  const auto axes = constants(Attr::axes);
  const auto keep = lins().value(norm(attr(Attr::keepdims).id));
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
    case Op::cast:
    case Op::input:
    case Op::weight:
    case Op::opaque:
      return Fit::unknown;
    default:
      return elementwise();
  }
}

}  // namespace

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
    const std::array<Lin, 2> both{longer[shift + k], shorter[k]};
    d << world.logic.compatible(both[0], both[1]);
    out[shift + k] = world.logic.facts.joint(both);
  }
  return d.worst();
}

Lin elements(World& world, const Shape& shape) {
  Lin product = world.pool.lins.number(1);
  for (Lin extent : shape) product = world.pool.lins.mul(product, extent);
  return world.logic.facts.canon(product);
}

}  // namespace rlgo::rulegen::sym
