#include "core/onnx/constant.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "core/base/error.h"

namespace rlgo::onnx_io {
namespace {

using ops::DType;

double from_f16(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const double fraction = bits & 1023;
  const double sign = (bits & 0x8000) ? -1.0 : 1.0;
  if (exponent == 31) return fraction == 0 ? sign * INFINITY : NAN;
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25));
}

uint16_t to_f16(double value) {
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return 0x7E00;
  const double magnitude = std::fabs(value);
  if (magnitude >= 65520.0) return sign | 0x7C00;
  if (magnitude < 0x1p-14) return sign | static_cast<uint16_t>(std::nearbyint(std::ldexp(magnitude, 24)));
  int exponent = 0;
  const double fraction = std::frexp(magnitude, &exponent);                          // [0.5, 1)
  const auto mantissa = static_cast<int>(std::nearbyint(std::ldexp(fraction, 11)));  // [1024, 2048]
  return sign | static_cast<uint16_t>(((exponent + 14) << 10) + mantissa - 1024);
}

uint16_t to_bf16(double value) {
  if (std::isnan(value)) return 0x7FC0;
  const auto bits = std::bit_cast<uint32_t>(static_cast<float>(value));
  return static_cast<uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

template <typename T>
T element(std::string_view bytes, size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

int64_t int_element(DType dtype, std::string_view bytes, size_t k) {
  switch (dtype) {
    case DType::i64:
      return element<int64_t>(bytes, k);
    case DType::u64:
      return static_cast<int64_t>(element<uint64_t>(bytes, k));
    case DType::i32:
      return element<int32_t>(bytes, k);
    case DType::u32:
      return element<uint32_t>(bytes, k);
    case DType::i16:
      return element<int16_t>(bytes, k);
    case DType::u16:
      return element<uint16_t>(bytes, k);
    case DType::i8:
      return element<int8_t>(bytes, k);
    default:
      return element<uint8_t>(bytes, k);
  }
}

double float_element(DType dtype, std::string_view bytes, size_t k) {
  switch (dtype) {
    case DType::f64:
      return element<double>(bytes, k);
    case DType::f16:
      return from_f16(element<uint16_t>(bytes, k));
    case DType::bf16:
      return std::bit_cast<float>(static_cast<uint32_t>(element<uint16_t>(bytes, k)) << 16);
    default:
      return element<float>(bytes, k);
  }
}

template <typename T>
std::string raw(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

// The low bytes of the number: two's complement wraps as the types do.
std::string int_bytes(DType dtype, int64_t value) {
  return raw(value).substr(0, static_cast<size_t>(ops::size_bytes(dtype)));
}

std::string float_bytes(DType dtype, double value) {
  switch (dtype) {
    case DType::f64:
      return raw(value);
    case DType::f16:
      return raw(to_f16(value));
    case DType::bf16:
      return raw(to_bf16(value));
    default:
      return raw(static_cast<float>(value));
  }
}

}  // namespace

bool is_small(const ops::TensorType& type) {
  constexpr int64_t kMaxInts = 65536;
  constexpr int64_t kMaxFloats = 64;
  if (!type.is_static() || type.dtype == DType::other) return false;
  int64_t count = 1;  // an extent of 0 must not hide a huge one
  for (const int64_t extent : type.shape) {
    if (__builtin_mul_overflow(count, std::max<int64_t>(extent, 1), &count)) return false;
  }
  return count <= (ops::is_float(type.dtype) ? kMaxFloats : kMaxInts);
}

Constant constant_from_bytes(const ops::TensorType& type, std::string_view bytes) {
  RLGO_CHECK_EQ(static_cast<int64_t>(bytes.size()), type.bytes());
  Constant constant{type, {}, {}};
  const auto count = static_cast<size_t>(type.elements());
  for (size_t k = 0; k < count; ++k) {
    if (constant.is_float()) {
      constant.floats.push_back(float_element(type.dtype, bytes, k));
    } else {
      constant.ints.push_back(int_element(type.dtype, bytes, k));
    }
  }
  return constant;
}

std::string to_bytes(const Constant& constant) {
  std::string bytes;
  for (double value : constant.floats) bytes += float_bytes(constant.type.dtype, value);
  for (int64_t value : constant.ints) bytes += int_bytes(constant.type.dtype, value);
  return bytes;
}

std::string element_bytes(DType dtype, double value) {
  return ops::is_float(dtype) ? float_bytes(dtype, value) : int_bytes(dtype, static_cast<int64_t>(value));
}

}  // namespace rlgo::onnx_io
