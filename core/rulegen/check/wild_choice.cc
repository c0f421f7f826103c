#include "core/rulegen/check/wild_choice.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "core/ops/windows.h"
#include "core/rules/proof_scope.h"

namespace rlgo::rulegen {

using ops::Attr;
using ops::AttrValue;
using ops::DType;
using ops::Ints;
using ops::Op;
using ops::Shape;
using ops::TensorType;
using rules::LeftNode;

bool WildChooser::of_images(Op op) { return ops::has_windows(op) || op == Op::resize; }

WildChooser::WildChooser(const rules::CompiledRule& rule, Rng& rng) : rng_(rng) {
  constexpr std::array<DType, 7> kTypes{DType::f64, DType::f16, DType::i64,    DType::i32,
                                        DType::u8,  DType::i8,  DType::boolean};
  type_ = percent(70) ? DType::f32 : kTypes[rng_.below(kTypes.size())];
  for (int64_t k = between(1, 3); k > 0; --k) extents_.push_back(percent(4) ? 0 : between(1, 5));
  const bool images = std::ranges::any_of(rule.left, [](const auto& node) { return of_images(node.op); });
  if (rules::has_windows(rule) && rule.all_windows && percent(40)) axes_ = static_cast<size_t>(percent(70) ? 1 : 3);
  for (const auto& node : rule.left) {
    for (const auto& test : node.tests) {
      if (ops::has_windows(node.op) && test.is_list && ops::is_window_list(test.key))
        axes_ = test.key == Attr::pads ? test.items.size() / 2 : test.items.size();
    }
  }
  rank_ = images && percent(80) ? static_cast<int64_t>(axes_) + 2 : between(0, kMaxRank);
}

Shape WildChooser::shape(int64_t rank) {
  Shape made;
  for (int64_t d = 0; d < rank; ++d) made.push_back(extent());
  return made;
}

// Related to the operands before it, as often as not.
Shape WildChooser::operand(Op op, std::span<const TensorType> before, std::span<const Shape> known) {
  if (!known.empty() && percent(30)) return known[rng_.below(known.size())];
  const bool images = of_images(op);
  if (op == Op::depth_to_space || op == Op::space_to_depth)
    return {between(1, 2), between(1, 2) * 4, between(1, 3) * 2, between(1, 3) * 2};
  if (before.empty()) {
    if (images) {
      Shape made{between(1, 2), between(1, 3) * between(1, 2)};
      for (size_t d = 0; d < axes_; ++d) made.push_back(between(1, axes_ == 3 ? 3 : 7));
      return made;
    }
    return any_shape();
  }
  const Shape& x = before[0].shape;
  if (images) return kernel(op, before);
  if (op == Op::batch_norm && x.size() > 1) return {x[1]};
  if (op == Op::layer_norm && !x.empty()) return {x.back()};
  if (op == Op::matmul && x.size() >= 2 && percent(85)) {
    Shape made = percent(50) ? Shape{0, 0} : x;
    made[made.size() - 2] = x.back();
    made[made.size() - 1] = extent();
    return made;
  }
  if (percent(45)) return x;
  Shape part = x;
  while (!part.empty() && percent(30)) part.erase(part.begin());
  for (auto& e : part) {
    if (percent(30)) e = percent(50) ? 1 : extent();
  }
  return percent(10) ? any_shape() : part;
}

Shape WildChooser::kernel(Op op, std::span<const TensorType> before) {
  const Shape& x = before[0].shape;
  const size_t rank = axes_ + 2;
  if (x.size() != rank) return shape(static_cast<int64_t>(rank));
  if (before.size() == 2) {
    const Shape& w = before[1].shape;
    return {w.size() == rank ? w[op == Op::conv2d ? 0 : 1] * between(1, 2) : extent()};
  }
  const int64_t height = between(1, 4), width = percent(60) ? height : between(1, 4);
  Shape made{x[1], extent()};
  if (op != Op::conv_transpose) {
    const int64_t groups = percent(60) ? 1 : std::max<int64_t>(1, x[1] / between(1, 2));
    made = {groups * between(1, 3), std::max<int64_t>(1, x[1] / groups)};
  }
  for (size_t d = 0; d < axes_; ++d) made.push_back(d + 1 == axes_ ? width : height);
  return made;
}

AttrValue WildChooser::attribute(const LeftNode& left, const ops::AttrSpec& spec, std::span<const TensorType> types,
                                 const ops::Attrs& attrs) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr std::array<double, 12> kNumbers{0, 0.1, 0.5, 1, 2, 3, 6, -0.5, -1, -2, 1e-5, kInfinity};
  if (std::holds_alternative<double>(spec.fallback)) {
    if (percent(20)) return spec.fallback;
    if (spec.key == Attr::min && percent(20)) return -kInfinity;
    if (spec.key == Attr::eps) return std::array{0.0, 1e-5, 1e-3, 0.5}[rng_.below(4)];
    return kNumbers[rng_.below(kNumbers.size())];
  }
  if (std::holds_alternative<std::string>(spec.fallback)) return word(spec);
  if (std::holds_alternative<int64_t>(spec.fallback)) return number(left, spec.key, types);
  Ints made = list(left, spec.key, types, attrs);
  const auto test = std::ranges::find(left.tests, spec.key, &rules::AttrTest::key);
  if (test != left.tests.end() && test->is_list) made.resize(test->items.size(), 1);
  return made;
}

