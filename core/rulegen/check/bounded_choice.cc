#include "core/rulegen/check/bounded_choice.h"

#include <algorithm>

#include "core/ops/windows.h"
#include "core/rulegen/check/attribute_lists.h"

namespace rlgo::rulegen {
namespace {

using ops::Attr;
using ops::AttrValue;
using ops::Ints;
using ops::Op;
using ops::Shape;

void add_new(std::vector<AttrValue>& all, Ints value) {
  if (std::ranges::find(all, AttrValue(value)) == all.end()) all.emplace_back(std::move(value));
}

}  // namespace

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

// How many axes windows have: as the rule's lists say or an operand has, else two, or one to three where tensors of
// many axes are asked for. All windows of an instance have equally many.
void BoundedChooser::choose_axes(const NodeDraft& draft) {
  size_t axes = draft.axes;
  for (const auto& [key, value] : draft.attrs.items()) {
    if (!ops::is_window_list(key)) continue;
    const size_t items = std::get<Ints>(value).size();
    axes = key == Attr::pads ? items / 2 : items;
  }
  for (size_t k = 0; axes == 0 && k < draft.types.size() && k < 2; ++k) {
    if (draft.types[k] && draft.types[k]->rank() > 2) axes = static_cast<size_t>(draft.types[k]->rank() - 2);
  }
  if (axes != 0) axes_ = axes;
  if (axes_ == 0) axes_ = bounds_.ranks > 4 ? static_cast<size_t>(between(1, ops::kMostSpatialAxes)) : 2;
}

// The extents of an image's spatial axes; small ones in front where there are three.
void BoundedChooser::add_image(Shape& shape) {
  for (size_t d = 0; d < axes_; ++d) shape.push_back(axes_ == 3 && d < 2 ? between(1, 2) : image());
}

std::optional<Shape> BoundedChooser::conv_operand(const NodeDraft& draft, size_t place) {
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

std::optional<Shape> BoundedChooser::conv_transpose_operand(const NodeDraft& draft, size_t place) {
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

std::optional<Shape> BoundedChooser::matmul_operand(const NodeDraft& draft, size_t place) {
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

std::optional<Shape> BoundedChooser::operand(const NodeDraft& draft, size_t place) {
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
      if (static_cast<int64_t>(draft.parts) <= bounds_.dims) return any_shape();
      return pick(2) == 0 ? Shape{static_cast<int64_t>(draft.parts)} : Shape{static_cast<int64_t>(draft.parts) + 1, 2};
    case Op::gather:
      return place == 0 ? any_shape() : shape_of_rank(between(0, 2));
    default:
      return any ? relative((*known)->shape) : any_shape();
  }
}

// Along one axis or three: lists whose items differ, so that what exchanges two of them shows.
std::vector<AttrValue> BoundedChooser::other_window_options(const NodeDraft& draft, const Ints& kernel,
                                                            Attr key) const {
  std::vector<AttrValue> all;
  const auto add = [&](auto&& item) {
    Ints list;
    for (size_t d = 0; d < axes_; ++d) list.push_back(item(d));
    add_new(all, std::move(list));
  };
  const auto last = axes_ - 1;
  if (key != Attr::pads) {
    const auto most = [&](size_t d) { return key == Attr::dilations && kernel[d] == 1 ? int64_t{1} : int64_t{2}; };
    add([](size_t) { return int64_t{1}; });
    add(most);
    add([&](size_t d) { return d == 0 ? most(d) : 1; });
    add([&](size_t d) { return d == last ? most(d) + (key == Attr::dilations ? 0 : 1) : 1; });
    return all;
  }
  const auto add_pads = [&](auto&& front, auto&& back) {
    Ints list;
    for (size_t d = 0; d < axes_; ++d) list.push_back(front(d));
    for (size_t d = 0; d < axes_; ++d) list.push_back(back(d));
    add_new(all, std::move(list));
  };
  const auto none = [](size_t) { return int64_t{0}; };
  const auto some = [&](size_t d) { return kernel[d] > 1 ? int64_t{1} : int64_t{draft.op == Op::conv2d ? 1 : 0}; };
  add_pads(none, none);
  add_pads(some, some);
  add_pads(some, none);
  add_pads(none, some);
  add_pads([&](size_t d) { return d == 0 ? some(d) : 0; }, [&](size_t d) { return d == last ? some(d) : 0; });
  if (draft.op == Op::conv2d)
    add_pads([](size_t d) { return static_cast<int64_t>(d); }, [](size_t) { return int64_t{2}; });
  return all;
}

std::vector<AttrValue> BoundedChooser::window_options(const NodeDraft& draft, Attr key) const {
  Ints kernel(axes_, 1);
  if (ops::is_convolution(draft.op) && draft.types[1] && draft.types[1]->rank() == static_cast<int>(axes_) + 2)
    kernel.assign(draft.types[1]->shape.begin() + 2, draft.types[1]->shape.end());
  if (const auto* value = draft.attrs.find(Attr::kernel)) kernel = std::get<Ints>(*value);
  if (axes_ != 2) return other_window_options(draft, kernel, key);
  std::vector<AttrValue> all;
  if (key == Attr::kernel) {
    for (int64_t h = 1; h <= bounds_.kernel; ++h) {
      for (int64_t w = 1; w <= bounds_.kernel; ++w) all.emplace_back(Ints{h, w});
    }
  } else if (key == Attr::strides) {
    all = {Ints{1, 1}, Ints{2, 2}, Ints{1, 2}, Ints{2, 1}};
    // Along four elements strides of 2 and 3 lead to equally many windows, over other elements.
    if (bounds_.dims > 3) all.insert(all.end(), {Ints{2, 3}, Ints{3, 2}});
  } else if (key == Attr::dilations) {
    all = {Ints{1, 1}};
    if (kernel[0] > 1) all.emplace_back(Ints{2, 1});
    if (kernel[1] > 1) all.emplace_back(Ints{1, 2});
  } else {
    const int64_t top = (kernel[0] - 1) / 2, left = (kernel[1] - 1) / 2;
    add_new(all, {0, 0, 0, 0});
    add_new(all, {top, left, kernel[0] - 1 - top, kernel[1] - 1 - left});
    add_new(all, {top, left, top, left});
    add_new(all, {kernel[0] > 1 ? 1 : 0, 0, 0, kernel[1] > 1 ? 1 : 0});
    // One side alone, each side: what exchanges two of them differs.
    const int64_t high = draft.op == Op::conv2d ? 2 : kernel[0] - 1, wide = draft.op == Op::conv2d ? 1 : kernel[1] - 1;
    add_new(all, {high, 0, 0, 0});
    add_new(all, {0, wide, 0, 0});
    add_new(all, {0, 0, high, 0});
    add_new(all, {0, 0, 0, wide});
    add_new(all, {0, wide, high, 0});
    if (draft.op == Op::conv2d) {
      add_new(all, {1, 1, 1, 1});
      add_new(all, {0, 1, 2, 3});
    }
  }
  return all;
}

std::vector<AttrValue> BoundedChooser::options(const NodeDraft& draft, Attr key) const {
  const bool has_input = !draft.types.empty() && draft.types[0];
  const Shape x = has_input ? draft.types[0]->shape : Shape();
  const auto each = [](int64_t count) {
    std::vector<AttrValue> all;
    for (int64_t k = 0; k < count; ++k) all.emplace_back(k);
    return all;
  };
  switch (key) {
    case Attr::act:
      return {std::string("none"), std::string("relu"), std::string("tanh")};
    case Attr::approximate:
      return {std::string("none"), std::string("tanh")};
    case Attr::to:
      return {std::string("f32")};
    case Attr::axis:
      return each(has_input ? static_cast<int64_t>(x.size()) : 4);
    case Attr::ceil_mode:
    case Attr::count_include_pad:
    case Attr::keepdims:
    case Attr::select_last:
      return each(2);
    case Attr::fmod:
      return {int64_t{1}};
    case Attr::order:
      return {int64_t{1}, int64_t{2}};
    case Attr::group:
      return {int64_t{1}, int64_t{2}};
    case Attr::gamma:
      return {0.5, 2.0};
    case Attr::kernel:
    case Attr::strides:
    case Attr::dilations:
      return window_options(draft, key);
    case Attr::output_padding:
      if (axes_ == 2) return {Ints{0, 0}, Ints{1, 0}, Ints{0, 1}};
      return {Ints(axes_, 0), Ints(axes_, 1)};
    case Attr::pads:
      if (draft.op != Op::pad) return window_options(draft, key);
      return paddings(x.size());
    case Attr::perm:
      return permutations(x.size());
    case Attr::shape:
      if (draft.op == Op::fill)
        return {Ints{},
                Ints{1},
                Ints{bounds_.dims},
                Ints{bounds_.dims, 1},
                Ints{1, 1, 1, 1},
                Ints{2, bounds_.dims, bounds_.dims}};
      return bounds_.ranks > 4 ? all_reshapes(x) : reshapes(x);
    case Attr::axes:
      return subsets(x.size());
    case Attr::sizes: {
      const auto axis = static_cast<size_t>(draft.attrs.i(Attr::axis));
      return axis < x.size() ? compositions(x[axis], draft.parts == 0 ? 2 : draft.parts) : std::vector<AttrValue>();
    }
    case Attr::ends:
    case Attr::starts:
    case Attr::steps: {
      const auto& axes = draft.attrs.ints(Attr::axes);
      if (key == Attr::ends && axes.size() == 1 && static_cast<size_t>(axes[0]) < x.size()) {
        std::vector<AttrValue> all;
        for (int64_t end = 1; end <= x[static_cast<size_t>(axes[0])]; ++end) all.emplace_back(Ints{end});
        return all;
      }
      Ints first(axes.size(), key == Attr::starts ? 0 : 1), second = first;
      for (size_t k = 0; k < axes.size(); ++k) {
        if (static_cast<size_t>(axes[k]) >= x.size()) return {};
        second[k] = key == Attr::ends ? x[static_cast<size_t>(axes[k])] : key == Attr::steps ? 2 : 1;
      }
      std::vector<AttrValue> all{first, second};
      // Steps of 2 and 3 take equally many of four elements: what exchanges two steps shows there alone.
      const bool one_long = axes.size() == 1 && x[static_cast<size_t>(axes[0])] > 3;
      if (key == Attr::steps && one_long) all.emplace_back(Ints{3});
      if (axes.size() == 2 && bounds_.dims > 3) {
        if (key == Attr::steps) all.insert(all.end(), {Ints{2, 3}, Ints{3, 2}});
        if (key == Attr::ends) all.insert(all.end(), {Ints{first[0], second[1]}, Ints{second[0], first[1]}});
      }
      return all;
    }
    case Attr::value:
      if (draft.op == Op::fill) return {0.0, 1.0, 2.0, -0.5, -3.0};
      return {0.0, -0.5, 2.0};
    case Attr::min:
      return {0.0, -0.5, 0.75};
    case Attr::max:
      return {6.0, 0.5};
    case Attr::alpha:  // slopes of both signs, below and above 1
      return {0.25, 2.0, -0.5, 0.0, 1.0};
    case Attr::beta:
      return {0.5, -1.0, 0.0};
    case Attr::eps:
      return {1e-5, 0.5};
    default:
      return {};
  }
}

bool BoundedChooser::complete(NodeDraft& draft) {
  if (draft.types.size() < static_cast<size_t>(ops::spec(draft.op).min_inputs)) return false;
  if (draft.op == Op::concat && draft.types.empty()) return false;
  if (ops::has_windows(draft.op)) choose_axes(draft);
  const auto& specs = ops::spec(draft.op).attrs;
  const auto choose = [&](Attr key) {
    const bool known = std::ranges::any_of(specs, [&](const auto& s) { return s.key == key; });
    if (!known || draft.attrs.find(key)) return true;
    const auto all = options(draft, key);
    if (all.empty()) return false;
    draft.attrs.set(key, all[static_cast<size_t>(pick(static_cast<int64_t>(all.size())))]);
    return true;
  };
  if (ops::is_convolution(draft.op) && !draft.attrs.find(Attr::group))
    draft.attrs.set(Attr::group, between(1, bounds_.groups));
  const bool axis_first = draft.op == Op::concat || draft.op == Op::layer_norm || draft.op == Op::rms_norm;
  if (axis_first && !draft.types[0])
    draft.types[0] =
        ops::TensorType(ops::DType::f32, draft.op == Op::concat ? any_shape() : shape_of_rank(between(1, 3)));
  if (axis_first && !choose(Attr::axis)) return false;
  for (size_t k = 0; k < draft.types.size(); ++k) {
    if (draft.types[k]) continue;
    auto shape = operand(draft, k);
    if (!shape) return false;
    const bool index = draft.op == Op::gather && k == 1;
    draft.types[k] = ops::TensorType(index ? ops::DType::i64 : ops::DType::f32, std::move(*shape));
  }
  // What others depend on comes first.
  for (Attr key : {Attr::axis, Attr::kernel, Attr::axes, Attr::ends}) {
    if (!choose(key)) return false;
  }
  return std::ranges::all_of(specs, [&](const auto& s) { return choose(s.key); });
}

}  // namespace rlgo::rulegen
