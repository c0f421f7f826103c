#include "core/onnx/proto.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/stubs/logging.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <limits>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/write_error.h"
#include "core/graph/infinities.h"

namespace rlgo::onnx_io {
namespace {

constexpr uint64_t kMaxProtoBytes = std::numeric_limits<int32_t>::max();

void check_file(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) fail("{}: no such file", path.string());
  if (error) fail("{}: cannot be read: {}", path.string(), error.message());
  if (std::filesystem::is_directory(status)) fail("{}: is a folder, not an ONNX model", path.string());
  if (!std::filesystem::is_regular_file(status)) fail("{}: is not a regular file", path.string());
  const auto size = std::filesystem::file_size(path, error);
  if (error) fail("{}: cannot be read: {}", path.string(), error.message());
  if (size == 0) fail("{}: is empty", path.string());
  if (size > kMaxProtoBytes) {
    fail("{}: has {} bytes; an ONNX file ends at 2 GiB (larger models keep their weights as external data)",
         path.string(), size);
  }
}

template <typename To, typename From>
std::string narrow(const From& field) {
  std::string bytes(field.size() * sizeof(To), '\0');
  for (int i = 0; i < field.size(); ++i) {
    const To value = static_cast<To>(field.Get(i));
    std::memcpy(bytes.data() + static_cast<size_t>(i) * sizeof(To), &value, sizeof(To));
  }
  return bytes;
}

// The typed field that holds the elements, as raw bytes; empty where there is none.
std::string typed_bytes(const onnx::TensorProto& tensor, ops::DType dtype) {
  using ops::DType;
  switch (dtype) {
    case DType::f32:
      return narrow<float>(tensor.float_data());
    case DType::f64:
      return narrow<double>(tensor.double_data());
    case DType::i64:
      return narrow<int64_t>(tensor.int64_data());
    case DType::u32:
      return narrow<uint32_t>(tensor.uint64_data());
    case DType::u64:
      return narrow<uint64_t>(tensor.uint64_data());
    case DType::i32:
      return narrow<int32_t>(tensor.int32_data());
    case DType::i16:
      return narrow<int16_t>(tensor.int32_data());
    case DType::u16:
    case DType::f16:
    case DType::bf16:
      return narrow<uint16_t>(tensor.int32_data());
    case DType::i8:
      return narrow<int8_t>(tensor.int32_data());
    case DType::u8:
    case DType::boolean:
      return narrow<uint8_t>(tensor.int32_data());
    case DType::other:
      break;
  }
  fail("tensor '{}' has an element type that is not handled here", tensor.name());
}

void check_size(const onnx::TensorProto& tensor, const ops::TensorType& type, uint64_t bytes) {
  if (bytes == static_cast<uint64_t>(type.bytes())) return;
  fail("tensor '{}': {} bytes of data, but its shape {} needs {}", tensor.name(), bytes, ops::to_string(type),
       type.bytes());
}

std::string checked_bytes(const onnx::TensorProto& tensor, const ops::TensorType& type, std::string bytes) {
  check_size(tensor, type, bytes.size());
  return bytes;
}

}  // namespace

void load_proto(const std::filesystem::path& path, onnx::ModelProto& model) {
  check_file(path);
  std::ifstream file(path, std::ios::binary);
  if (!file) fail("{}: cannot be opened: {}", path.string(), std::strerror(errno));
  const google::protobuf::LogSilencer silence;
  constexpr int kBlockBytes = 1 << 20;
  google::protobuf::io::IstreamInputStream stream(&file, kBlockBytes);
  google::protobuf::io::CodedInputStream coded(&stream);
  coded.SetTotalBytesLimit(std::numeric_limits<int>::max());
  if (!model.ParseFromCodedStream(&coded) || !coded.ConsumedEntireMessage()) {
    fail("{}: is not an ONNX model, or is damaged (truncated, or nested too deeply)", path.string());
  }
}

void save_proto(const onnx::ModelProto& model, const std::filesystem::path& path,
                const std::function<void(const std::filesystem::path&)>& verify) {
  if (model.ByteSizeLong() > kMaxProtoBytes) {
    fail("{}: the model would have {} bytes, more than an ONNX file can hold", path.string(), model.ByteSizeLong());
  }
  const google::protobuf::LogSilencer silence;
  atomic_write(path, [&](const std::filesystem::path& temporary) {
    std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
    if (!file || !model.SerializeToOstream(&file) || !file.flush()) {
      throw WriteError(fmt::format("{}: cannot be written: {}", path.string(), std::strerror(errno)));
    }
    file.close();
    if (verify) verify(temporary);
  });
}

