#include "core/rulegen/check/bounded_choice.h"

#include <algorithm>

#include "core/ops/moves.h"
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

// Along one axis or three: lists whose items differ, so that what exchanges two of them shows.
std::vector<AttrValue> BoundedChooser::other_window_options(const Draft& draft, const Ints& kernel, Attr key) const {
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

std::vector<AttrValue> BoundedChooser::window_options(const Draft& draft, Attr key) const {
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

namespace {

// Of attributes that depend on no operand; empty: of another one.
std::vector<AttrValue> numbers_and_words(Op op, Attr key) {
  switch (key) {
    case Attr::act:
      return {std::string("none"), std::string("relu"), std::string("tanh")};
    case Attr::approximate:
      return {std::string("none"), std::string("tanh")};
    case Attr::to:
      return {std::string("f32")};
    case Attr::mode:
      return {std::string("DCR"), std::string("CRD")};
    case Attr::ceil_mode:
    case Attr::count_include_pad:
    case Attr::keepdims:
    case Attr::select_last:
    case Attr::exclusive:
    case Attr::reverse:
    case Attr::upper:
      return {int64_t{0}, int64_t{1}};
    case Attr::fmod:
      return {int64_t{1}};
    case Attr::order:
    case Attr::blocksize:
    case Attr::group:
      return {int64_t{1}, int64_t{2}};
    case Attr::diagonal:
      return {int64_t{0}, int64_t{1}, int64_t{-1}};
    case Attr::gamma:
      return {0.5, 2.0};
    case Attr::value:
      if (op == Op::fill) return {0.0, 1.0, 2.0, -0.5, -3.0};
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

// `starts`, `ends` and `steps` of a slice of x whose axes are chosen; `longest`: the bound of extents.
std::vector<AttrValue> slice_options(const Shape& x, const Ints& axes, Attr key, int64_t longest) {
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
  if (axes.size() == 2 && longest > 3) {
    if (key == Attr::steps) all.insert(all.end(), {Ints{2, 3}, Ints{3, 2}});
    if (key == Attr::ends) all.insert(all.end(), {Ints{first[0], second[1]}, Ints{second[0], first[1]}});
  }
  return all;
}

}  // namespace

std::vector<AttrValue> BoundedChooser::options(const Draft& draft, Attr key) const {
  const bool has_input = !draft.types.empty() && draft.types[0];
  const Shape x = has_input ? draft.types[0]->shape : Shape();
  switch (key) {
    case Attr::axis: {
      std::vector<AttrValue> all;
      const int64_t count = has_input ? static_cast<int64_t>(x.size()) : 4;
      for (int64_t k = 0; k < count; ++k) all.emplace_back(k);
      return all;
    }
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
      if (draft.op == Op::expand) return expansions(x, std::max<int64_t>(bounds_.dims, 2));
      return bounds_.ranks > 4 ? all_reshapes(x) : reshapes(x);
    case Attr::axes:
      return subsets(x.size());
    case Attr::sizes: {
      const auto axis = static_cast<size_t>(draft.attrs.i(Attr::axis));
      return axis < x.size() ? compositions(x[axis], parts_of(draft).value_or(2)) : std::vector<AttrValue>();
    }
    case Attr::ends:
    case Attr::starts:
    case Attr::steps:
      return slice_options(x, draft.attrs.ints(Attr::axes), key, bounds_.dims);
    default:
      return numbers_and_words(draft.op, key);
  }
}

bool BoundedChooser::complete(Draft& draft) {
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
  if (!choose(Attr::blocksize)) return false;
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
    const bool index = draft.indices || ops::holds_places(draft.op, k);
    draft.types[k] = ops::TensorType(index ? ops::DType::i64 : ops::DType::f32, std::move(*shape));
  }
  // What others depend on comes first.
  for (Attr key : {Attr::axis, Attr::kernel, Attr::axes, Attr::ends}) {
    if (!choose(key)) return false;
  }
  return std::ranges::all_of(specs, [&](const auto& s) { return choose(s.key); });
}

}  // namespace rlgo::rulegen
