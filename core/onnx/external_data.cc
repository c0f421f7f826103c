// Weights in files next to the model. A model may be somebody else's: a location may not lead out of its folder,
// neither by its text nor by links, and no more is read than the tensor's shape needs. No file is removed or replaced
// here: other models may read it.
#include "core/onnx/external_data.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <set>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/base/text.h"
#include "core/base/write_error.h"
#include "core/onnx/proto.h"

namespace rlgo::onnx_io {
namespace {

namespace fs = std::filesystem;

struct Place {
  std::string location;
  int64_t offset = 0;
  std::optional<int64_t> length;
};

Place place_of(const onnx::TensorProto& tensor) {
  Place place;
  for (const auto& entry : tensor.external_data()) {
    const auto number = parse_int(entry.value());
    if (entry.key() == "location") {
      place.location = entry.value();
    } else if (entry.key() == "offset" || entry.key() == "length") {
      if (!number || *number < 0)
        fail("tensor '{}': external data with {} '{}'", tensor.name(), entry.key(), entry.value());
      if (entry.key() == "offset") place.offset = *number;
      if (entry.key() == "length") place.length = *number;
    }
  }
  if (place.location.empty()) fail("tensor '{}': external data without a location", tensor.name());
  return place;
}

bool is_inside(const fs::path& file, const fs::path& folder) {
  const auto [end, rest] = std::mismatch(folder.begin(), folder.end(), file.begin(), file.end());
  return end == folder.end() && rest != file.end();
}

// Where the files of a model may lie: in its folder and, where the model is a link, in that of the file behind it. So
// do runtimes, and the cache of the Hugging Face hub has links to both the model and its weights.
struct Folders {
  explicit Folders(const fs::path& model) : named(model.has_parent_path() ? model.parent_path() : fs::path(".")) {
    std::error_code error;
    roots.push_back(fs::canonical(named, error));
    if (error) fail("folder {} cannot be read: {}", named.string(), error.message());
    const fs::path behind = fs::canonical(model, error).parent_path();
    if (!error && behind != roots[0]) roots.push_back(behind);
  }
  fs::path named;               // as the path of the model names it
  std::vector<fs::path> roots;  // without links: this folder, then that of the file behind the model
};

// The file behind a location, which must lie in one of the folders also after links are followed.
fs::path resolve(const std::string& location, const Folders& folders, const std::string& tensor) {
  const fs::path relative(location);
  const bool climbs = std::any_of(relative.begin(), relative.end(), [](const fs::path& part) { return part == ".."; });
  if (relative.is_absolute() || climbs || location.find('\0') != std::string::npos ||
      location.find('\\') != std::string::npos) {
    fail("tensor '{}': external data '{}' would lie outside the model's folder", tensor, location);
  }
  std::error_code error, missing;
  fs::path file = fs::canonical(folders.roots[0] / relative, missing);
  if (missing) file = fs::canonical(folders.roots.back() / relative, error);
  if (missing && error)
    fail("tensor '{}': external data file {} is missing: {}", tensor, (folders.named / relative).string(),
         missing.message());
  if (std::ranges::none_of(folders.roots, [&](const fs::path& root) { return is_inside(file, root); }))
    fail("tensor '{}': external data '{}' leads outside the model's folder", tensor, location);
  if (!fs::is_regular_file(file)) fail("tensor '{}': external data '{}' is not a file", tensor, location);
  return file;
}

// 4-bit elements lie two in a byte, 2-bit ones four.
int64_t stored_bytes(const onnx::TensorProto& tensor) {
  const auto type = tensor_type_of(tensor);
  if (type.dtype != ops::DType::other) return type.bytes();
  const int64_t count = type.elements();
  switch (tensor.data_type()) {
    case onnx::TensorProto::COMPLEX64:
      return count * 8;
    case onnx::TensorProto::COMPLEX128:
      return count * 16;
    case onnx::TensorProto::INT4:
    case onnx::TensorProto::UINT4:
    case onnx::TensorProto::FLOAT4E2M1:
      return count / 2 + count % 2;
    case onnx::TensorProto::INT2:
    case onnx::TensorProto::UINT2:
      return count / 4 + (count % 4 != 0);
    case onnx::TensorProto::FLOAT8E4M3FN:
    case onnx::TensorProto::FLOAT8E4M3FNUZ:
    case onnx::TensorProto::FLOAT8E5M2:
    case onnx::TensorProto::FLOAT8E5M2FNUZ:
    case onnx::TensorProto::FLOAT8E8M0:
      return count;
    default:
      fail("tensor '{}': elements of type {} cannot be stored as external data", tensor.name(), tensor.data_type());
  }
}

// Reads the contents of one tensor; returns the file that they are from.
fs::path load_tensor(onnx::TensorProto& tensor, const Folders& folders) {
  const Place place = place_of(tensor);
  const int64_t needed = stored_bytes(tensor);
  if (place.length && *place.length != needed) {
    fail("tensor '{}': {} bytes of external data, but its shape needs {}", tensor.name(), *place.length, needed);
  }
  fs::path file = resolve(place.location, folders, tensor.name());
  const auto available = static_cast<int64_t>(fs::file_size(file));
  if (place.offset > available || needed > available - place.offset) {
    fail("tensor '{}': external data file {} has {} bytes, but {} bytes at offset {} are needed", tensor.name(),
         file.string(), available, needed, place.offset);
  }
  std::ifstream stream(file, std::ios::binary);
  std::string bytes(static_cast<size_t>(needed), '\0');
  stream.seekg(place.offset);
  if (!stream.read(bytes.data(), needed) && needed > 0) fail("external data file {} cannot be read", file.string());
  tensor.clear_external_data();
  tensor.clear_data_location();
  tensor.set_raw_data(std::move(bytes));
  return file;
}

// Calls visit(tensor) for every tensor that is stored outside the message.
template <typename Visit>
class ExternalTensors {
 public:
  explicit ExternalTensors(Visit visit) : visit_(std::move(visit)) {}

