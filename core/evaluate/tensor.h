// Tensors in memory, without LibTorch: a dtype, extents and shared contiguous storage.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/evaluate/half.h"
#include "core/graph/blob.h"
#include "core/ops/types.h"

namespace rlgo::evaluate {

// The element type's ops::DType.
template <typename T>
constexpr ops::DType dtype_of() {
  using ops::DType;
  if constexpr (std::is_same_v<T, float>) return DType::f32;
  if constexpr (std::is_same_v<T, double>) return DType::f64;
  if constexpr (std::is_same_v<T, Half>) return DType::f16;
  if constexpr (std::is_same_v<T, BFloat>) return DType::bf16;
  if constexpr (std::is_same_v<T, bool>) return DType::boolean;
  if constexpr (std::is_same_v<T, uint8_t>) return DType::u8;
  if constexpr (std::is_same_v<T, int8_t>) return DType::i8;
  if constexpr (std::is_same_v<T, uint16_t>) return DType::u16;
  if constexpr (std::is_same_v<T, int16_t>) return DType::i16;
  if constexpr (std::is_same_v<T, uint32_t>) return DType::u32;
  if constexpr (std::is_same_v<T, int32_t>) return DType::i32;
  if constexpr (std::is_same_v<T, uint64_t>) return DType::u64;
  if constexpr (std::is_same_v<T, int64_t>) return DType::i64;
}

// Copies share their elements, row-major. Undefined when made by default.
class Tensor {
 public:
  Tensor() = default;
  // Elements are not set. Extents that are unknown become 1, as in core/exec.
  Tensor(ops::DType dtype, const ops::Shape& shape);
  // The contents of a weight, shared. Throws Error where they are absent.
  static Tensor of(const graph::Blob& blob);

  bool defined() const { return data_ != nullptr; }
  ops::DType dtype() const { return dtype_; }
  const ops::Shape& shape() const { return shape_; }
  int64_t rank() const { return static_cast<int64_t>(shape_.size()); }
  int64_t elements() const { return elements_; }
  int64_t bytes() const { return elements_ * ops::size_bytes(dtype_); }
  ops::TensorType type() const { return {dtype_, shape_}; }
  const void* raw() const { return data_.get(); }
  void* raw() { return data_.get(); }
  const std::shared_ptr<void>& storage() const { return data_; }  // shared by all copies
  template <typename T>
  const T* data() const {
    RLGO_CHECK(dtype_ == dtype_of<T>());
    return static_cast<const T*>(data_.get());
  }
  template <typename T>
  T* data() {
    RLGO_CHECK(dtype_ == dtype_of<T>());
    return static_cast<T*>(data_.get());
  }
  // The same elements under other extents, of the same number.
  Tensor reshaped(const ops::Shape& shape) const;

 private:
  ops::DType dtype_ = ops::DType::other;
  ops::Shape shape_;
  int64_t elements_ = 0;
  std::shared_ptr<void> data_;
};

using Tensors = std::vector<Tensor>;
// By name of a graph input or output.
using TensorMap = std::map<std::string, Tensor>;

// Calls f.operator()<T>() with the type that stores `dtype`; `other` is held as f32.
template <typename F>
auto visit(ops::DType dtype, F&& f) {
  using ops::DType;
  switch (dtype) {
    case DType::other:
    case DType::f32:
      return f.template operator()<float>();
    case DType::f64:
      return f.template operator()<double>();
    case DType::f16:
      return f.template operator()<Half>();
    case DType::bf16:
      return f.template operator()<BFloat>();
    case DType::u8:
      return f.template operator()<uint8_t>();
    case DType::i8:
      return f.template operator()<int8_t>();
    case DType::u16:
      return f.template operator()<uint16_t>();
    case DType::i16:
      return f.template operator()<int16_t>();
    case DType::u32:
      return f.template operator()<uint32_t>();
    case DType::i32:
      return f.template operator()<int32_t>();
    case DType::u64:
      return f.template operator()<uint64_t>();
    case DType::i64:
      return f.template operator()<int64_t>();
    case DType::boolean:
      return f.template operator()<bool>();
  }
  fail("internal: dtype {} is not in the list (this is a bug of rlgo)", static_cast<int>(dtype));
}

// The same for the float types alone.
template <typename F>
auto visit_float(ops::DType dtype, F&& f) {
  using ops::DType;
  if (dtype == DType::f64) return f.template operator()<double>();
  if (dtype == DType::f16) return f.template operator()<Half>();
  if (dtype == DType::bf16) return f.template operator()<BFloat>();
  RLGO_CHECK(dtype == DType::f32);
  return f.template operator()<float>();
}

}  // namespace rlgo::evaluate