int64_t WildChooser::number(const LeftNode& left, Attr key, std::span<const TensorType> types) {
  if (key == Attr::axis && !types.empty()) return between(0, std::max<int64_t>(types[0].rank() - 1, 0));
  if (key == Attr::blocksize) return percent(80) ? 2 : 1;
  if (key != Attr::group) return between(0, 1);
  const bool sized =
      left.op == Op::conv2d && types.size() > 1 && types[0].rank() > 2 && types[1].rank() == types[0].rank();
  if (sized && types[1].shape[1] > 0 && percent(70)) return std::max<int64_t>(1, types[0].shape[1] / types[1].shape[1]);
  return percent(60) ? 1 : between(1, 4);
}

std::string WildChooser::word(const ops::AttrSpec& spec) {
  constexpr std::array<const char*, 6> kActs{"none", "relu", "sigmoid", "tanh", "gelu", "hard_swish"};
  constexpr std::array<const char*, 6> kTypes{"f32", "f64", "f16", "i64", "i32", "bool"};
  if (spec.key == Attr::act) return std::string(kActs[rng_.below(kActs.size())]);
  if (spec.key == Attr::approximate) return std::string(percent(50) ? "none" : "tanh");
  if (spec.key == Attr::to) return std::string(percent(50) ? ops::name(type_) : kTypes[rng_.below(kTypes.size())]);
  if (spec.key == Attr::mode) return std::string(spec.words[0] != "DCR" ? "nearest" : percent(50) ? "DCR" : "CRD");
  if (spec.key == Attr::coordinates) return std::string(percent(50) ? "asymmetric" : "half_pixel");
  if (spec.key == Attr::rounding) return std::string(percent(50) ? "floor" : "round_prefer_floor");
  return std::get<std::string>(spec.fallback);
}

Ints WildChooser::drawn(size_t count, int64_t least, int64_t most, uint64_t plain) {
  Ints made(count, least);
  if (percent(plain)) return made;
  for (auto& item : made) item = between(least, most);
  return made;
}

