// Element types, shapes and tensor types.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/small_vector.h"

namespace rlgo::ops {

class Extent;  // core/ops/extent.h

// Values are those of ONNX's TensorProto.DataType; `other` stands for anything rlgo does not compute with (strings,
// sequences, ...).
enum class DType : uint8_t {
  other = 0,
  f32 = 1,
  u8 = 2,
  i8 = 3,
  u16 = 4,
  i16 = 5,
  i32 = 6,
  i64 = 7,
  boolean = 9,
  f16 = 10,
  f64 = 11,
  u32 = 12,
  u64 = 13,
  bf16 = 16
};

std::string_view name(DType dtype);  // "f32", "i64", "bool", ...
std::optional<DType> dtype_from_name(std::string_view name);
std::span<const std::string_view> dtype_names();  // all but that of `other`
int64_t size_bytes(DType dtype);                  // of one element; 0 for `other`
constexpr bool is_float(DType d) { return d == DType::f32 || d == DType::f64 || d == DType::f16 || d == DType::bf16; }

// Extents, outermost first. An extent of -1 is unknown (only behind opaque operators); known extents are >= 0.
using Shape = SmallVector<int64_t, 6>;
constexpr int64_t kUnknown = -1;

struct TensorType {
  DType dtype = DType::f32;
  bool ranked = true;  // false: not even the rank is known (only behind opaque operators); shape is then empty
  Shape shape;
  // Where a model leaves dimensions of its inputs open: the extents as functions of the open sizes (one per axis), of
  // which `shape` has the values at the sample sizes. Null where all extents are numbers. Types are equal only if they
  // are at all sizes. Not part of text and hash.
  std::shared_ptr<const std::vector<Extent>> open;

  TensorType() = default;
  TensorType(DType d, Shape s) : dtype(d), shape(std::move(s)) {}
  static TensorType unranked(DType d) {  // of a tensor whose rank is not known
    TensorType type(d, {});
    type.ranked = false;
    return type;
  }
  int rank() const { return static_cast<int>(shape.size()); }
  bool is_static() const;    // ranked, and all extents known
  int64_t elements() const;  // product of the extents (1 for a scalar); requires is_static(); saturates at INT64_MAX
  int64_t bytes() const;     // elements() * size_bytes(dtype), saturating
  uint64_t hash() const;
  bool operator==(const TensorType& other) const;
  Extent extent(int64_t axis) const;
  std::vector<Extent> extents() const;
  bool is_open(int64_t axis) const;  // depends on an open size
  // Fills in `shape` and `open`; false (and nothing is changed) where one is undecided.
  bool set_extents(std::vector<Extent> extents);
};

std::string to_string(const TensorType& type);  // "f32[1,3,224,224]", "i64[]", "f32[?,8]", "f32[*]" (unranked)
std::optional<TensorType> type_from_string(std::string_view text);
// NumPy broadcasting; nothing where the shapes do not fit.
std::optional<Shape> broadcast(const Shape& a, const Shape& b);

}  // namespace rlgo::ops