ops::DType dtype_of(int32_t onnx_type) {
  switch (static_cast<ops::DType>(onnx_type)) {
    case ops::DType::f32:
    case ops::DType::u8:
    case ops::DType::i8:
    case ops::DType::u16:
    case ops::DType::i16:
    case ops::DType::i32:
    case ops::DType::i64:
    case ops::DType::boolean:
    case ops::DType::f16:
    case ops::DType::f64:
    case ops::DType::u32:
    case ops::DType::u64:
    case ops::DType::bf16:
      return onnx_type > 0 && onnx_type < 256 ? static_cast<ops::DType>(onnx_type) : ops::DType::other;
    default:
      return ops::DType::other;
  }
}

bool is_absurd(const ops::TensorType& type) {
  int64_t bytes = std::max<int64_t>(ops::size_bytes(type.dtype), 1);
  for (int64_t extent : type.shape) {
    if (__builtin_mul_overflow(bytes, std::max<int64_t>(extent, 1), &bytes) || bytes > kMaxValueBytes) return true;
  }
  return false;
}

ops::TensorType tensor_type_of(const onnx::TensorProto& tensor) {
  ops::TensorType type(dtype_of(tensor.data_type()), {});
  for (int64_t extent : tensor.dims()) {
    if (extent < 0) fail("tensor '{}': dimension {} is negative", tensor.name(), extent);
    type.shape.push_back(extent);
  }
  if (is_absurd(type)) {
    fail("tensor '{}': its shape {} is absurdly large", tensor.name(), ops::to_string(type));
  }
  return type;
}

ops::TensorType type_of(const onnx::TypeProto& proto) {
  if (!proto.has_tensor_type()) return ops::TensorType::unranked(ops::DType::other);
  const auto& tensor = proto.tensor_type();
  const auto dtype = dtype_of(tensor.elem_type());
  if (!tensor.has_shape()) return ops::TensorType::unranked(dtype);
  ops::TensorType type(dtype, {});
  for (const auto& dim : tensor.shape().dim()) {
    type.shape.push_back(dim.has_dim_value() && dim.dim_value() >= 0 ? dim.dim_value() : ops::kUnknown);
  }
  return type;
}

void forget_shapes(onnx::GraphProto& graph, bool inputs) {
  const auto forget = [](google::protobuf::RepeatedPtrField<onnx::ValueInfoProto>& values) {
    for (auto& value : values) {
      if (value.type().has_tensor_type()) value.mutable_type()->mutable_tensor_type()->clear_shape();
    }
  };
  graph.clear_value_info();
  forget(*graph.mutable_output());
  if (inputs) forget(*graph.mutable_input());
}

void forget_shapes_in_bodies(onnx::NodeProto& node) {
  for (auto& attribute : *node.mutable_attribute()) {
    if (!attribute.has_g()) continue;
    forget_shapes(*attribute.mutable_g(), true);
    for (auto& inner : *attribute.mutable_g()->mutable_node()) forget_shapes_in_bodies(inner);
  }
}

void set_type(onnx::TypeProto& proto, const ops::TensorType& type) {
  RLGO_CHECK(type.is_static());
  auto* tensor = proto.mutable_tensor_type();
  tensor->set_elem_type(static_cast<int32_t>(type.dtype));
  tensor->mutable_shape()->clear_dim();
  for (int64_t extent : type.shape) tensor->mutable_shape()->add_dim()->set_dim_value(extent);
}

std::string take_bytes(onnx::TensorProto& tensor) {
  const auto type = tensor_type_of(tensor);
  if (!tensor.has_raw_data()) return checked_bytes(tensor, type, typed_bytes(tensor, type.dtype));
  std::string bytes = std::move(*tensor.mutable_raw_data());
  tensor.clear_raw_data();
  return checked_bytes(tensor, type, std::move(bytes));
}

std::string copy_bytes(const onnx::TensorProto& tensor) {
  const auto type = tensor_type_of(tensor);
  return checked_bytes(tensor, type, tensor.has_raw_data() ? tensor.raw_data() : typed_bytes(tensor, type.dtype));
}

void check_tensor_data(const onnx::TensorProto& tensor) {
  const auto type = tensor_type_of(tensor);
  if (type.dtype == ops::DType::other) return;
  check_size(tensor, type, tensor.has_raw_data() ? tensor.raw_data().size() : typed_bytes(tensor, type.dtype).size());
}

