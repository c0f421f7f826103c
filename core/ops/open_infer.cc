// Shapes whose extents depend on a model's open sizes. What the families check on types and words is checked there, at
// the sample sizes.
#include <algorithm>

#include "core/ops/extent.h"
#include "core/ops/families.h"
#include "core/ops/shapes.h"

namespace rlgo::ops {
namespace {

using Kind = Requirement::Kind;
using Shapes = std::vector<Extents>;

class OpenExtents {  // a domain of shapes.h: what is not certain at all sizes is required
 public:
  using Extent = ops::Extent;
  using Extents = ops::Extents;
  static constexpr int64_t kLeast = 0;

  OpenExtents(Inputs inputs, const Attrs& attrs, std::vector<Requirement>* required)
      : attrs_(attrs), required_(required) {
    for (const auto& type : inputs) in_.push_back(type.extents());
  }

  // Shapes of the outputs; nothing where something that is needed is not certain.
  std::optional<Shapes> take() { return good_ ? std::optional(std::move(out_)) : std::nullopt; }

  size_t inputs() const { return in_.size(); }
  const Extents& in(size_t k) const { return in_[k]; }
  const Ints& list(Attr key) const { return attrs_.ints(key); }
  Extents extents(Attr key) const { return {attrs_.ints(key).begin(), attrs_.ints(key).end()}; }
  Extent item(Attr key) const { return attrs_.i(key); }
  const Ints* constants(Attr key) const { return &attrs_.ints(key); }
  static std::optional<int64_t> constant(const Extent& extent) { return extent.number(); }
  std::optional<size_t> axis() const { return static_cast<size_t>(attrs_.i(Attr::axis)); }

  static Extent lit(int64_t number) { return number; }
  static Extent add(const Extent& a, const Extent& b) { return a + b; }
  static Extent sub(const Extent& a, const Extent& b) { return a - b; }
  static Extent mul(const Extent& a, const Extent& b) { return a * b; }
  static Extent quotient(const Extent& a, const Extent& b) { return floor_quotient(a, b); }
  std::optional<Extent> scaled(const Extent& extent, Attr scale) const {
    return scaled_extent(extent, attrs_.f(scale));
  }

  bool require(bool holds) { return good_ = good_ && holds; }
  bool require_known(std::optional<int64_t> number) { return require(number.has_value()); }
  Extent equal(const Extent& a, const Extent& b) {
    const auto answer = decide_equal(a, b);
    if (answer) {
      require(*answer);
    } else {
      require({Kind::equal, a, b, 0});
    }
    return b.is_number() ? b : a;
  }
  void at_least(const Extent& extent, int64_t bound) {
    if (!extent.at_least(bound)) require({Kind::at_least, extent, {}, bound});
  }
  void at_most(int64_t a, const Extent& b) { at_least(b, a); }
  void divides(const Extent& a, const Extent& b) { require(number(a) % number(b) == 0); }
  Extent exact(const Extent& a, const Extent& b) {
    const Extent whole = floor_quotient(a, b);
    equal(whole * b, a);
    return whole;
  }
  void into(const Extent& whole, const Extent& part) {
    if (part.number() != 1 && !part.same(whole)) require({Kind::into, whole, part, 0});
  }
  // Nothing is asked where all members are 1 or the same.
  Extent joint(const Extents& members) {
    Extent all = ops::joint(members);
    const auto fits = [&](const Extent& one) { return one.number() == 1 || one.same(all); };
    if (std::ranges::all_of(members, fits)) return all;
    if (!all.is_number()) {
      require({Kind::broadcast, all, {}, 0});
      return all;
    }
    for (const Extent& one : members) {
      if (!fits(one)) require({Kind::into, all, one, 0});
    }
    return all;
  }
  // Attributes are numbers, checked at the sample sizes.
  static void any_at_least_zero(std::initializer_list<Extent>) {}
  static void no_window_of_padding(const Extent&, const Extent&, const Extent&, const Extent&) {}
  void exists(const Extent& extent) { at_least(extent, 1); }
  // An extent that exists only where it is positive.
  Extent positive(const Extent& extent) {
    at_least(extent, 1);
    return known_at_least(extent, 1);
  }
  Extent window(const Extent& extent, const Extent& begin, const Extent& end, const Extent& size, const Extent& stride,
                const Extent& dilation, const Extent& round_up) {
    const Extent span = dilation * Extent(number(size) - 1) + Extent(1);
    const Extent room = extent + begin + end - span;
    if (number(round_up) == 0) return positive(floor_quotient(room, stride) + Extent(1));
    at_least(room, 0);
    return window_up(extent, {number(begin), number(end), number(size), number(stride), number(dilation)});
  }
  // A requirement would not do: at an extent of 1 the operator exists and is another.
  void two_pixels(const Extent& extent) {
    require(attrs_.word(Attr::coordinates) != "pytorch_half_pixel" || extent.at_least(2));
  }
  void out(Extents shape) { out_.push_back(std::move(shape)); }
  bool ok() const { return good_; }

 private:
  void require(Requirement wanted) {
    if (required_ == nullptr) good_ = false;
    if (required_ != nullptr) required_->push_back(std::move(wanted));
  }
  int64_t number(const Extent& extent) {
    const auto value = extent.number();
    require(value.has_value());
    return value.value_or(1);
  }

  const Attrs& attrs_;
  std::vector<Requirement>* required_;
  Shapes in_, out_;
  bool good_ = true;
};

}  // namespace

Inferred infer_open(const OpSpec& spec, Inputs inputs, const Attrs& attrs, Types types,
                    std::vector<Requirement>* required) {
  OpenExtents open(inputs, attrs, required);
  state_shapes(open, spec.op);
  auto shapes = open.take();
  if (!shapes || shapes->size() != types.size()) return std::nullopt;
  for (size_t k = 0; k < types.size(); ++k) {
    const Shape sample = types[k].shape;
    if (!types[k].set_extents(std::move((*shapes)[k])) || types[k].shape != sample) return std::nullopt;
  }
  return types;
}

std::optional<Ints> reshape_items(const TensorType& input, std::span<const Extent> wanted) {
  Ints items;
  bool has_rest = false, has_zero = false, has_same = false;
  for (size_t d = 0; d < wanted.size(); ++d) {
    const bool copied = d < input.shape.size() && wanted[d].same(input.extent(static_cast<int64_t>(d)));
    if (const auto number = wanted[d].number()) {
      if (*number < 0) return std::nullopt;
      items.push_back(*number);
      has_zero = has_zero || *number == 0;
    } else if (copied) {
      items.push_back(kSameExtent);
      has_same = true;
    } else if (!has_rest) {
      items.push_back(kRestExtent);
      has_rest = true;
    } else {
      return std::nullopt;
    }
  }
  if (has_zero && (has_same || has_rest)) return std::nullopt;
  return items;
}

}  // namespace rlgo::ops