  void model(onnx::ModelProto& model) {
    graph(*model.mutable_graph());
    for (auto& function : *model.mutable_functions()) nodes(*function.mutable_node());
  }

 private:
  void tensor(onnx::TensorProto& tensor) {
    if (tensor.data_location() == onnx::TensorProto::EXTERNAL) visit_(tensor);
  }
  void sparse(onnx::SparseTensorProto& sparse) {
    if (sparse.has_values()) tensor(*sparse.mutable_values());
    if (sparse.has_indices()) tensor(*sparse.mutable_indices());
  }
  void nodes(google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes) {
    for (auto& node : nodes) {
      for (auto& attribute : *node.mutable_attribute()) {
        if (attribute.has_t()) tensor(*attribute.mutable_t());
        if (attribute.has_g()) graph(*attribute.mutable_g());
        if (attribute.has_sparse_tensor()) sparse(*attribute.mutable_sparse_tensor());
        for (auto& one : *attribute.mutable_tensors()) tensor(one);
        for (auto& one : *attribute.mutable_sparse_tensors()) sparse(one);
        for (auto& one : *attribute.mutable_graphs()) graph(one);
      }
    }
  }
  void graph(onnx::GraphProto& graph) {
    for (auto& one : *graph.mutable_initializer()) tensor(one);
    for (auto& one : *graph.mutable_sparse_initializer()) sparse(one);
    nodes(*graph.mutable_node());
  }

  Visit visit_;
};

// Contents of tensors in the order of the file, each at a multiple of 64 bytes.
class DataFile {
 public:
  int64_t add(std::string bytes) {  // returns where they begin
    constexpr int64_t kAlignment = 64;
    const int64_t offset = (size_ + kAlignment - 1) / kAlignment * kAlignment;
    size_ = offset + static_cast<int64_t>(bytes.size());
    hash_ = hash_string(bytes, hash_);
    parts_.emplace_back(offset, std::move(bytes));
    return offset;
  }
  uint64_t hash() const { return hash_; }

  void write(const fs::path& temporary, const fs::path& path) const {
    std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
    for (const auto& [offset, bytes] : parts_) {
      const int64_t gap = offset - file.tellp();
      if (file) file << std::string(static_cast<size_t>(gap), '\0') << bytes;
    }
    if (!file.flush()) throw WriteError(fmt::format("{}: cannot be written: {}", path.string(), std::strerror(errno)));
  }
  // Whether that file holds the same already, and is no other name of a file elsewhere.
  bool is_in(const fs::path& path) const {
    std::error_code error;
    if (fs::symlink_status(path, error).type() != fs::file_type::regular || fs::hard_link_count(path, error) != 1 ||
        fs::file_size(path, error) != static_cast<uint64_t>(size_))
      return false;
    std::ifstream file(path, std::ios::binary);
    return std::ranges::all_of(parts_, [&](const auto& part) {
      std::string bytes(part.second.size(), '\0');
      return file.seekg(part.first) && file.read(bytes.data(), static_cast<std::streamsize>(bytes.size())) &&
             bytes == part.second;
    });
  }

 private:
  std::vector<std::pair<int64_t, std::string>> parts_;
  int64_t size_ = 0;
  uint64_t hash_ = 0;
};

}  // namespace

std::vector<fs::path> load_external_data(onnx::ModelProto& model, const fs::path& path) {
  std::optional<Folders> folders;  // most models need none
  std::set<fs::path> files;
  ExternalTensors([&](onnx::TensorProto& tensor) {
    if (!folders) folders.emplace(path);
    files.insert(load_tensor(tensor, *folders));
  }).model(model);
  return {files.begin(), files.end()};
}

std::vector<std::string> external_data_of(const fs::path& path) {
  onnx::ModelProto model;
  load_proto(path, model);
  std::set<std::string> locations;
  ExternalTensors([&](const onnx::TensorProto& tensor) { locations.insert(place_of(tensor).location); }).model(model);
  return {locations.begin(), locations.end()};
}

void set_external(onnx::TensorProto& tensor, const std::string& location, int64_t offset, size_t bytes) {
  const auto note = [&](const char* key, const std::string& value) {
    auto* entry = tensor.add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  };
  note("location", location);
  note("offset", std::to_string(offset));
  note("length", std::to_string(bytes));
  tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  tensor.clear_raw_data();
}

void store_external_data(onnx::ModelProto& model, const fs::path& model_path) {
  constexpr size_t kSmallestBytes = 1024;
  DataFile data;
  std::vector<onnx::StringStringEntryProto*> locations;
  for (auto& tensor : *model.mutable_graph()->mutable_initializer()) {
    if (tensor.raw_data().size() < kSmallestBytes) continue;
    const auto bytes = tensor.raw_data().size();
    set_external(tensor, "", data.add(std::move(*tensor.mutable_raw_data())), bytes);
    locations.push_back(tensor.mutable_external_data(0));
  }
  for (uint64_t number = data.hash();; ++number) {
    const std::string name = fmt::format("{}.{}.data", model_path.filename().string(), hex(number));
    const fs::path path = model_path.parent_path() / name;
    const auto write = [&](const fs::path& temporary) { data.write(temporary, path); };
    std::error_code error;
    const bool is_new = fs::symlink_status(path, error).type() == fs::file_type::not_found;
    if (is_new ? !atomic_create(path, write) : !data.is_in(path)) continue;  // another model's
    for (auto* location : locations) location->set_value(name);
    return;
  }
}

}  // namespace rlgo::onnx_io
