#include <hdf5.h>

#include <map>

#include "replay/checksum.h"
#include "replay/h5_support.h"

namespace rlgo::replay::h5 {

struct Reader::Impl {
  std::filesystem::path path;
  Handle file;
  mutable std::map<std::string, Handle> open;  // datasets stay open: their chunk caches serve the next read

  int64_t dataset(const std::string& name) const {
    if (const auto found = open.find(name); found != open.end()) return found->second.id();
    Handle opened = dataset_handle(H5Dopen2(file.id(), name.c_str(), H5P_DEFAULT));
    if (!opened) fail_h5(path.string(), name, "cannot open");
    return open.emplace(name, std::move(opened)).first->second.id();
  }
  // A scalar of that class (H5T_INTEGER, ...) and of at most so many bytes.
  Handle open_attribute(const std::string& name, int type_class, size_t most_bytes) const {
    Handle opened = attribute_handle(H5Aopen_by_name(file.id(), "/", name.c_str(), H5P_DEFAULT, H5P_DEFAULT));
    if (!opened) fail_h5(path.string(), name, "no such attribute");
    const Handle type = type_handle(H5Aget_type(opened.id()));
    const Handle space = space_handle(H5Aget_space(opened.id()));
    if (!type || !space) fail_h5(path.string(), name, "cannot read the attribute");
    if (H5Sget_simple_extent_type(space.id()) != H5S_SCALAR || H5Tget_class(type.id()) != type_class ||
        H5Tis_variable_str(type.id()) > 0 || H5Tget_size(type.id()) > most_bytes) {
      fail("{}: attribute '{}': not a single {}", path.string(), name,
           type_class == H5T_STRING ? "text of fixed length" : "number");
    }
    return opened;
  }
  void number(const std::string& name, int type_class, int64_t type, void* out) const {
    const Handle opened = open_attribute(name, type_class, sizeof(int64_t));
    if (H5Aread(opened.id(), type, out) < 0) fail_h5(path.string(), name, "cannot read the attribute");
  }

  // Bytes of all elements. A file may claim any size, and a chunk may inflate to a thousand times what is stored of it:
  // more than that is not there.
  uint64_t checked_bytes(const std::string& name, std::span<const hsize_t> dims, uint64_t element_bytes) const {
    constexpr uint64_t kMostInflation = 1100;  // deflate ends at 1032
    uint64_t bytes = element_bytes;
    bool fits = true;
    for (const hsize_t dim : dims) fits = fits && !__builtin_mul_overflow(bytes, dim, &bytes);
    const uint64_t stored = H5Dget_storage_size(dataset(name));
    if (!fits || bytes / kMostInflation > stored)
      fail("{}: '{}': its shape asks for more than the {} bytes that are stored of it", path.string(), name, stored);
    return bytes;
  }
};

Reader::Reader(std::filesystem::path path, std::string_view kind, bool checked_already)
    : impl_(std::make_unique<Impl>()) {
  impl_->path = std::move(path);
  if (!checked_already) verify_checksum(impl_->path, kind);
  silence();
  const Handle access = property_handle(H5Pcreate(H5P_FILE_ACCESS));
  H5Pset_file_locking(access.id(), false, true);  // files never change: no locks, which some network file systems lack
  impl_->file = file_handle(H5Fopen(impl_->path.c_str(), H5F_ACC_RDONLY, access.id()));
  if (!impl_->file) fail("{}: cannot open: {}", impl_->path.string(), describe_failure());
}
Reader::~Reader() = default;
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;

const std::filesystem::path& Reader::path() const { return impl_->path; }

bool Reader::has(const std::string& name) const {
  const bool found = H5Lexists(impl_->file.id(), name.c_str(), H5P_DEFAULT) > 0;
  H5Eclear2(H5E_DEFAULT);  // a missing group on the way is an error to HDF5, and just an answer here
  return found;
}

Info Reader::info(const std::string& name) const {
  const int64_t id = impl_->dataset(name);
  const Handle type = type_handle(H5Dget_type(id));
  const Handle space = space_handle(H5Dget_space(id));
  const int rank = H5Sget_simple_extent_ndims(space.id());
  if (!type || rank < 0) fail_h5(impl_->path.string(), name, "cannot read type and shape");
  std::vector<hsize_t> dims(static_cast<size_t>(rank));
  if (rank > 0) H5Sget_simple_extent_dims(space.id(), dims.data(), nullptr);
  impl_->checked_bytes(name, dims, H5Tget_size(type.id()));
  for (int i = 0; i <= static_cast<int>(Type::f64); ++i) {
    if (H5Tequal(type.id(), stored_type(static_cast<Type>(i))) > 0)
      return {static_cast<Type>(i), {dims.begin(), dims.end()}};
  }
  fail("{}: '{}': not an array of little-endian numbers", impl_->path.string(), name);
}

void Reader::rows(const std::string& name, Type type, uint64_t first, uint64_t count, void* out) const {
  const Info about = info(name);
  const auto file = impl_->path.string();
  if (about.type != type) fail("{}: '{}': holds {}, not {}", file, name, h5::name(about.type), h5::name(type));
  const uint64_t size = about.shape.empty() ? 1 : about.shape[0];
  if (first > size || count > size - first)
    fail("{}: '{}': rows {} to {} of {}", file, name, first, first + count, size);
  const int64_t id = impl_->dataset(name);
  bool done = true;
  if (about.shape.empty()) {
    done = count == 0 || H5Dread(id, native_type(type), H5S_ALL, H5S_ALL, H5P_DEFAULT, out) >= 0;
  } else {
    std::vector<hsize_t> start(about.shape.size(), 0);
    std::vector<hsize_t> extent(about.shape.begin(), about.shape.end());
    start[0] = first;
    extent[0] = count;
    for (const auto dim : extent) {
      if (dim == 0) return;
    }
    const Handle memory = space_handle(H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr));
    const Handle disk = space_handle(H5Dget_space(id));
    done = H5Sselect_hyperslab(disk.id(), H5S_SELECT_SET, start.data(), nullptr, extent.data(), nullptr) >= 0 &&
           H5Dread(id, native_type(type), memory.id(), disk.id(), H5P_DEFAULT, out) >= 0;
  }
  if (!done) fail_h5(file, name, "cannot read");
}

