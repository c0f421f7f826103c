#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>

#include "core/base/file.h"
#include "replay/checksum.h"
#include "replay/h5_support.h"

namespace rlgo::replay::h5 {
namespace {

constexpr size_t kGrowthBytes = 4096;  // of the file in memory; zero bytes may be left at its end, up to as many

// The memory behind HDF5's in-memory file driver. It outlives the HDF5 file, so that the finished image can be taken
// without a copy (H5Fget_file_image of 1.10 returns images with a wrong superblock checksum).
struct Image {
  void* data = nullptr;
  size_t bytes = 0;     // of the file
  size_t capacity = 0;  // doubled when it runs out: the file grows by kGrowthBytes each time
  ~Image() { std::free(data); }
};

void* image_malloc(size_t size, H5FD_file_image_op_t, void*) { return std::malloc(size); }
void* image_memcpy(void* to, const void* from, size_t size, H5FD_file_image_op_t, void*) {
  return std::memcpy(to, from, size);
}
void* image_realloc(void* old, size_t size, H5FD_file_image_op_t, void* user) {
  auto* image = static_cast<Image*>(user);
  if (size > image->capacity) {
    const size_t capacity = std::max(size, 2 * image->capacity);
    void* data = std::realloc(old, capacity);
    if (data == nullptr) return nullptr;
    image->data = data;
    image->capacity = capacity;
  }
  image->bytes = size;
  return image->data;
}
herr_t image_free(void*, H5FD_file_image_op_t, void*) { return 0; }  // kept: Image owns it
void* share_user(void* user) { return user; }
herr_t keep_user(void*) { return 0; }

}  // namespace

struct Writer::Impl {
  struct Dataset {
    Handle handle;
    Type type;
    uint64_t width;
    uint64_t rows;
  };
  std::string label;
  std::unique_ptr<Image> image = std::make_unique<Image>();
  Handle file;
  std::map<std::string, Dataset> appended;
  std::string finished;  // the whole file, once closed

  explicit Impl(std::string text) : label(std::move(text)) {
    silence();
    const Handle access = property_handle(H5Pcreate(H5P_FILE_ACCESS));
    const Handle create = property_handle(H5Pcreate(H5P_FILE_CREATE));
    H5FD_file_image_callbacks_t callbacks{image_malloc, image_memcpy, image_realloc, image_free,
                                          share_user,   keep_user,    image.get()};
    const bool ready = H5Pset_libver_bounds(access.id(), H5F_LIBVER_V110, H5F_LIBVER_V110) >= 0 &&
                       H5Pset_fapl_core(access.id(), kGrowthBytes, 0) >= 0 &&
                       H5Pset_file_image_callbacks(access.id(), &callbacks) >= 0 &&
                       H5Pset_userblock(create.id(), kChecksumBytes) >= 0 &&
                       H5Pset_obj_track_times(create.id(), 0) >= 0;  // of the root group
    // Two files in memory must not have one name; nothing of that name is made on disk.
    const std::string unique = fmt::format("{} {}", label, static_cast<const void*>(this));
    if (ready) file = file_handle(H5Fcreate(unique.c_str(), H5F_ACC_TRUNC, create.id(), access.id()));
    if (!file) fail_h5(label, "/", "cannot create a file in memory");
  }

