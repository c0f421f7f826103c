// A thin, typed layer over the HDF5 C library: files of plain arrays, strings and attributes. No HDF5 header is needed
// to use it; every failure is an rlgo::Error that names file and dataset. Not thread safe (nor is the library, but see
// has_threads).
//
// Files are built in memory and written in one go, with a checksum (checksum.h), to a temporary that is renamed: a full
// disk is an ordinary write error, and no reader ever sees half a file. Any HDF5 reader >= 1.10 opens the result (h5py:
// as usual).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/base/error.h"

namespace rlgo::replay::h5 {

enum class Type : uint8_t { i8, u8, i16, u16, i32, u32, i64, u64, f32, f64 };
std::string_view name(Type type);  // numpy's: "int32", "float64"
size_t size_bytes(Type type);
// Whether the library was built so that two threads may each use files of their own.
bool has_threads();

template <typename T>  // the type that stores a T
constexpr Type type_of() {
  static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>);
  if constexpr (std::is_same_v<T, float>)
    return Type::f32;
  else if constexpr (std::is_same_v<T, double>)
    return Type::f64;
  else if constexpr (sizeof(T) == 1)
    return std::is_signed_v<T> ? Type::i8 : Type::u8;
  else if constexpr (sizeof(T) == 2)
    return std::is_signed_v<T> ? Type::i16 : Type::u16;
  else if constexpr (sizeof(T) == 4)
    return std::is_signed_v<T> ? Type::i32 : Type::u32;
  else
    return std::is_signed_v<T> ? Type::i64 : Type::u64;
}

struct Info {  // of a dataset
  Type type;
  std::vector<uint64_t> shape;
};

// How rows that are appended are stored: deflated (gzip 1..9; 0 = not), with a Fletcher-32 checksum per chunk, so that
// other readers notice damage too. shuffle: the first bytes of all numbers go first, then the second bytes, and so on;
// good for numbers that drift, bad for rows that come again exactly.
struct Filters {
  int gzip = 4;
  bool shuffle = true;
  uint64_t chunk_bytes = 256 << 10;  // upper bound; a chunk holds whole rows, and no more than the first append brings
};

class Writer {  // one file, which appears under its name when it is whole
 public:
  // `label` stands for the file in error messages until save().
  explicit Writer(std::string label);
  ~Writer();
  Writer(Writer&&) noexcept;
  Writer& operator=(Writer&&) noexcept;

  // Appends `rows` rows to the 1-D (width 0) or 2-D (width > 0) dataset `name`, creating it and its groups first.
  void append(const std::string& name, Type type, uint64_t width, uint64_t rows, const void* data,
              const Filters& filters);
  template <typename T>
  void append(const std::string& name, std::span<const T> values, const Filters& filters) {
    append(name, type_of<T>(), 0, values.size(), values.data(), filters);
  }
  // A whole array of any rank, as it is (no filters). Rank 0 is a scalar.
  void put(const std::string& name, Type type, std::span<const uint64_t> shape, const void* data);
  template <typename T>
  void put(const std::string& name, std::span<const T> values) {
    const uint64_t size = values.size();
    put(name, type_of<T>(), {&size, 1}, values.data());
  }
  // [count] fixed-length UTF-8 strings, zero padded. No string may contain a zero byte.
  void put_strings(const std::string& name, std::span<const std::string> values);

  // Attributes of the root group.
  void attribute(const std::string& name, int64_t value);
  void attribute(const std::string& name, uint64_t value);
  void attribute(const std::string& name, double value);
  void attribute(const std::string& name, std::string_view value);

  // Adds the checksum of `kind` and writes it atomically. The writer is spent afterwards, unless this throws for the
  // disk's sake: then save() may be tried again. `bytes`: the size of the file.
  uint64_t save(const std::filesystem::path& path, std::string_view kind);
  // The same for a name that is to be new: where a file has it, 0, nothing is written, and it may be tried again.
  uint64_t create(const std::filesystem::path& path, std::string_view kind);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

class Reader {  // one file
 public:
  // Checks the checksum of `kind` first, unless `checked_already` states that it has been done for this file.
  Reader(std::filesystem::path path, std::string_view kind, bool checked_already = false);
  ~Reader();
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;

  const std::filesystem::path& path() const;  // of the file
  bool has(const std::string& name) const;    // a dataset of this name
  // Throws Error where the dataset is missing or of a type that this layer does not write.
  Info info(const std::string& name) const;
  // Rows [first, first + count) into `out`, which has room for them. Throws Error where type or range do not fit.
  void rows(const std::string& name, Type type, uint64_t first, uint64_t count, void* out) const;
  // The whole dataset, flat.
  template <typename T>
  std::vector<T> all(const std::string& name) const {
    const Info about = info(name);
    uint64_t size = 1;
    for (uint64_t dim : about.shape) size *= dim;
    std::vector<T> values(size);
    rows(name, type_of<T>(), 0, about.shape.empty() ? 1 : about.shape[0], values.data());
    return values;
  }
  std::vector<std::string> strings(const std::string& name) const;

  // Of the file; throws Error where it is missing or of another type.
  int64_t attribute_int(const std::string& name) const;
  uint64_t attribute_uint(const std::string& name) const;
  double attribute_double(const std::string& name) const;
  std::string attribute_text(const std::string& name) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rlgo::replay::h5
