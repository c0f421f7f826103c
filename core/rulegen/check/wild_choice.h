// Operand types and attributes as wild_instance.h draws them, one operator at a time. Inside of wild_instance.h.
#pragma once

#include <span>
#include <vector>

#include "core/base/rng.h"
#include "core/rules/compiled.h"

namespace rlgo::rulegen {

class WildChooser {
 public:
  // Draws the element type, a few extents and a rank, which come back often: so operands fit together now and then.
  WildChooser(const rules::CompiledRule& rule, Rng& rng);

  // least to most, both included.
  int64_t between(int64_t least, int64_t most) {
    return least + static_cast<int64_t>(rng_.below(static_cast<uint64_t>(most - least + 1)));
  }
  bool percent(uint64_t chance) { return rng_.below(100) < chance; }
  int64_t extent() { return extents_[rng_.below(extents_.size())]; }
  ops::DType type() const { return type_; }

  // The shape of an operand of `op` behind those of `before`. `known`: shapes of the graph so far, each as likely.
  ops::Shape operand(ops::Op op, std::span<const ops::TensorType> before, std::span<const ops::Shape> known);
  // A value for an attribute that the rule leaves open, given the types of the operands and the attributes before it.
  ops::AttrValue attribute(const rules::LeftNode& left, const ops::AttrSpec& spec,
                           std::span<const ops::TensorType> types, const ops::Attrs& attrs);

 private:
  static bool of_images(ops::Op op);
  ops::Shape shape(int64_t rank);
  ops::Shape any_shape() { return shape(percent(50) ? rank_ : between(0, kMaxRank)); }
  ops::Shape kernel(ops::Op op, std::span<const ops::TensorType> before);
  int64_t number(const rules::LeftNode& left, ops::Attr key, std::span<const ops::TensorType> types);
  std::string word(const ops::AttrSpec& spec);
  ops::Ints list(const rules::LeftNode& left, ops::Attr key, std::span<const ops::TensorType> types,
                 const ops::Attrs& attrs);
  ops::Ints pads(const rules::LeftNode& left, std::span<const ops::TensorType> types);
  ops::Ints drawn(size_t count, int64_t least, int64_t most, uint64_t plain);
  ops::Ints sizes(const rules::LeftNode& left, const ops::Shape& x, const ops::Attrs& attrs);
  ops::Ints reshaped(const ops::Shape& x);
  ops::Ints bounds(ops::Attr key, const ops::Shape& x, const ops::Attrs& attrs);

  static constexpr int64_t kMaxRank = 6;
  Rng& rng_;
  ops::DType type_ = ops::DType::f32;
  std::vector<int64_t> extents_;
  int64_t rank_ = 0;
  size_t axes_ = 2;  // of windows
};

}  // namespace rlgo::rulegen