void set_tensor(onnx::TensorProto& tensor, std::string_view name, const ops::TensorType& type, std::string bytes) {
  tensor.set_name(std::string(name));
  tensor.set_data_type(static_cast<int32_t>(type.dtype));
  for (int64_t extent : type.shape) tensor.add_dims(extent);
  tensor.set_raw_data(std::move(bytes));
}

namespace {

template <typename Proto>
onnx::TensorProto bare_notes(const Proto& of) {
  onnx::TensorProto notes;
  if (!of.doc_string().empty()) notes.set_doc_string(of.doc_string());
  *notes.mutable_metadata_props() = of.metadata_props();
  return notes;
}

}  // namespace

std::string notes_of(const onnx::TensorProto& tensor) { return bare_notes(tensor).SerializeAsString(); }

std::string notes_of(const onnx::NodeProto& constant, const onnx::TensorProto& tensor) {
  onnx::TensorProto notes = bare_notes(constant);
  notes.MergeFrom(bare_notes(tensor));
  return notes.SerializeAsString();
}

void add_notes(onnx::TensorProto& tensor, const std::string& notes) {
  onnx::TensorProto parsed;
  if (parsed.ParseFromString(notes)) tensor.MergeFrom(parsed);
}

namespace {

uint8_t infinities_of_tensor(const onnx::TensorProto& tensor) {
  const auto dtype = dtype_of(tensor.data_type());
  if (!ops::is_float(dtype) || tensor.external_data_size() > 0) return graph::kFinite;
  return graph::infinities_of(dtype, copy_bytes(tensor));
}

uint8_t infinities_of_graph(const onnx::GraphProto& graph) {
  uint8_t found = graph::kFinite;
  for (const auto& tensor : graph.initializer()) found |= infinities_of_tensor(tensor);
  for (const auto& tensor : graph.sparse_initializer()) found |= infinities_of_tensor(tensor.values());
  for (const auto& node : graph.node()) found |= infinities_of(node);
  return found;
}

}  // namespace

uint8_t infinities_of(const onnx::NodeProto& node) {
  uint8_t found = graph::kFinite;
  for (const auto& attribute : node.attribute()) {
    found |= graph::infinities_of(static_cast<double>(attribute.f()));
    for (const float number : attribute.floats()) found |= graph::infinities_of(static_cast<double>(number));
    if (attribute.has_t()) found |= infinities_of_tensor(attribute.t());
    for (const auto& tensor : attribute.tensors()) found |= infinities_of_tensor(tensor);
    if (attribute.has_sparse_tensor()) found |= infinities_of_tensor(attribute.sparse_tensor().values());
    if (attribute.has_g()) found |= infinities_of_graph(attribute.g());
    for (const auto& nested : attribute.graphs()) found |= infinities_of_graph(nested);
  }
  return found;
}

bool tensor_of_shorthand(const onnx::AttributeProto& attribute, onnx::TensorProto& tensor) {
  if (attribute.name() == "value_int" || attribute.name() == "value_ints") {
    tensor.set_data_type(onnx::TensorProto::INT64);
    if (attribute.name() == "value_int") {
      tensor.add_int64_data(attribute.i());
    } else {
      tensor.add_dims(attribute.ints_size());
      *tensor.mutable_int64_data() = attribute.ints();
    }
    return true;
  }
  if (attribute.name() == "value_float" || attribute.name() == "value_floats") {
    tensor.set_data_type(onnx::TensorProto::FLOAT);
    if (attribute.name() == "value_float") {
      tensor.add_float_data(attribute.f());
    } else {
      tensor.add_dims(attribute.floats_size());
      *tensor.mutable_float_data() = attribute.floats();
    }
    return true;
  }
  return false;
}

std::string describe(const onnx::NodeProto& node) {
  if (!node.name().empty()) return fmt::format("node '{}' ({})", node.name(), full_op(node));
  if (node.output_size() > 0) return fmt::format("node ({}) that makes '{}'", full_op(node), node.output(0));
  return fmt::format("node ({})", full_op(node));
}

std::string full_op(const onnx::NodeProto& node) {
  return is_standard_domain(node.domain()) ? node.op_type() : node.domain() + "." + node.op_type();
}

bool is_standard_domain(std::string_view domain) { return domain.empty() || domain == "ai.onnx"; }

}  // namespace rlgo::onnx_io
