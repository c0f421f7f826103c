// Protobuf messages of ONNX <-> files, element types, tensor types and bytes. Implementation files of core/onnx only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "core/ops/types.h"

namespace onnx {
class AttributeProto;
class GraphProto;
class ModelProto;
class NodeProto;
class TensorProto;
class TypeProto;
class ValueInfoProto;
}  // namespace onnx

namespace rlgo::onnx_io {

// No single value of a model may be larger: sizes in a file are claims, and nothing can run such a model anyway.
constexpr int64_t kMaxValueBytes = int64_t{1} << 40;

// Parses a model file. Throws Error (with the path) where it is missing, a folder, empty, damaged or something else.
void load_proto(const std::filesystem::path& path, onnx::ModelProto& model);
// Atomically; `verify` gets the written file before it has its name, and may throw. Throws Error where the message
// exceeds protobuf's 2 GiB or the disk is full.
void save_proto(const onnx::ModelProto& model, const std::filesystem::path& path,
                const std::function<void(const std::filesystem::path&)>& verify = {});

// DType::other for element types that rlgo does not compute with.
ops::DType dtype_of(int32_t onnx_type);

// Larger than kMaxValueBytes, also where a zero elsewhere hides it. Unknown extents count as 1.
bool is_absurd(const ops::TensorType& type);

// Shape and element type of a stored tensor. Throws Error where a dimension is negative or the product too large.
ops::TensorType tensor_type_of(const onnx::TensorProto& tensor);
// Static, partly known or unranked; `other` and unranked where it is no tensor.
ops::TensorType type_of(const onnx::TypeProto& type);
// Without what a graph declares of the shapes of its outputs and of values inside, and with `inputs` of its inputs.
void forget_shapes(onnx::GraphProto& graph, bool inputs);
// The same of the bodies of an operator at any depth, their inputs included.
void forget_shapes_in_bodies(onnx::NodeProto& node);
// Static types only.
void set_type(onnx::TypeProto& proto, const ops::TensorType& type);

// Moves the contents out as raw little-endian bytes. The element type must be one of rlgo's, the data inside the
// message. Throws Error where the stored data do not fit the shape.
std::string take_bytes(onnx::TensorProto& tensor);
// As take_bytes, from a copy.
std::string copy_bytes(const onnx::TensorProto& tensor);
// Throws Error where the stored data do not fit the shape; element types that rlgo does not know pass.
void check_tensor_data(const onnx::TensorProto& tensor);
// Fills a message from raw bytes.
void set_tensor(onnx::TensorProto& tensor, std::string_view name, const ops::TensorType& type, std::string bytes);

// What a tensor states for people and tools (doc_string, metadata_props), as a tensor with nothing else; "" where none.
std::string notes_of(const onnx::TensorProto& tensor);
// The same of a Constant, whose tensor's come first.
std::string notes_of(const onnx::NodeProto& constant, const onnx::TensorProto& tensor);
void add_notes(onnx::TensorProto& tensor, const std::string& notes);

// Constant's shorthand attributes (value_int, value_floats, ...) as a tensor; false where it is none of them.
bool tensor_of_shorthand(const onnx::AttributeProto& attribute, onnx::TensorProto& tensor);
// Infinite numbers in a node's attributes, those of its subgraphs included (graph/blob.h).
uint8_t infinities_of(const onnx::NodeProto& node);

// "node 'conv1' (Conv)", or "node (Conv) that makes 'y'" for one without a name.
std::string describe(const onnx::NodeProto& node);
// The operator with its domain: "Conv", "com.microsoft.FusedConv".
std::string full_op(const onnx::NodeProto& node);
// ai.onnx, under either of its names.
bool is_standard_domain(std::string_view domain);

}  // namespace rlgo::onnx_io
