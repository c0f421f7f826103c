// Shapes of operands within bounds.
#include <algorithm>

#include "core/ops/windows.h"
#include "core/rulegen/check/bounded_choice.h"

namespace rlgo::rulegen {

using ops::Attr;
using ops::Ints;
using ops::Op;
using ops::Shape;

Shape BoundedChooser::shape_of_rank(int64_t rank) {
  Shape shape;
  for (int64_t d = 0; d < rank; ++d) shape.push_back(rank == 4 && d > 1 ? image() : extent());
  return shape;
}
Shape BoundedChooser::any_shape() { return shape_of_rank(between(1, bounds_.ranks)); }

// The same shape, or one that broadcasts with it.
Shape BoundedChooser::relative(const Shape& other) {
  if (other.empty()) return shape_of_rank(between(0, 4));
  std::vector<Shape> all{other, Shape{}};
  if (other.size() > 1) all.push_back({other.back()});
  if (other.size() == 4) all.push_back({1, other[1], 1, 1});
  for (size_t d = 0; d < other.size(); ++d) {
    Shape part = other;
    part[d] = other[d] == 1 ? bounds_.dims : 1;
    all.push_back(part);
  }
  if (other.size() < 4) {
    Shape longer = other;
    longer.insert(longer.begin(), 2);
    all.push_back(longer);
  }
  if (bounds_.ranks > 4) {  // any rank, with extents of its own where the other has one element
    Shape longer = other;
    while (static_cast<int64_t>(longer.size()) < bounds_.ranks && pick(3) > 0) longer.insert(longer.begin(), 1);
    for (auto& length : longer) length = length == 1 ? extent() : length;
    all.insert(all.end(), 3, longer);
    // One element along some axes, wherever they stand: conditions ask for that of the last two, say.
    Shape some = other;
    for (auto& length : some) length = pick(2) == 0 ? 1 : length;
    while (some.size() > 1 && some[0] == 1) some.erase(some.begin());
    all.insert(all.end(), 3, some);
  }
  return all[static_cast<size_t>(choices_.pick(static_cast<int64_t>(all.size())))];
}

int64_t BoundedChooser::extent() {
  if (bounds_.extents.empty()) return between(1, bounds_.dims);
  return bounds_.extents[static_cast<size_t>(pick(static_cast<int64_t>(bounds_.extents.size())))];
}

// The height or width of an image.
int64_t BoundedChooser::image() {
  if (bounds_.images.empty()) return extent();
  return bounds_.images[static_cast<size_t>(pick(static_cast<int64_t>(bounds_.images.size())))];
}

// The extent of a window along one axis.
int64_t BoundedChooser::window() {
  std::vector<int64_t> all;
  for (int64_t k = 1; k <= bounds_.kernel; ++k) all.push_back(k);
  for (const int64_t wished : windows_) {
    if (std::ranges::find(all, wished) == all.end()) all.push_back(wished);
  }
  return all[static_cast<size_t>(pick(static_cast<int64_t>(all.size())))];
}

// How many axes windows have: as the rule's lists state or an operand has, else two, or one to three where tensors of
// many axes are asked for. All windows of an instance have equally many.
void BoundedChooser::choose_axes(const Draft& draft) {
  if (const size_t axes = rules::window_axes(draft); axes != 0) axes_ = axes;
  if (axes_ == 0) axes_ = bounds_.ranks > 4 ? static_cast<size_t>(between(1, ops::kMostSpatialAxes)) : 2;
}

// The extents of an image's spatial axes; small ones in front where there are three.
void BoundedChooser::add_image(Shape& shape) {
  for (size_t d = 0; d < axes_; ++d) shape.push_back(axes_ == 3 && d < 2 ? between(1, 2) : image());
}

std::optional<Shape> BoundedChooser::conv_operand(const Draft& draft, size_t place) {
  const int64_t group = draft.attrs.i(Attr::group);
  const auto rank = static_cast<int>(axes_) + 2;
  if (place == 0) {
    const auto& w = draft.types[1];
    if (w && w->rank() != rank) return std::nullopt;
    const int64_t channels = w ? w->shape[1] : extent();
    Shape made{between(1, std::min<int64_t>(bounds_.dims, 2)), channels * group};
    add_image(made);
    return made;
  }
  if (!draft.types[0] || draft.types[0]->rank() != rank || draft.types[0]->shape[1] % group != 0) return std::nullopt;
  if (place == 2) return draft.types[1]->rank() == rank ? std::optional(Shape{draft.types[1]->shape[0]}) : std::nullopt;
  Shape made{extent() * group, draft.types[0]->shape[1] / group};
  for (size_t d = 0; d < axes_; ++d) made.push_back(axes_ == 3 ? between(1, 2) : window());
  return made;
}

std::optional<Shape> BoundedChooser::conv_transpose_operand(const Draft& draft, size_t place) {
  const auto rank = static_cast<int>(axes_) + 2;
  const auto& w = draft.types[1];
  if (place == 0) {
    if (w && w->rank() != rank) return std::nullopt;
    Shape made{between(1, std::min<int64_t>(bounds_.dims, 2)), w ? w->shape[0] : extent()};
    add_image(made);
    return made;
  }
  if (!draft.types[0] || draft.types[0]->rank() != rank) return std::nullopt;
  if (place == 2)
    return w->rank() == rank ? std::optional(Shape{w->shape[1] * draft.attrs.i(Attr::group)}) : std::nullopt;
  Shape made{draft.types[0]->shape[1], extent()};
  for (size_t d = 0; d < axes_; ++d) made.push_back(between(1, axes_ == 3 ? 2 : bounds_.kernel));
  return made;
}

std::optional<Shape> BoundedChooser::matmul_operand(const Draft& draft, size_t place) {
  if (place == 2) {
    const auto &a = draft.types[0]->shape, &b = draft.types[1]->shape;
    if (a.size() < 2 || b.size() < 2) return std::nullopt;
    return pick(2) == 0 ? Shape{b.back()} : Shape{a[a.size() - 2], b.back()};
  }
  const auto& other = draft.types[1 - place];
  if (!other) return shape_of_rank(between(2, 3));
  if (other->rank() < 2) return std::nullopt;
  const auto& o = other->shape;
  Shape made = o;  // its batch, or none
  if (o.size() > 2 && pick(2) == 1) made = {1, 1};
  if (o.size() == 2 && pick(2) == 1) made = {2, 1, 1};
  const size_t rank = made.size();
  made[rank - 2] = place == 0 ? extent() : o[o.size() - 1];
  made[rank - 1] = place == 0 ? o[o.size() - 2] : extent();
  return made;
}

// Of depth_to_space and space_to_depth.
Shape BoundedChooser::block_operand(const Draft& draft) {
  const int64_t block = draft.attrs.i(Attr::blocksize);
  if (draft.op == Op::depth_to_space) return {between(1, 2), between(1, 2) * block * block, extent(), extent()};
  return {between(1, 2), extent(), between(1, 2) * block, between(1, 2) * block};
}

std::optional<Shape> BoundedChooser::operand(const Draft& draft, size_t place) {
  const auto known = std::ranges::find_if(draft.types, [](const auto& t) { return t.has_value(); });
  const bool any = known != draft.types.end();
  switch (draft.op) {
    case Op::conv2d:
      return conv_operand(draft, place);
    case Op::conv_transpose:
      return conv_transpose_operand(draft, place);
    case Op::matmul:
      return matmul_operand(draft, place);
    case Op::max_pool:
    case Op::avg_pool:
    case Op::global_avg_pool: {
      if (axes_ == 2) return shape_of_rank(4);
      Shape made{extent(), extent()};
      add_image(made);
      return made;
    }
    case Op::resize:
      return shape_of_rank(4);
    case Op::depth_to_space:
    case Op::space_to_depth:
      return block_operand(draft);
    case Op::batch_norm:
      if (place == 0) return shape_of_rank(between(2, 4));
      return draft.types[0]->rank() < 2 ? std::nullopt : std::optional(Shape{draft.types[0]->shape[1]});
    case Op::instance_norm:
    case Op::group_norm:
      if (place == 0) return shape_of_rank(between(3, 4));
      return draft.types[0]->rank() < 3 ? std::nullopt : std::optional(Shape{draft.types[0]->shape[1]});
    case Op::layer_norm:
    case Op::rms_norm: {
      if (place == 0) return shape_of_rank(between(1, 3));
      const auto& x = draft.types[0]->shape;
      const auto axis = static_cast<size_t>(draft.attrs.i(Attr::axis));
      return axis < x.size() ? std::optional(Shape(std::span(x.data() + axis, x.size() - axis))) : std::nullopt;
    }
    case Op::concat: {
      if (!any) return any_shape();
      Shape made = (*known)->shape;
      const auto axis = static_cast<size_t>(draft.attrs.i(Attr::axis));
      if (axis >= made.size()) return std::nullopt;
      made[axis] = extent();
      return made;
    }
    case Op::split:  // extents that can be taken apart
      if (const auto parts = static_cast<int64_t>(parts_of(draft).value_or(0)); parts > bounds_.dims)
        return pick(2) == 0 ? Shape{parts} : Shape{parts + 1, 2};
      return any_shape();
    case Op::transpose: {
      const auto* perm = draft.attrs.find(Attr::perm);
      return perm ? shape_of_rank(std::ssize(std::get<Ints>(*perm))) : any_shape();
    }
    case Op::gather:
      return place == 0 ? any_shape() : shape_of_rank(between(0, 2));
    default:
      return any ? relative((*known)->shape) : any_shape();
  }
}

}  // namespace rlgo::rulegen
