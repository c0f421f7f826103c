#include "replay/h5_support.h"

#include <hdf5.h>

#include <array>

namespace rlgo::replay::h5 {
namespace {

static_assert(std::is_same_v<hid_t, int64_t>, "HDF5 1.10 or newer");

struct TypeRow {
  std::string_view name;
  size_t bytes;
};
constexpr std::array<TypeRow, 10> kTypes = {{{"int8", 1},
                                             {"uint8", 1},
                                             {"int16", 2},
                                             {"uint16", 2},
                                             {"int32", 4},
                                             {"uint32", 4},
                                             {"int64", 8},
                                             {"uint64", 8},
                                             {"float32", 4},
                                             {"float64", 8}}};

herr_t keep_innermost(unsigned, const H5E_error2_t* error, void* out) {
  if (error->desc != nullptr && error->desc[0] != '\0') *static_cast<std::string*>(out) = error->desc;
  return 0;
}

}  // namespace

std::string_view name(Type type) { return kTypes[static_cast<size_t>(type)].name; }
size_t size_bytes(Type type) { return kTypes[static_cast<size_t>(type)].bytes; }

Handle& Handle::operator=(Handle&& other) noexcept {
  if (this != &other) {
    reset();
    id_ = other.id_;
    close_ = other.close_;
    other.id_ = -1;
  }
  return *this;
}

void Handle::reset() {
  if (id_ >= 0) close_(id_);
  id_ = -1;
}

void silence() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

bool has_threads() {
  hbool_t safe = false;
  return H5is_library_threadsafe(&safe) >= 0 && safe;
}

std::string describe_failure() {
  std::string reason;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, keep_innermost, &reason);
  H5Eclear2(H5E_DEFAULT);
  return reason.empty() ? "no reason given" : reason;
}

void fail_h5(const std::string& file, const std::string& name, const std::string& what) {
  fail("{}: '{}': {}: {}", file, name, what, describe_failure());
}

int64_t native_type(Type type) {
  switch (type) {
    case Type::i8:
      return H5T_NATIVE_INT8;
    case Type::u8:
      return H5T_NATIVE_UINT8;
    case Type::i16:
      return H5T_NATIVE_INT16;
    case Type::u16:
      return H5T_NATIVE_UINT16;
    case Type::i32:
      return H5T_NATIVE_INT32;
    case Type::u32:
      return H5T_NATIVE_UINT32;
    case Type::i64:
      return H5T_NATIVE_INT64;
    case Type::u64:
      return H5T_NATIVE_UINT64;
    case Type::f32:
      return H5T_NATIVE_FLOAT;
    case Type::f64:
      return H5T_NATIVE_DOUBLE;
  }
  fail("no HDF5 type {}", static_cast<int>(type));
}

int64_t stored_type(Type type) {
  switch (type) {
    case Type::i8:
      return H5T_STD_I8LE;
    case Type::u8:
      return H5T_STD_U8LE;
    case Type::i16:
      return H5T_STD_I16LE;
    case Type::u16:
      return H5T_STD_U16LE;
    case Type::i32:
      return H5T_STD_I32LE;
    case Type::u32:
      return H5T_STD_U32LE;
    case Type::i64:
      return H5T_STD_I64LE;
    case Type::u64:
      return H5T_STD_U64LE;
    case Type::f32:
      return H5T_IEEE_F32LE;
    case Type::f64:
      return H5T_IEEE_F64LE;
  }
  fail("no HDF5 type {}", static_cast<int>(type));
}

int64_t string_type(size_t size) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, size == 0 ? 1 : size);
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

Handle type_handle(int64_t id) { return {id, H5Tclose}; }
Handle space_handle(int64_t id) { return {id, H5Sclose}; }
Handle property_handle(int64_t id) { return {id, H5Pclose}; }
Handle dataset_handle(int64_t id) { return {id, H5Dclose}; }
Handle attribute_handle(int64_t id) { return {id, H5Aclose}; }
Handle file_handle(int64_t id) { return {id, H5Fclose}; }

}  // namespace rlgo::replay::h5
