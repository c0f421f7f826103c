// Open dimensions of a model's inputs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/onnx/onnx.h"

namespace onnx {
class ModelProto;
class ValueInfoProto;
}  // namespace onnx

namespace rlgo::onnx_io {

// Writes the given sizes (by symbolic name, or "input:axis") into the declarations of inputs and outputs, and forgets
// value infos, which may differ. Throws Error for a size that binds nothing, is negative, or contradicts the
// file.
void bind_dims(onnx::ModelProto& model, const std::map<std::string, int64_t>& dims);
// The same sizes, "input:axis" of a dimension with a symbolic name under that name. Throws Error where two sizes of one
// dimension differ.
std::map<std::string, int64_t> by_name(const onnx::ModelProto& model, const std::map<std::string, int64_t>& dims);
// The name that an open dimension of an input goes by: its symbolic name ("batch"), else "input:axis".
std::string dim_name(const onnx::ValueInfoProto& input, int axis);
// Whether it has a symbolic name.
bool is_named_dim(const onnx::ValueInfoProto& input, int axis);
// Forgets sizes of -1 in the declarations of the main graph, which some exporters write for open dimensions. Shows
// whether there were any.
bool open_negative_dims(onnx::ModelProto& model);
// Each dimension of a graph input that is still open.
std::vector<OpenDim> open_dims(const onnx::ModelProto& model);
// "batch (input 'x', axis 0)" for each of them, each symbolic name once.
std::vector<std::string> open_dims_text(const onnx::ModelProto& model);

}  // namespace rlgo::onnx_io
