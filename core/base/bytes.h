// Plain little-endian byte streams for messages and opaque payloads. Every read is bounds-checked.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/error.h"

namespace rlgo {

static_assert(std::endian::native == std::endian::little, "rlgo's formats are little-endian");

class ByteWriter {
 public:
  ByteWriter() = default;
  // Writes behind these bytes.
  explicit ByteWriter(std::string bytes) : bytes_(std::move(bytes)) {}
  template <typename T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    put_raw(&value, sizeof(T));
  }
  template <typename T>
  void put_span(std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    put<uint64_t>(values.size());
    put_raw(values.data(), values.size_bytes());
  }
  template <typename T>
  void put_vector(const std::vector<T>& values) {
    put_span(std::span<const T>(values));
  }
  void put_string(std::string_view text) { put_span(std::span<const char>(text.data(), text.size())); }
  // 7 bits a byte, low ones first, the top bit set on all but the last: 1 byte below 128, at most 10.
  void put_varint(uint64_t value) {
    while (value >= 0x80) {
      bytes_.push_back(static_cast<char>(value | 0x80));
      value >>= 7;
    }
    bytes_.push_back(static_cast<char>(value));
  }
  // 0, -1, 1, -2, 2, ... as the varints 0, 1, 2, 3, 4, ...
  void put_signed_varint(int64_t value) {
    put_varint((static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63));
  }
  // Bytes that no count precedes.
  void put_bytes(std::string_view bytes) { bytes_.append(bytes); }
  const std::string& bytes() const { return bytes_; }
  std::string take() { return std::move(bytes_); }

 private:
  void put_raw(const void* data, size_t size) {
    if (size > 0) bytes_.append(static_cast<const char*>(data), size);
  }
  std::string bytes_;
};

// Throws Error("truncated ...") rather than reading past the end.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}
  template <typename T>  // the next number; throws Error where the bytes end
  T get() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  template <typename T>  // as put_vector() wrote it
  std::vector<T> get_vector() {
    const auto count = get<uint64_t>();
    if (count > rest_.size() / sizeof(T))
      fail("truncated data: {} items of {} bytes announced, {} bytes left", count, sizeof(T), rest_.size());
    std::vector<T> values(count);
    if (count > 0) std::memcpy(values.data(), take(count * sizeof(T)).data(), count * sizeof(T));
    return values;
  }
  // `count` floats that no count precedes.
  std::vector<float> get_floats(uint64_t count) {
    if (count > rest_.size() / sizeof(float))
      fail("truncated data: {} floats announced, {} bytes left", count, rest_.size());
    std::vector<float> values(count);
    if (count > 0) std::memcpy(values.data(), take(count * sizeof(float)).data(), count * sizeof(float));
    return values;
  }
  std::string get_string() {
    const auto count = get<uint64_t>();
    return std::string(take(count));
  }
  // `count` bytes that no count precedes; a view of what is read.
  std::string_view get_bytes(uint64_t count) { return take(count); }
  // Throws Error where a varint is longer than 64 bits too.
  uint64_t get_varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = get<uint8_t>();
      if (shift == 63 && byte > 1) break;
      value |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    fail("malformed data: a number of more than 64 bits");
  }
  int64_t get_signed_varint() {
    const uint64_t value = get_varint();
    return static_cast<int64_t>(value >> 1) ^ -static_cast<int64_t>(value & 1);
  }
  bool done() const { return rest_.empty(); }

 private:
  std::string_view take(uint64_t size) {
    if (size > rest_.size()) fail("truncated data: {} bytes needed, {} left", size, rest_.size());
    const auto part = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return part;
  }
  std::string_view rest_;
};

}  // namespace rlgo
