// What may be chosen for operands and attributes of one operator within bounds. Inside of bounded.h.
#pragma once

#include <optional>
#include <vector>

#include "core/rulegen/check/bounded.h"
#include "core/rules/instance_parts.h"

namespace rlgo::rulegen {

using rules::Draft;

// Parts of a split that the rule takes apart.
inline std::optional<size_t> parts_of(const Draft& draft) {
  const auto wanted = draft.wanted_lengths.find(ops::Attr::sizes);
  return wanted == draft.wanted_lengths.end() ? std::nullopt : std::optional(wanted->second);
}

class BoundedChooser {  // goes through all instances within bounds
 public:
  BoundedChooser(const Bounds& bounds, Choices& choices) : bounds_(bounds), choices_(choices) {}
  // Extents that windows may have beyond the bound.
  void wish(std::vector<int64_t> windows) { windows_ = std::move(windows); }
  // Chooses what is open. False where nothing fits.
  bool complete(Draft& draft);
  int64_t between(int64_t least, int64_t most) { return least + choices_.pick(most - least + 1); }
  int64_t pick(int64_t count) { return choices_.pick(count); }

 private:
  int64_t extent();
  int64_t image();
  int64_t window();
  void choose_axes(const Draft& draft);
  void add_image(ops::Shape& shape);
  ops::Shape any_shape();
  ops::Shape shape_of_rank(int64_t rank);
  ops::Shape relative(const ops::Shape& other);
  std::optional<ops::Shape> operand(const Draft& draft, size_t place);
  std::optional<ops::Shape> conv_operand(const Draft& draft, size_t place);
  std::optional<ops::Shape> conv_transpose_operand(const Draft& draft, size_t place);
  std::optional<ops::Shape> matmul_operand(const Draft& draft, size_t place);
  ops::Shape block_operand(const Draft& draft);
  std::vector<ops::AttrValue> options(const Draft& draft, ops::Attr key) const;
  std::vector<ops::AttrValue> window_options(const Draft& draft, ops::Attr key) const;
  std::vector<ops::AttrValue> other_window_options(const Draft& draft, const ops::Ints& kernel, ops::Attr key) const;

  const Bounds& bounds_;
  Choices& choices_;
  std::vector<int64_t> windows_;
  size_t axes_ = 0;  // of the windows of this instance; 0: not chosen yet
};

}  // namespace rlgo::rulegen
