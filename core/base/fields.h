// Structs as bytes. A struct states its fields once, in the order of its bytes:
//   static constexpr std::string_view kName = "...";  // what errors call it
//   static void fields(auto& m, auto&& each) { each(m.first, m.second); }
// Flags are one byte; strings and lists are preceded by their length.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include "core/base/bytes.h"

namespace rlgo {

// One field as bytes: numbers as they are, bools as one byte, texts and vectors behind their length.
template <typename T>
void put_field(ByteWriter& writer, const T& field) {
  if constexpr (std::is_same_v<T, bool>) {
    writer.put<uint8_t>(field);
  } else if constexpr (std::is_same_v<T, std::string>) {
    writer.put_string(field);
  } else if constexpr (requires { typename T::value_type; }) {
    writer.put_vector(field);
  } else {
    writer.put(field);
  }
}

// A type whose values must be checked has an overload of its own, in its namespace.
template <typename T>
void get_field(ByteReader& reader, T& field) {
  if constexpr (std::is_same_v<T, bool>) {
    field = reader.get<uint8_t>() != 0;
  } else if constexpr (std::is_same_v<T, std::string>) {
    field = reader.get_string();
  } else if constexpr (requires { typename T::value_type; }) {
    field = reader.get_vector<typename T::value_type>();
  } else {
    field = reader.get<T>();
  }
}

// The fields of a struct as bytes, in the order of its fields().
template <typename Struct>
std::string write_fields(const Struct& from) {
  ByteWriter writer;
  Struct::fields(from, [&](const auto&... fields) { (put_field(writer, fields), ...); });
  return writer.take();
}

// Throws Error where bytes are missing, left over or malformed.
template <typename Struct>
Struct read_fields(std::string_view bytes) {
  try {
    ByteReader reader(bytes);
    Struct to;
    Struct::fields(to, [&](auto&... fields) { (get_field(reader, fields), ...); });
    if (!reader.done()) fail("bytes are left over");
    return to;
  } catch (const Error& error) {
    throw error.in(Struct::kName);
  }
}

}  // namespace rlgo
