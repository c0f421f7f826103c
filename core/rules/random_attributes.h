// Random operand types and attributes for one operator: what fits often enough to be worth trying.
#pragma once

#include <optional>
#include <vector>

#include "core/base/rng.h"
#include "core/rules/instance_parts.h"

namespace rlgo::rules {

class RandomAttributes {  // draws for one instance
 public:
  // Draws a few extents and uses them throughout, so that equal ones are frequent.
  explicit RandomAttributes(Rng& rng);
  // Extents that windows should have often.
  void wish(std::vector<int64_t> windows) { windows_ = std::move(windows); }
  // Windows of this instance have one to three axes; else two, or as many as the pattern lists.
  void vary_axes();
  // Extents that should come: some of them are among those that are used.
  void ask(const std::vector<int64_t>& extents);
  // Fills in what is open. False where that makes no sense. f32 throughout.
  bool complete(Draft& draft);

 private:
  int64_t extent() { return extents_[rng_.below(extents_.size())]; }
  int64_t between(int64_t least, int64_t most) {
    return least + static_cast<int64_t>(rng_.below(static_cast<uint64_t>(most - least + 1)));
  }
  bool chance(uint64_t percent) { return rng_.below(100) < percent; }
  ops::Shape shape(int rank);
  ops::Shape any_shape();
  ops::Shape relative(const ops::Shape& other);
  std::optional<ops::Shape> conv_operand(const Draft& draft, size_t place);
  std::optional<ops::Shape> conv_transpose_operand(const Draft& draft, size_t place);
  std::optional<ops::Shape> matmul_operand(const Draft& draft, size_t place);
  ops::Shape resize_operand(const Draft& draft);
  std::optional<ops::Shape> norm_operand(const Draft& draft, size_t place);
  std::optional<ops::Shape> attention_operand(const Draft& draft, size_t place);
  ops::Shape recurrent_operand(const Draft& draft, size_t place);
  std::optional<ops::Shape> operand(Draft& draft, size_t place);
  std::optional<ops::AttrValue> attribute(const Draft& draft, const ops::AttrSpec& spec);
  size_t axes_of(const Draft& draft) const {
    const size_t axes = window_axes(draft);
    return axes == 0 ? axes_ : axes;
  }
  ops::Shape with_image(ops::Shape made, size_t axes);
  ops::Ints window_list(const Draft& draft, ops::Attr key);
  ops::Ints window_pads(const ops::Ints& window, bool below_window);
  ops::Ints permutation(int64_t rank);
  ops::Ints regrouped(const ops::Shape& from);
  ops::Ints expanded(const ops::Shape& from);
  std::optional<ops::AttrValue> split_sizes(const Draft& draft, const ops::Shape& input);
  std::optional<ops::AttrValue> slice_list(const Draft& draft, const ops::Shape& input, ops::Attr key);
  std::optional<ops::AttrValue> list_attribute(const Draft& draft, ops::Attr key);
  std::optional<ops::AttrValue> word(ops::Op op, ops::Attr key);
  std::optional<ops::AttrValue> number(ops::Op op, ops::Attr key);

  Rng& rng_;
  std::vector<int64_t> extents_, windows_;
  int64_t image_ = 6;
  size_t axes_ = 2;  // of windows
};

}  // namespace rlgo::rules