  int64_t link_properties() const {
    const hid_t links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    return links;
  }
  Handle create(const std::string& name, int64_t type, const Handle& space, const Handle& properties) const {
    if (!file) fail("{}: written already", label);
    const Handle links = property_handle(link_properties());
    H5Pset_obj_track_times(properties.id(), 0);  // files depend on their contents alone
    Handle made =
        dataset_handle(H5Dcreate2(file.id(), name.c_str(), type, space.id(), links.id(), properties.id(), H5P_DEFAULT));
    if (!made) fail_h5(label, name, "cannot create");
    return made;
  }
  Dataset& dataset(const std::string& name, Type type, uint64_t width, uint64_t rows, const Filters& filters);
  void finish();
};

Writer::Impl::Dataset& Writer::Impl::dataset(const std::string& name, Type type, uint64_t width, uint64_t rows,
                                             const Filters& filters) {
  if (auto found = appended.find(name); found != appended.end()) {
    if (found->second.type != type || found->second.width != width)
      fail("{}: '{}': appended to with another type or width", label, name);
    return found->second;
  }
  const int rank = width == 0 ? 1 : 2;
  const uint64_t row_bytes = size_bytes(type) * std::max<uint64_t>(width, 1);
  const uint64_t most_rows = std::max<uint64_t>(filters.chunk_bytes / row_bytes, 1);
  const std::array<hsize_t, 2> none = {0, width};
  const std::array<hsize_t, 2> most = {H5S_UNLIMITED, width};
  const std::array<hsize_t, 2> chunk = {std::clamp<uint64_t>(rows, 1, most_rows), width};
  const Handle space = space_handle(H5Screate_simple(rank, none.data(), most.data()));
  const Handle properties = property_handle(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_chunk(properties.id(), rank, chunk.data());
  if (filters.gzip > 0 && filters.shuffle) H5Pset_shuffle(properties.id());
  if (filters.gzip > 0) H5Pset_deflate(properties.id(), static_cast<unsigned>(filters.gzip));
  H5Pset_fletcher32(properties.id());
  return appended.emplace(name, Dataset{create(name, stored_type(type), space, properties), type, width, 0})
      .first->second;
}

void Writer::Impl::finish() {
  if (!file) return;
  appended.clear();
  if (H5Fclose(file.release()) < 0) fail_h5(label, "/", "cannot finish");
  finished.assign(static_cast<const char*>(image->data), image->bytes);
  image.reset();
}

Writer::Writer(std::string label) : impl_(std::make_unique<Impl>(std::move(label))) {}
Writer::~Writer() = default;
Writer::Writer(Writer&&) noexcept = default;
Writer& Writer::operator=(Writer&&) noexcept = default;

void Writer::append(const std::string& name, Type type, uint64_t width, uint64_t rows, const void* data,
                    const Filters& filters) {
  auto& target = impl_->dataset(name, type, width, rows, filters);
  if (rows == 0) return;
  const int rank = width == 0 ? 1 : 2;
  const std::array<hsize_t, 2> start = {target.rows, 0};
  const std::array<hsize_t, 2> count = {rows, width};
  const std::array<hsize_t, 2> extent = {target.rows + rows, width};
  bool done = H5Dset_extent(target.handle.id(), extent.data()) >= 0;
  const Handle memory = space_handle(H5Screate_simple(rank, count.data(), nullptr));
  const Handle disk = space_handle(H5Dget_space(target.handle.id()));
  done = done && H5Sselect_hyperslab(disk.id(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) >= 0 &&
         H5Dwrite(target.handle.id(), native_type(type), memory.id(), disk.id(), H5P_DEFAULT, data) >= 0;
  if (!done) fail_h5(impl_->label, name, "cannot append");
  target.rows += rows;
}

void Writer::put(const std::string& name, Type type, std::span<const uint64_t> shape, const void* data) {
  const std::vector<hsize_t> dims(shape.begin(), shape.end());
  const Handle space = space_handle(
      dims.empty() ? H5Screate(H5S_SCALAR) : H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr));
  if (!space) fail_h5(impl_->label, name, "shape not possible");
  const Handle made = impl_->create(name, stored_type(type), space, property_handle(H5Pcreate(H5P_DATASET_CREATE)));
  if (std::count(dims.begin(), dims.end(), hsize_t{0}) > 0) return;
  if (H5Dwrite(made.id(), native_type(type), H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0)
    fail_h5(impl_->label, name, "cannot write");
}

void Writer::put_strings(const std::string& name, std::span<const std::string> values) {
  size_t width = 1;
  for (const auto& value : values) {
    if (value.find('\0') != std::string::npos)
      fail("{}: '{}': a string with a zero byte cannot be stored", impl_->label, name);
    width = std::max(width, value.size());
  }
  std::string flat;
  flat.reserve(width * values.size());
  for (const auto& value : values) flat.append(value).append(width - value.size(), '\0');
  const Handle type = type_handle(string_type(width));
  const hsize_t count = values.size();
  const Handle space = space_handle(H5Screate_simple(1, &count, nullptr));
  const Handle made = impl_->create(name, type.id(), space, property_handle(H5Pcreate(H5P_DATASET_CREATE)));
  if (count > 0 && H5Dwrite(made.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, flat.data()) < 0) {
    fail_h5(impl_->label, name, "cannot write");
  }
}

namespace {

void write_attribute(int64_t file, const std::string& label, const std::string& name, int64_t disk_type,
                     int64_t memory_type, const void* data) {
  const Handle space = space_handle(H5Screate(H5S_SCALAR));
  const Handle made = attribute_handle(
      H5Acreate_by_name(file, "/", name.c_str(), disk_type, space.id(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  if (!made || H5Awrite(made.id(), memory_type, data) < 0) fail_h5(label, name, "cannot write the attribute");
}

}  // namespace

void Writer::attribute(const std::string& name, int64_t value) {
  write_attribute(impl_->file.id(), impl_->label, name, H5T_STD_I64LE, H5T_NATIVE_INT64, &value);
}
void Writer::attribute(const std::string& name, uint64_t value) {
  write_attribute(impl_->file.id(), impl_->label, name, H5T_STD_U64LE, H5T_NATIVE_UINT64, &value);
}
void Writer::attribute(const std::string& name, double value) {
  write_attribute(impl_->file.id(), impl_->label, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value);
}
void Writer::attribute(const std::string& name, std::string_view value) {
  if (value.find('\0') != std::string_view::npos)
    fail("{}: attribute '{}': a string with a zero byte cannot be stored", impl_->label, name);
  const Handle type = type_handle(string_type(value.size()));
  const std::string data = value.empty() ? std::string(1, '\0') : std::string(value);
  write_attribute(impl_->file.id(), impl_->label, name, type.id(), type.id(), data.data());
}

uint64_t Writer::save(const std::filesystem::path& path, std::string_view kind) {
  impl_->finish();
  add_checksum(impl_->finished, kind);
  atomic_write(path, impl_->finished);
  const uint64_t bytes = impl_->finished.size();
  impl_.reset();
  return bytes;
}

uint64_t Writer::create(const std::filesystem::path& path, std::string_view kind) {
  impl_->finish();
  add_checksum(impl_->finished, kind);
  if (!atomic_create(path, impl_->finished)) return 0;
  const uint64_t bytes = impl_->finished.size();
  impl_.reset();
  return bytes;
}

}  // namespace rlgo::replay::h5
