// Weights in files beside the model. A model may be somebody else's: a location may not lead out of its folder, neither
// by its text nor by links, and no more is read than the tensor's shape needs.
#include "core/onnx/external_data.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>

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

// The file behind a location, which must lie in the model's folder also after links are followed.
fs::path resolve(const std::string& location, const fs::path& folder, const std::string& tensor) {
  const fs::path relative(location);
  const bool climbs = std::any_of(relative.begin(), relative.end(), [](const fs::path& part) { return part == ".."; });
  if (relative.is_absolute() || climbs || location.find('\0') != std::string::npos ||
      location.find('\\') != std::string::npos) {
    fail("tensor '{}': external data '{}' would lie outside the model's folder", tensor, location);
  }
  std::error_code error;
  const fs::path root = fs::canonical(folder, error);
  if (error) fail("folder {} cannot be read: {}", folder.string(), error.message());
  fs::path file = fs::canonical(root / relative, error);
  if (error)
    fail("tensor '{}': external data file {} is missing: {}", tensor, (folder / relative).string(), error.message());
  if (!is_inside(file, root))
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

void load_tensor(onnx::TensorProto& tensor, const fs::path& folder) {
  if (tensor.data_location() != onnx::TensorProto::EXTERNAL) return;
  const Place place = place_of(tensor);
  const int64_t needed = stored_bytes(tensor);
  if (place.length && *place.length != needed) {
    fail("tensor '{}': {} bytes of external data, but its shape needs {}", tensor.name(), *place.length, needed);
  }
  const fs::path file = resolve(place.location, folder, tensor.name());
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
}

void load_graph(onnx::GraphProto& graph, const fs::path& folder);

void load_sparse(onnx::SparseTensorProto& sparse, const fs::path& folder) {
  if (sparse.has_values()) load_tensor(*sparse.mutable_values(), folder);
  if (sparse.has_indices()) load_tensor(*sparse.mutable_indices(), folder);
}

void load_node(onnx::NodeProto& node, const fs::path& folder) {
  for (auto& attribute : *node.mutable_attribute()) {
    if (attribute.has_t()) load_tensor(*attribute.mutable_t(), folder);
    if (attribute.has_g()) load_graph(*attribute.mutable_g(), folder);
    if (attribute.has_sparse_tensor()) load_sparse(*attribute.mutable_sparse_tensor(), folder);
    for (auto& tensor : *attribute.mutable_tensors()) load_tensor(tensor, folder);
    for (auto& sparse : *attribute.mutable_sparse_tensors()) load_sparse(sparse, folder);
    for (auto& graph : *attribute.mutable_graphs()) load_graph(graph, folder);
  }
}

void load_graph(onnx::GraphProto& graph, const fs::path& folder) {
  for (auto& tensor : *graph.mutable_initializer()) load_tensor(tensor, folder);
  for (auto& sparse : *graph.mutable_sparse_initializer()) load_sparse(sparse, folder);
  for (auto& node : *graph.mutable_node()) load_node(node, folder);
}

std::string data_prefix(const fs::path& model_path) { return model_path.filename().string() + "."; }
constexpr std::string_view kDataSuffix = ".data";
constexpr size_t kHashDigits = 16;

}  // namespace

void load_external_data(onnx::ModelProto& model, const fs::path& folder) {
  load_graph(*model.mutable_graph(), folder.empty() ? fs::path(".") : folder);
  for (auto& function : *model.mutable_functions()) {
    for (auto& node : *function.mutable_node()) load_node(node, folder.empty() ? fs::path(".") : folder);
  }
}

fs::path store_external_data(onnx::ModelProto& model, const fs::path& model_path) {
  constexpr size_t kSmallestBytes = 1024;
  constexpr int64_t kAlignment = 64;
  uint64_t hash = 0;
  for (const auto& tensor : model.graph().initializer()) hash = hash_string(tensor.raw_data(), hash);
  const std::string name = data_prefix(model_path) + hex(hash) + std::string(kDataSuffix);
  fs::path path = model_path.parent_path() / name;
  atomic_write(path, [&](const fs::path& temporary) {
    std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
    int64_t offset = 0;
    for (auto& tensor : *model.mutable_graph()->mutable_initializer()) {
      const auto& bytes = tensor.raw_data();
      if (bytes.size() < kSmallestBytes) continue;
      const std::string gap(static_cast<size_t>((kAlignment - offset % kAlignment) % kAlignment), '\0');
      offset += static_cast<int64_t>(gap.size());
      file << gap << bytes;
      const auto note = [&](const char* key, std::string value) {
        auto* entry = tensor.add_external_data();
        entry->set_key(key);
        entry->set_value(std::move(value));
      };
      note("location", name);
      note("offset", std::to_string(offset));
      note("length", std::to_string(bytes.size()));
      offset += static_cast<int64_t>(bytes.size());
      tensor.set_data_location(onnx::TensorProto::EXTERNAL);
      tensor.clear_raw_data();
    }
    if (!file.flush()) throw WriteError(fmt::format("{}: cannot be written: {}", path.string(), std::strerror(errno)));
  });
  return path;
}

void remove_old_external_data(const fs::path& model_path, const fs::path& keep) {
  const std::string prefix = data_prefix(model_path);
  const fs::path folder = model_path.has_parent_path() ? model_path.parent_path() : fs::path(".");
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.size() != prefix.size() + kHashDigits + kDataSuffix.size() || name == keep.filename().string()) continue;
    if (!name.starts_with(prefix) || !name.ends_with(kDataSuffix)) continue;
    const auto digits = std::string_view(name).substr(prefix.size(), kHashDigits);
    if (digits.find_first_not_of("0123456789abcdef") == std::string_view::npos) fs::remove(entry.path(), ignored);
  }
}

}  // namespace rlgo::onnx_io
