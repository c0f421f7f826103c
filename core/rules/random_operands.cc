// Shapes of operands that are drawn at random.
#include <algorithm>
#include <array>

#include "core/ops/windows.h"
#include "core/rules/random_attributes.h"

namespace rlgo::rules {

using ops::Attr;
using ops::Ints;
using ops::Op;
using ops::Shape;

// With so many spatial axes behind.
Shape RandomAttributes::with_image(Shape made, size_t axes) {
  for (size_t d = 0; d < axes; ++d)
    made.push_back(axes == 1              ? between(2, 9)
                   : axes == 3            ? between(1, 4)
                   : d == 0 || chance(60) ? image_
                                          : between(2, 7));
  return made;
}

Shape RandomAttributes::shape(int rank) {
  Shape shape;
  for (int d = 0; d < rank; ++d) shape.push_back(extent());
  return shape;
}

Shape RandomAttributes::any_shape() {
  constexpr std::array<int, 8> kRanks{1, 2, 2, 3, 3, 4, 4, 4};
  return shape(kRanks[rng_.below(kRanks.size())]);
}

// The same shape, or one that broadcasts with it.
Shape RandomAttributes::relative(const Shape& other) {
  if (chance(40)) return other;
  Shape part = other;
  if (chance(30)) part = Shape();
  while (!part.empty() && chance(30)) part.erase(part.begin());
  const bool image = other.size() == 4 || (axes_ != 2 && other.size() == axes_ + 2);  // a value for each channel
  for (const size_t least : {0, 1}) {
    if (!chance(least == 0 ? 40 : 20) || !image) continue;
    part = Shape(std::span<const int64_t>(Ints(other.size() - least, 1)));
    part[1 - least] = other[1];
  }
  if (chance(25) && !other.empty()) part = {other.back()};
  for (auto& e : part) {
    if (chance(15)) e = 1;
  }
  return part;
}

std::optional<Shape> RandomAttributes::conv_operand(const Draft& draft, size_t place) {
  const int64_t group = draft.attrs.find(Attr::group) ? draft.attrs.i(Attr::group) : 1;
  if (place == 0) {
    const bool known = draft.types[1].has_value();
    const size_t axes = axes_of(draft);
    if (known && draft.types[1]->shape.size() != axes + 2) return std::nullopt;
    const int64_t channels = known ? draft.types[1]->shape[1] * group : extent() * group;
    return with_image({between(1, 2), channels}, axes);
  }
  if (group < 1 || !draft.types[0] || draft.types[0]->rank() < 3 || draft.types[0]->shape[1] % group != 0)
    return std::nullopt;
  if (place == 2) {
    if (!draft.types[1] || draft.types[1]->rank() == 0) return std::nullopt;
    return Shape{draft.types[1]->shape[0]};
  }
  constexpr std::array<int64_t, 6> kKernels{1, 1, 2, 3, 3, 3};
  const bool wished = !windows_.empty() && chance(80);
  const auto window = [&] {
    return wished ? windows_[rng_.below(windows_.size())] : kKernels[rng_.below(kKernels.size())];
  };
  const int64_t first = window();
  Shape made{extent() * group, draft.types[0]->shape[1] / group};
  for (int d = 2; d < draft.types[0]->rank(); ++d) made.push_back(d == 2 || (!wished && chance(70)) ? first : window());
  return made;
}

std::optional<Shape> RandomAttributes::matmul_operand(const Draft& draft, size_t place) {
  if (place > 2 || (place == 2 && (!draft.types[0] || !draft.types[1]))) return std::nullopt;
  if (place == 2) {
    const auto &a = draft.types[0]->shape, &b = draft.types[1]->shape;
    if (a.size() < 2 || b.size() < 2) return std::nullopt;
    return chance(60) ? Shape{b.back()} : relative(Shape{a[a.size() - 2], b.back()});
  }
  const auto& other = draft.types[1 - place];
  if (!other) {
    Shape free = shape(static_cast<int>(between(2, 4)));
    return free;
  }
  if (other->rank() < 2) return std::nullopt;
  Shape made = chance(50) ? Shape{1, 1} : Shape(std::span<const int64_t>(other->shape));
  const size_t rank = made.size();
  const auto& o = other->shape;
  made[rank - 2] = place == 0 ? extent() : o[o.size() - 1];
  made[rank - 1] = place == 0 ? o[o.size() - 2] : extent();
  if (rank == 2 && chance(10)) made.insert(made.begin(), extent());
  return made;
}

std::optional<Shape> RandomAttributes::conv_transpose_operand(const Draft& draft, size_t place) {
  const int64_t group = draft.attrs.i(Attr::group);
  const size_t axes = axes_of(draft);
  if (place > 0 && !draft.types[0]) return std::nullopt;
  if (place < 2) {
    Shape made = place == 0 ? Shape{between(1, 2), extent() * group} : Shape{draft.types[0]->shape[1], extent()};
    for (size_t d = 0; d < axes; ++d) made.push_back(place == 0 ? between(2, 4) : between(1, 3));
    return made;
  }
  if (!draft.types[1] || draft.types[1]->rank() < 2) return std::nullopt;
  return Shape{draft.types[1]->shape[1] * group};
}

// Often to the size that images have.
Shape RandomAttributes::resize_operand(const Draft& draft) {
  Shape made{chance(80) ? 1 : 2, extent(), 0, 0};
  for (size_t d = 0; d < 2; ++d) {
    const auto* given = draft.attrs.find(d == 0 ? Attr::scale_h : Attr::scale_w);
    const double factor = given && std::holds_alternative<double>(*given) ? std::get<double>(*given) : 1;
    const auto scale = std::max<int64_t>(1, static_cast<int64_t>(factor));
    made[2 + d] = image_ % scale == 0 ? image_ / scale : between(1, 2);
  }
  return made;
}

std::optional<Shape> RandomAttributes::norm_operand(const Draft& draft, size_t place) {
  if (place > 0) {
    if (!draft.types[0]) return std::nullopt;
    const Shape& x = draft.types[0]->shape;
    const size_t axis = draft.op == Op::layer_norm || draft.op == Op::rms_norm ? x.size() - 1 : 1;
    return axis < x.size() ? std::optional(Shape{x[axis]}) : std::nullopt;
  }
  if (draft.op == Op::layer_norm || draft.op == Op::rms_norm) return any_shape();
  if (draft.op == Op::batch_norm) return chance(70) ? shape(4) : shape(static_cast<int>(between(2, 3)));
  return Shape{between(1, 2), extent() * (draft.op == Op::group_norm ? draft.attrs.i(Attr::group) : 1), extent(),
               extent()};
}

std::optional<Shape> RandomAttributes::attention_operand(const Draft& draft, size_t place) {
  if (place == 0) return Shape{between(1, 2), extent(), extent(), extent()};
  if (!draft.types[0] || draft.types[0]->rank() != 4) return std::nullopt;
  const Shape& q = draft.types[0]->shape;
  if (place == 1) return Shape{q[0], q[1], extent(), q[3]};
  if (!draft.types[1] || draft.types[1]->rank() != 4) return std::nullopt;
  const Shape& k = draft.types[1]->shape;
  return place == 2 ? Shape{k[0], k[1], k[2], extent()} : Shape{q[2], k[2]};
}

Shape RandomAttributes::recurrent_operand(const Draft& draft, size_t place) {
  if (place == 0) return {extent(), extent(), extent()};
  const auto shape_of = [&](size_t k) { return draft.types[k] ? draft.types[k]->shape : Shape{1, 1, 1}; };
  const Shape x = shape_of(0), w = shape_of(1);
  const int64_t gates = draft.attrs.i(Attr::gates);
  if (place == 1) return {between(1, 2), gates * extent(), x[2]};
  if (place == 2) return {w[0], w[1], w[1] / gates};
  return place == 3 ? Shape{w[0], 2 * w[1]} : Shape{w[0], x[1], w[1] / gates};
}

std::optional<Shape> RandomAttributes::operand(Draft& draft, size_t place) {
  const auto known = std::ranges::find_if(draft.types, [](const auto& t) { return t.has_value(); });
  const bool any = known != draft.types.end();
  switch (draft.op) {
    case Op::conv2d:
      return conv_operand(draft, place);
    case Op::conv_transpose:
      return conv_transpose_operand(draft, place);
    case Op::resize:
      return resize_operand(draft);
    case Op::depth_to_space:
    case Op::space_to_depth: {
      const int64_t block = draft.attrs.i(Attr::blocksize), out = draft.op == Op::space_to_depth ? block : 1;
      return Shape{between(1, 2), extent() * (out == 1 ? block * block : 1), extent() * out, extent() * out};
    }
    case Op::matmul:
      return matmul_operand(draft, place);
    case Op::max_pool:
    case Op::avg_pool:
    case Op::global_avg_pool: {
      // A rule may ask that the image has a window's extents: an averaged kernel.
      const size_t axes = axes_of(draft);
      if (windows_.empty() || !chance(50)) return with_image({between(1, 2), extent()}, axes);
      Shape made{between(1, 2), extent()};
      for (size_t d = 0; d < axes; ++d) made.push_back(windows_[rng_.below(windows_.size())]);
      return made;
    }
    case Op::batch_norm:
    case Op::instance_norm:
    case Op::group_norm:
    case Op::layer_norm:
    case Op::rms_norm:
      return norm_operand(draft, place);
    case Op::attention:
      return attention_operand(draft, place);
    case Op::recurrent:
      return recurrent_operand(draft, place);
    case Op::concat: {
      if (!any) return any_shape();
      Shape made = (*known)->shape;
      const auto* axis = draft.attrs.find(Attr::axis);
      if (axis && std::get<int64_t>(*axis) < static_cast<int64_t>(made.size()))
        made[static_cast<size_t>(std::get<int64_t>(*axis))] = extent();
      return made;
    }
    case Op::gather:
      return place == 0 ? any_shape() : shape(static_cast<int>(between(0, 2)));
    default:  // next to a scalar anything goes
      return any && ((*known)->elements() != 1 || chance(30)) ? relative((*known)->shape) : any_shape();
  }
}

}  // namespace rlgo::rules
