// Weights that a model keeps in files beside it.
#pragma once

#include <cstdint>
#include <filesystem>

namespace onnx {
class ModelProto;
}

namespace rlgo::onnx_io {

// Reads every externally stored tensor of the model (initialisers, attributes, subgraphs, functions) into the message.
// `folder` is the model's; a location outside it (absolute, "..", through a link), a missing file, or one that is too
// short throws Error.
void load_external_data(onnx::ModelProto& model, const std::filesystem::path& folder);

// Moves the contents of initialisers of at least 1 KiB into a new file beside `model_path`, whose name carries a hash
// of the contents (so that an older model keeps its own file). Returns that file's path.
std::filesystem::path store_external_data(onnx::ModelProto& model, const std::filesystem::path& model_path);
// Removes data files of earlier versions of `model_path` that store_external_data has made, except `keep`.
void remove_old_external_data(const std::filesystem::path& model_path, const std::filesystem::path& keep);

}  // namespace rlgo::onnx_io
