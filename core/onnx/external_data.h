// Weights that a model keeps in files next to it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace onnx {
class ModelProto;
class TensorProto;
}  // namespace onnx

namespace rlgo::onnx_io {

// Reads every externally stored tensor of the model (initialisers, attributes, subgraphs, functions) into the message,
// and returns the files that they were in. `path` is the model's. A location outside its folder (absolute, "..",
// through a link), a missing file, or one that is too short throws Error; where the model itself is a link, files in
// the folder of what it points to are taken, too.
std::vector<std::filesystem::path> load_external_data(onnx::ModelProto& model, const std::filesystem::path& path);

// Reports that the contents of a tensor are in a file of the model's folder, so many bytes from `offset` on.
void set_external(onnx::TensorProto& tensor, const std::string& location, int64_t offset, size_t bytes);

// Moves the contents of initialisers of at least 1 KiB into a new file next to `model_path`, whose name carries a hash
// of the contents (so that an older model keeps its own file). A file of that name that holds something else stays, and
// another name is taken.
void store_external_data(onnx::ModelProto& model, const std::filesystem::path& model_path);

}  // namespace rlgo::onnx_io