Ints WildChooser::list(const LeftNode& left, Attr key, std::span<const TensorType> types, const ops::Attrs& attrs) {
  const Shape x = types.empty() ? Shape() : types[0].shape;
  const auto rank = static_cast<int64_t>(x.size());
  switch (key) {
    case Attr::strides:
    case Attr::dilations:
      return drawn(axes_, 1, 3, 50);
    case Attr::kernel:
      return drawn(axes_, 1, 4, 15);
    case Attr::output_padding:
      return drawn(axes_, 0, 2, 50);
    case Attr::pads:
      return pads(left, types);
    case Attr::perm: {
      Ints perm(x.size());
      std::iota(perm.begin(), perm.end(), 0);
      for (size_t k = perm.size(); k > 1; --k) std::swap(perm[k - 1], perm[rng_.below(k)]);
      return perm;
    }
    case Attr::shape:
      if (left.op == Op::expand) {
        Ints to(x.begin(), x.end());
        for (auto& length : to) length = length == 1 && percent(70) ? extent() : length;
        if (percent(30)) to.insert(to.begin(), extent());
        return to;
      }
      if (left.op != Op::fill) return reshaped(x);
      if (percent(50)) return drawn(static_cast<size_t>(between(0, 4)), 1, 3, 20);
      {
        const Shape any = any_shape();
        return Ints(any.begin(), any.end());
      }
    case Attr::axes: {
      Ints axes;
      for (int64_t d = 0; d < rank; ++d) {
        if (percent(40)) axes.push_back(d);
      }
      return axes;
    }
    case Attr::sizes:
      return sizes(left, x, attrs);
    default:
      return bounds(key, x, attrs);
  }
}

Ints WildChooser::pads(const LeftNode& left, std::span<const TensorType> types) {
  if (left.op == Op::pad) return drawn(2 * types[0].shape.size(), 0, 2, 30);
  Ints same(2 * axes_, 0);
  for (size_t d = 0; d < axes_ && types.size() > 1 && types[1].shape.size() == axes_ + 2; ++d)
    same[d] = same[d + axes_] = (types[1].shape[2 + d] - 1) / 2;
  return percent(30) ? same : drawn(2 * axes_, 0, 3, 30);
}

Ints WildChooser::sizes(const LeftNode& left, const Shape& x, const ops::Attrs& attrs) {
  const int64_t axis = attrs.find(Attr::axis) ? attrs.i(Attr::axis) : 0;
  int64_t rest = axis < static_cast<int64_t>(x.size()) ? x[static_cast<size_t>(axis)] : 1;
  const auto test = std::ranges::find(left.tests, Attr::sizes, &rules::AttrTest::key);
  const bool fixed = test != left.tests.end() && test->is_list;
  Ints made;
  for (int64_t k = fixed ? static_cast<int64_t>(test->items.size()) : between(1, 5); k > 1; --k) {
    made.push_back(rest > 0 ? between(percent(10) ? 0 : 1, rest) : 0);
    rest -= made.back();
  }
  made.push_back(rest);
  return made;
}

// Factors in another grouping; some items left open.
Ints WildChooser::reshaped(const Shape& x) {
  Ints to(x.begin(), x.end());
  for (int round = 0; round < 3 && percent(70); ++round) {
    const size_t at = to.empty() ? 0 : rng_.below(to.size());
    if (percent(30)) to.insert(to.begin() + static_cast<ptrdiff_t>(at), 1);
    if (to.size() >= 2 && at + 1 < to.size() && percent(60)) {
      to[at] *= to[at + 1];
      to.erase(to.begin() + static_cast<ptrdiff_t>(at) + 1);
    } else if (!to.empty() && to[at] % 2 == 0 && to[at] > 0) {
      to[at] /= 2;
      to.insert(to.begin() + static_cast<ptrdiff_t>(at), 2);
    }
  }
  if (to.empty() || !percent(35)) return to;
  to[rng_.below(to.size())] = -1;
  for (size_t k = 0; k < to.size() && k < x.size(); ++k) {
    if (to[k] == x[k] && percent(30)) to[k] = -2;
  }
  return to;
}

Ints WildChooser::bounds(Attr key, const Shape& x, const ops::Attrs& attrs) {
  Ints made;
  const auto* axes = attrs.find(Attr::axes);
  if (!axes) return made;
  for (const int64_t axis : std::get<Ints>(*axes)) {
    const int64_t most = axis >= 0 && axis < static_cast<int64_t>(x.size()) ? x[static_cast<size_t>(axis)] : 1;
    if (key == Attr::steps) made.push_back(percent(70) ? 1 : between(1, 3));
    if (key == Attr::starts) made.push_back(percent(50) ? 0 : between(0, most));
    if (key == Attr::ends) made.push_back(percent(50) ? most : between(0, most));
  }
  return made;
}

}  // namespace rlgo::rulegen
