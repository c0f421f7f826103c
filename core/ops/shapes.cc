// Shapes whose extents are numbers.
#include "core/ops/shapes.h"

#include "core/ops/extent.h"
#include "core/ops/families.h"

namespace rlgo::ops {
namespace {

class Numbers {  // a domain of shapes.h: each demand is met, or the operator does not fit
 public:
  using Extent = int64_t;
  using Extents = Shape;
  static constexpr int64_t kLeast = 0;

  Numbers(Inputs in, const Attrs& attrs, DType dtype) : in_(in), attrs_(attrs), dtype_(dtype) {}

  Inferred take() { return good_ ? std::optional(std::move(out_)) : std::nullopt; }

  size_t inputs() const { return in_.size(); }
  const Shape& in(size_t k) const { return in_[k].shape; }
  const Ints& list(Attr key) const { return attrs_.ints(key); }
  Shape extents(Attr key) const { return Shape(std::span<const int64_t>(attrs_.ints(key))); }
  int64_t item(Attr key) const { return attrs_.i(key); }
  const Ints* constants(Attr key) const { return &attrs_.ints(key); }
  static std::optional<int64_t> constant(int64_t extent) { return extent; }
  std::optional<size_t> axis() {
    const int64_t axis = attrs_.i(Attr::axis);
    return require(is_axis(axis, in_[0].rank())) ? std::optional(static_cast<size_t>(axis)) : std::nullopt;
  }

  static int64_t lit(int64_t number) { return number; }
  int64_t add(int64_t a, int64_t b) { return require(!__builtin_add_overflow(a, b, &a)) ? a : 0; }
  int64_t sub(int64_t a, int64_t b) { return require(!__builtin_sub_overflow(a, b, &a)) ? a : 0; }
  int64_t mul(int64_t a, int64_t b) { return require(!__builtin_mul_overflow(a, b, &a)) ? a : 0; }
  int64_t quotient(int64_t a, int64_t b) {
    if (!require(b > 0)) return 0;
    return a / b - (a % b < 0 ? 1 : 0);
  }
  std::optional<int64_t> scaled(int64_t extent, Attr scale) {
    const auto length = scaled_extent(extent, attrs_.f(scale)).number();
    require(length.has_value());
    return length;
  }

  bool require(bool holds) { return good_ = good_ && holds; }
  bool require_known(std::optional<int64_t> number) { return require(number.has_value()); }
  int64_t equal(int64_t a, int64_t b) { return require(a == b), a; }
  void at_least(int64_t extent, int64_t bound) { require(extent >= bound); }
  void at_most(int64_t a, int64_t b) { require(a <= b); }
  void divides(int64_t a, int64_t b) { require(a % b == 0); }
  int64_t exact(int64_t a, int64_t b) { return require(b > 0 && a % b == 0) ? a / b : 0; }
  void into(int64_t whole, int64_t part) { require(part == 1 || part == whole); }
  int64_t joint(const Shape& members) {
    int64_t all = 1;
    for (const int64_t member : members) {
      require(member == 1 || all == 1 || member == all);
      if (member != 1) all = member;
    }
    return all;
  }
  void any_at_least_zero(std::initializer_list<int64_t> all) {
    require(std::ranges::any_of(all, [](int64_t extent) { return extent >= 0; }));
  }
  void exists(int64_t extent) { require(extent >= 1); }
  int64_t positive(int64_t extent) { return require(extent >= 1), extent; }
  int64_t window(int64_t extent, int64_t begin, int64_t end, int64_t size, int64_t stride, int64_t dilation,
                 int64_t round_up) {
    const auto length =
        require(size >= 1) ? window_extent(extent, begin, end, size, stride, dilation, round_up == 1) : std::nullopt;
    require(length.has_value());
    return length.value_or(0);
  }
  static void no_window_of_padding(int64_t, int64_t, int64_t, int64_t) {}
  // With one new pixel in a row, the two kinds of half pixels differ.
  void two_pixels(int64_t extent) { require(attrs_.word(Attr::coordinates) != "pytorch_half_pixel" || extent != 1); }
  void out(Shape shape) { out_.emplace_back(dtype_, std::move(shape)); }
  bool ok() const { return good_; }

 private:
  Inputs in_;
  const Attrs& attrs_;
  const DType dtype_;
  Types out_;
  bool good_ = true;
};

}  // namespace

Inferred shaped(Op op, DType dtype, Inputs in, const Attrs& attrs) {
  Numbers numbers(in, attrs, dtype);
  state_shapes(numbers, op);
  return numbers.take();
}

}  // namespace rlgo::ops
