#include <onnx/onnx_pb.h>

#include <set>

#include "core/base/error.h"
#include "core/onnx/onnx.h"
#include "core/onnx/proto.h"

namespace rlgo::onnx_io {
namespace fs = std::filesystem;

// Of models with external data the file itself is small: larger ones are not parsed.
int64_t stored_bytes(const fs::path& path) {
  constexpr int64_t kMostParsed = int64_t{64} << 20;
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return 0;
  auto bytes = static_cast<int64_t>(fs::file_size(path, error));
  if (bytes > kMostParsed) return bytes;
  onnx::ModelProto model;
  try {
    load_proto(path, model);
  } catch (const Error&) {
    return bytes;
  }
  std::set<std::string> locations;
  for (const auto& tensor : model.graph().initializer()) {
    for (const auto& entry : tensor.external_data()) {
      if (entry.key() != "location" || !locations.insert(entry.value()).second) continue;
      const auto more = fs::file_size(path.parent_path() / entry.value(), error);
      if (!error) bytes += static_cast<int64_t>(more);
    }
  }
  return bytes;
}

}  // namespace rlgo::onnx_io
