// What a model may ask for; see ImportLimits.
#include <onnx/onnx_pb.h>

#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/error.h"
#include "core/onnx/proto.h"
#include "core/onnx/validate.h"

namespace rlgo::onnx_io {
namespace {

using google::protobuf::RepeatedPtrField;

class LimitCheck {
 public:
  explicit LimitCheck(const ImportLimits& limits) : limits_(limits) {}

  void graph(const onnx::GraphProto& graph, int64_t depth) {
    if (depth > limits_.nesting) fail("subgraphs are nested more than {} deep (--onnx.nesting)", limits_.nesting);
    name(graph.name());
    for (const auto& tensor : graph.initializer()) this->tensor(tensor);
    for (const auto& sparse : graph.sparse_initializer()) this->sparse(sparse);
    for (const auto* list : {&graph.input(), &graph.output(), &graph.value_info()}) {
      for (const auto& value : *list) {
        name(value.name());
        type(value.name(), value.type(), 0);
      }
    }
    nodes(graph.node(), depth);
  }

  void nodes(const RepeatedPtrField<onnx::NodeProto>& list, int64_t depth) {
    for (const auto& node : list) {
      name(node.name());
      name(node.op_type());
      name(node.domain());
      for (const auto& value : node.input()) name(value);
      for (const auto& value : node.output()) name(value);
      try {
        for (const auto& attribute : node.attribute()) this->attribute(attribute, depth);
      } catch (const Error& error) {
        throw error.in(describe(node));
      }
    }
  }

 private:
  void name(const std::string& text) const {
    if (static_cast<int64_t>(text.size()) > limits_.name_bytes) {
      fail("a name of {} bytes ('{}...'); at most {} are taken (--onnx.name-bytes)", text.size(), text.substr(0, 40),
           limits_.name_bytes);
    }
  }
  template <typename Dims, typename Extent>
  void shape(const std::string& of, const Dims& dims, const Extent& extent) const {
    if (dims.size() > limits_.rank)
      fail("'{}' has {} dimensions; at most {} are taken (--onnx.rank)", of, dims.size(), limits_.rank);
    int64_t elements = 1;
    for (const auto& dim : dims) {
      // A zero elsewhere must not hide a huge extent.
      if (__builtin_mul_overflow(elements, std::max<int64_t>(extent(dim), 1), &elements) ||
          elements > limits_.elements) {
        fail("'{}': its shape is absurdly large, more than {} elements (--onnx.elements)", of, limits_.elements);
      }
    }
  }
  void tensor(const onnx::TensorProto& tensor) const {
    name(tensor.name());
    shape(tensor.name(), tensor.dims(), [](int64_t dim) { return dim; });
  }
  void sparse(const onnx::SparseTensorProto& sparse) const {
    tensor(sparse.values());
    tensor(sparse.indices());
    shape(sparse.values().name(), sparse.dims(), [](int64_t dim) { return dim; });
  }
  void type(const std::string& of, const onnx::TypeProto& type, int64_t depth) const {
    if (depth > limits_.nesting)
      fail("'{}': its type is nested more than {} deep (--onnx.nesting)", of, limits_.nesting);
    const auto extent = [](const onnx::TensorShapeProto::Dimension& dim) { return dim.dim_value(); };
    if (type.has_tensor_type()) shape(of, type.tensor_type().shape().dim(), extent);
    if (type.has_sparse_tensor_type()) shape(of, type.sparse_tensor_type().shape().dim(), extent);
    if (type.has_sequence_type()) this->type(of, type.sequence_type().elem_type(), depth + 1);
    if (type.has_optional_type()) this->type(of, type.optional_type().elem_type(), depth + 1);
    if (type.has_map_type()) this->type(of, type.map_type().value_type(), depth + 1);
  }
  void attribute(const onnx::AttributeProto& attribute, int64_t depth) {
    name(attribute.name());
    if (attribute.has_t()) tensor(attribute.t());
    for (const auto& tensor : attribute.tensors()) this->tensor(tensor);
    if (attribute.has_sparse_tensor()) sparse(attribute.sparse_tensor());
    for (const auto& sparse : attribute.sparse_tensors()) this->sparse(sparse);
    if (attribute.has_tp()) type(attribute.name(), attribute.tp(), 0);
    for (const auto& type : attribute.type_protos()) this->type(attribute.name(), type, 0);
    if (attribute.has_g()) graph(attribute.g(), depth + 1);
    for (const auto& nested : attribute.graphs()) graph(nested, depth + 1);
  }

  const ImportLimits& limits_;
};

// How many nodes the function calls of a model expand to; inference walks through all of them, and through no function
// that nobody calls.
class FunctionSizes {
 public:
  FunctionSizes(const onnx::ModelProto& model, const ImportLimits& limits) : limits_(limits) {
    for (const auto& function : model.functions())
      functions_[key(function.domain(), function.name())].push_back(&function);
  }
  // Saturates. `open` = functions being walked through.
  double nodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& list) {
    double sum = 0;
    for (const auto& node : list) {
      sum += 1;
      for (const auto& attribute : node.attribute()) {
        if (attribute.has_g()) sum += nodes(attribute.g().node());
        for (const auto& graph : attribute.graphs()) sum += nodes(graph.node());
      }
      const auto called = functions_.find(key(node.domain(), node.op_type()));
      if (called == functions_.end()) continue;
      for (const auto* function : called->second) sum += size(*function);
    }
    return sum;
  }

 private:
  static std::string key(const std::string& domain, const std::string& name) {
    return (is_standard_domain(domain) ? "" : domain) + ":" + name;
  }
  double size(const onnx::FunctionProto& function) {
    const auto [entry, is_new] = sizes_.try_emplace(&function, -1.0);
    if (!is_new) {
      if (entry->second < 0) fail("local function '{}' calls itself", function.name());
      return entry->second;
    }
    if (++depth_ > limits_.nesting) {
      fail("local function '{}': calls are nested more than {} deep (--onnx.nesting)", function.name(),
           limits_.nesting);
    }
    const double result = nodes(function.node());
    --depth_;
    return sizes_[&function] = result;
  }
  const ImportLimits& limits_;
  int64_t depth_ = 0;
  std::unordered_map<std::string, std::vector<const onnx::FunctionProto*>> functions_;
  std::unordered_map<const onnx::FunctionProto*, double> sizes_;
};

}  // namespace

void check_limits(const onnx::ModelProto& model, const ImportLimits& limits) {
  LimitCheck check(limits);
  check.graph(model.graph(), 0);
  for (const auto& function : model.functions()) check.nodes(function.node(), 0);
  if (FunctionSizes(model, limits).nodes(model.graph().node()) > static_cast<double>(limits.nodes))
    fail("it has, with its local functions, more than {} operators (--onnx.nodes)", limits.nodes);
}

}  // namespace rlgo::onnx_io