std::vector<std::string> Reader::strings(const std::string& name) const {
  const int64_t id = impl_->dataset(name);
  const Handle type = type_handle(H5Dget_type(id));
  const Handle space = space_handle(H5Dget_space(id));
  const auto file = impl_->path.string();
  if (!type || !space) fail_h5(file, name, "cannot read type and shape");
  if (H5Tget_class(type.id()) != H5T_STRING || H5Tis_variable_str(type.id()) > 0 ||
      H5Sget_simple_extent_ndims(space.id()) != 1) {
    fail("{}: '{}': not a list of fixed-length strings", file, name);
  }
  hsize_t count = 0;
  H5Sget_simple_extent_dims(space.id(), &count, nullptr);
  const size_t width = H5Tget_size(type.id());
  std::string flat(impl_->checked_bytes(name, {&count, 1}, width), '\0');
  if (count > 0 && H5Dread(id, type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, flat.data()) < 0)
    fail_h5(file, name, "cannot read");
  std::vector<std::string> values;
  for (size_t i = 0; i < count; ++i) {
    const std::string value = flat.substr(i * width, width);
    values.push_back(value.substr(0, value.find('\0')));
  }
  return values;
}

int64_t Reader::attribute_int(const std::string& name) const {
  int64_t value = 0;
  impl_->number(name, H5T_INTEGER, H5T_NATIVE_INT64, &value);
  return value;
}
uint64_t Reader::attribute_uint(const std::string& name) const {
  uint64_t value = 0;
  impl_->number(name, H5T_INTEGER, H5T_NATIVE_UINT64, &value);
  return value;
}
double Reader::attribute_double(const std::string& name) const {
  double value = 0;
  impl_->number(name, H5T_FLOAT, H5T_NATIVE_DOUBLE, &value);
  return value;
}

std::string Reader::attribute_text(const std::string& name) const {
  constexpr size_t kLongest = 1 << 20;
  const Handle opened = impl_->open_attribute(name, H5T_STRING, kLongest);
  const Handle type = type_handle(H5Aget_type(opened.id()));
  std::string value(H5Tget_size(type.id()), '\0');
  if (H5Aread(opened.id(), type.id(), value.data()) < 0)
    fail_h5(impl_->path.string(), name, "cannot read the attribute");
  return value.substr(0, value.find('\0'));
}

}  // namespace rlgo::replay::h5
