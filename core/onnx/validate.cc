#include "core/onnx/validate.h"

#include <onnx/checker.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <algorithm>
#include <new>
#include <queue>
#include <unordered_map>
#include <unordered_set>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/onnx/names.h"
#include "core/onnx/proto.h"
#include "core/onnx/safe_schemas.h"

namespace rlgo::onnx_io {
namespace {

int newest_standard_opset() { return onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map().at("").second; }

// Every value's name, defined once; which node makes it (-1: input or initialiser).
using Makers = std::unordered_map<std::string, int>;

Makers collect_makers(const onnx::GraphProto& graph) {
  Makers makers;
  for (const auto& input : graph.input()) {
    if (input.name().empty()) fail("a graph input has no name");
    if (!makers.emplace(input.name(), -1).second) fail("two graph inputs are named '{}'", input.name());
  }
  std::unordered_set<std::string> initialisers;
  const auto add_initialiser = [&](const std::string& name) {
    if (name.empty()) fail("an initialiser has no name");
    if (!initialisers.insert(name).second) fail("two initialisers are named '{}'", name);
    makers.emplace(name, -1);
  };
  for (const auto& tensor : graph.initializer()) add_initialiser(tensor.name());
  for (const auto& tensor : graph.sparse_initializer()) add_initialiser(tensor.values().name());
  for (int n = 0; n < graph.node_size(); ++n) {
    for (const auto& output : graph.node(n).output()) {
      if (output.empty()) continue;
      if (!makers.emplace(output, n).second)
        fail("{}: its output '{}' is already defined", describe(graph.node(n)), output);
    }
  }
  return makers;
}

// For each node, the nodes whose outputs it reads.
std::vector<std::vector<int>> collect_sources(const onnx::GraphProto& graph, const Makers& makers) {
  std::vector<std::vector<int>> sources(graph.node_size());
  for (int n = 0; n < graph.node_size(); ++n) {
    const auto& node = graph.node(n);
    auto names = captured_names(node);
    names.insert(names.end(), node.input().begin(), node.input().end());
    for (const auto& name : names) {
      if (name.empty()) continue;
      const auto maker = makers.find(name);
      if (maker == makers.end()) fail("{}: its input '{}' is not defined anywhere", describe(node), name);
      if (maker->second >= 0) sources[n].push_back(maker->second);
    }
  }
  return sources;
}

// Kahn's algorithm; ties in file order.
void sort_nodes(onnx::GraphProto& graph, const std::vector<std::vector<int>>& sources) {
  const int count = graph.node_size();
  bool sorted = true;
  std::vector<int> waiting(count);
  std::vector<std::vector<int>> readers(count);
  for (int n = 0; n < count; ++n) {
    waiting[n] = static_cast<int>(sources[n].size());
    for (int source : sources[n]) {
      readers[source].push_back(n);
      sorted = sorted && source < n;
    }
  }
  if (sorted) return;
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int n = 0; n < count; ++n) {
    if (waiting[n] == 0) ready.push(n);
  }
  std::vector<int> order;
  while (!ready.empty()) {
    const int n = ready.top();
    ready.pop();
    order.push_back(n);
    for (int reader : readers[n]) {
      if (--waiting[reader] == 0) ready.push(reader);
    }
  }
  if (static_cast<int>(order.size()) < count) {
    const auto stuck = std::ranges::find_if(waiting, [](int w) { return w > 0; }) - waiting.begin();
    fail("{}: lies on a cycle or depends on one", describe(graph.node(static_cast<int>(stuck))));
  }
  google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
  for (int n : order) nodes.Add(std::move(*graph.mutable_node(n)));
  graph.mutable_node()->Swap(&nodes);
}

void check_names(onnx::GraphProto& graph) {
  const Makers makers = collect_makers(graph);
  const auto sources = collect_sources(graph, makers);
  for (const auto& output : graph.output()) {
    if (!makers.contains(output.name())) fail("graph output '{}' is not defined anywhere", output.name());
  }
  sort_nodes(graph, sources);
}

void check_sizes(const onnx::GraphProto& graph);

void check_sizes(const onnx::NodeProto& node) {
  for (const auto& attribute : node.attribute()) {
    if (attribute.has_t()) check_tensor_data(attribute.t());
    for (const auto& tensor : attribute.tensors()) check_tensor_data(tensor);
    if (attribute.has_g()) check_sizes(attribute.g());
    for (const auto& nested : attribute.graphs()) check_sizes(nested);
  }
}

void check_sizes(const onnx::GraphProto& graph) {
  for (const auto& tensor : graph.initializer()) check_tensor_data(tensor);
  for (const auto& tensor : graph.sparse_initializer()) check_tensor_data(tensor.values());
  for (const auto& node : graph.node()) {
    try {
      check_sizes(node);
    } catch (const Error& error) {
      throw error.in(describe(node));
    }
  }
}

void check_inputs(const onnx::GraphProto& graph) {
  for (const auto& input : graph.input()) {
    if (!input.type().has_tensor_type()) continue;
    const auto& dims = input.type().tensor_type().shape().dim();
    for (int axis = 0; axis < dims.size(); ++axis) {
      if (dims[axis].has_dim_value() && dims[axis].dim_value() < -1) {
        fail("graph input '{}': dimension {} is {}; sizes cannot be negative (an open size has a name, or is -1)",
             input.name(), axis, dims[axis].dim_value());
      }
    }
    const auto type = type_of(input.type());
    if (is_absurd(type)) {
      fail("graph input '{}': its shape {} is absurdly large", input.name(), ops::to_string(type));
    }
  }
}

// Without this, ONNX's checker lets operators pass that were standard long ago, and prints to stderr.
void check_operators(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes, int opset,
                     const std::unordered_set<std::string>& own) {
  for (const auto& node : nodes) {
    if (!node.domain().empty() || own.contains(node.op_type())) continue;
    if (!onnx::OpSchemaRegistry::Schema(node.op_type(), opset, "")) {
      fail("{}: opset {} of ONNX has no such operator", describe(node), opset);
    }
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) check_operators(attribute.g().node(), opset, own);
      for (const auto& graph : attribute.graphs()) check_operators(graph.node(), opset, own);
    }
  }
}

std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return std::string(trim(text));
}

template <typename Nodes>
void normalise(Nodes& nodes) {
  for (auto& node : nodes) {
    if (is_standard_domain(node.domain())) node.clear_domain();
    for (auto& attribute : *node.mutable_attribute()) {
      if (attribute.has_g()) normalise(*attribute.mutable_g()->mutable_node());
      for (auto& graph : *attribute.mutable_graphs()) normalise(*graph.mutable_node());
    }
  }
}

bool has_subgraph(const onnx::NodeProto& node) {
  return std::ranges::any_of(node.attribute(), [](const auto& a) { return a.has_g() || a.graphs_size() > 0; });
}

// Values at the model's border whose type lacks a shape.
std::vector<onnx::ValueInfoProto*> shapeless(onnx::GraphProto& graph) {
  std::vector<onnx::ValueInfoProto*> found;
  const auto look = [&](auto& list) {
    for (auto& value : list) {
      if (value.type().has_tensor_type() && !value.type().tensor_type().has_shape()) found.push_back(&value);
    }
  };
  look(*graph.mutable_input());
  look(*graph.mutable_output());
  return found;
}

}  // namespace

void check_versions(const onnx::ModelProto& model) {
  if (!model.has_ir_version() || !model.has_graph()) fail("is not an ONNX model: ir_version or graph is missing");
  if (model.ir_version() < 1 || model.ir_version() > onnx::IR_VERSION) {
    fail("ir_version {} is not supported (1 to {} are)", model.ir_version(), static_cast<int>(onnx::IR_VERSION));
  }
  std::unordered_map<std::string, int64_t> domains;
  for (const auto& import : model.opset_import()) {
    const std::string domain = is_standard_domain(import.domain()) ? "" : import.domain();
    const auto [known, is_new] = domains.emplace(domain, import.version());
    if (!is_new && known->second != import.version()) fail("domain '{}' is imported in two versions", import.domain());
    if (import.version() < 1) fail("opset {} of domain '{}' does not exist", import.version(), import.domain());
    if (domain.empty() && import.version() > newest_standard_opset()) {
      fail("opset {} is not supported (1 to {} are)", import.version(), newest_standard_opset());
    }
  }
  if (model.ir_version() >= 3 && domains.empty()) fail("no operator set is imported (opset_import is missing)");
}

void validate_model(onnx::ModelProto& model) {
  check_sizes(model.graph());
  check_inputs(model.graph());
  check_names(*model.mutable_graph());
  std::unordered_set<std::string> own;
  for (const auto& function : model.functions()) {
    if (function.domain().empty()) own.insert(function.name());
  }
  check_operators(model.graph().node(), standard_opset(model), own);
  if (model.graph().name().empty()) model.mutable_graph()->set_name("graph");
}

int standard_opset(const onnx::ModelProto& model) {
  for (const auto& import : model.opset_import()) {
    if (is_standard_domain(import.domain())) return static_cast<int>(import.version());
  }
  return model.opset_import_size() == 0 ? 1 : 0;
}

void normalise_domains(onnx::ModelProto& model) {
  std::unordered_set<std::string> domains;
  google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto> imports;
  for (auto& import : *model.mutable_opset_import()) {
    if (is_standard_domain(import.domain())) import.set_domain("");
    if (domains.insert(import.domain()).second) *imports.Add() = import;
  }
  model.mutable_opset_import()->Swap(&imports);
  normalise(*model.mutable_graph()->mutable_node());
  for (auto& function : *model.mutable_functions()) {
    normalise(*function.mutable_node());
    for (auto& import : *function.mutable_opset_import()) {
      if (is_standard_domain(import.domain())) import.set_domain("");
    }
  }
}

void check_model(onnx::ModelProto& model) {
  const auto open = shapeless(*model.mutable_graph());
  for (auto* value : open) value->mutable_type()->mutable_tensor_type()->mutable_shape();
  std::string problem;
  try {
    onnx::checker::check_model(model);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    problem = one_line(error.what());
  }
  for (auto* value : open) value->mutable_type()->mutable_tensor_type()->clear_shape();
  if (!problem.empty()) fail("ONNX checker: {}", problem);
}

struct Inference::Saved {
  onnx::ModelProto& model;
  google::protobuf::RepeatedPtrField<onnx::ValueInfoProto> inputs, outputs, values;
  google::protobuf::RepeatedPtrField<onnx::TensorProto> defaults;
  google::protobuf::RepeatedPtrField<onnx::SparseTensorProto> sparse;
  std::vector<std::pair<int, onnx::NodeProto>> nodes;
};

Inference::Inference(onnx::ModelProto& model)
    : saved_(new Saved{model, model.graph().input(), model.graph().output(), model.graph().value_info(), {}, {}, {}}) {
  take_defaults();
  model.mutable_graph()->mutable_sparse_initializer()->Swap(&saved_->sparse);
  for (int n = 0; n < model.graph().node_size(); ++n) {
    if (has_subgraph(model.graph().node(n))) saved_->nodes.emplace_back(n, model.graph().node(n));
  }
}

// The numbers of an initialiser that callers may override do not determine what is computed from it: ONNX's inference
// takes them for constants.
void Inference::take_defaults() {
  auto& model = saved_->model;
  if (model.ir_version() < 4) return;
  std::unordered_set<std::string> inputs;
  for (const auto& input : model.graph().input()) inputs.insert(input.name());
  google::protobuf::RepeatedPtrField<onnx::TensorProto> constants;
  for (auto& tensor : *model.mutable_graph()->mutable_initializer())
    (inputs.contains(tensor.name()) ? saved_->defaults : constants).Add()->Swap(&tensor);
  model.mutable_graph()->mutable_initializer()->Swap(&constants);
}

Inference::~Inference() {
  auto& graph = *saved_->model.mutable_graph();
  for (auto& tensor : saved_->defaults) graph.add_initializer()->Swap(&tensor);
  graph.mutable_sparse_initializer()->Swap(&saved_->sparse);
  graph.mutable_input()->Swap(&saved_->inputs);
  graph.mutable_output()->Swap(&saved_->outputs);
  graph.mutable_value_info()->Swap(&saved_->values);
  for (auto& [n, node] : saved_->nodes) graph.mutable_node(n)->Swap(&node);
}

namespace {

using SparseTensors = google::protobuf::RepeatedPtrField<onnx::SparseTensorProto>;

void declare_dense(onnx::GraphProto& graph, const SparseTensors& tensors) {
  std::unordered_set<std::string> inputs;
  for (const auto& input : graph.input()) inputs.insert(input.name());
  for (const auto& sparse : tensors) {
    if (inputs.contains(sparse.values().name())) continue;
    auto& value = *graph.add_value_info();
    value.set_name(sparse.values().name());
    auto& type = *value.mutable_type()->mutable_tensor_type();
    type.set_elem_type(sparse.values().data_type());
    type.mutable_shape();
    for (const int64_t extent : sparse.dims()) type.mutable_shape()->add_dim()->set_dim_value(extent);
  }
}

void declare_dense_in_bodies(onnx::NodeProto& node) {
  for (auto& attribute : *node.mutable_attribute()) {
    if (!attribute.has_g()) continue;
    auto& body = *attribute.mutable_g();
    declare_dense(body, body.sparse_initializer());
    body.clear_sparse_initializer();
    for (auto& inner : *body.mutable_node()) declare_dense_in_bodies(inner);
  }
}

}  // namespace

// Operators read a sparse initialiser as the dense tensor; ONNX's inference gives it a type that none of them takes.
void Inference::declare_sparse() {
  auto& graph = *saved_->model.mutable_graph();
  declare_dense(graph, saved_->sparse);
  for (const auto& [n, node] : saved_->nodes) declare_dense_in_bodies(*graph.mutable_node(n));
}

std::string Inference::run_strictly(bool propagate_data) {
  declare_sparse();
  try {
    const SafeSchemas schemas;
    const onnx::ShapeInferenceOptions options(true, 1, propagate_data);
    onnx::shape_inference::InferShapes(saved_->model, &schemas.registry(), options);
  } catch (const std::bad_alloc&) {
    throw;  // no fact about the model
  } catch (const std::exception& error) {
    return one_line(error.what());
  }
  return {};
}

void Inference::forget_shapes() {
  auto& graph = *saved_->model.mutable_graph();
  onnx_io::forget_shapes(graph, false);
  for (const auto& [n, node] : saved_->nodes) *graph.mutable_node(n) = node;
}

void Inference::run_leniently() {
  forget_shapes();
  declare_sparse();
  try {
    const SafeSchemas schemas;
    const onnx::ShapeInferenceOptions options(false, 0, true);
    onnx::shape_inference::InferShapes(saved_->model, &schemas.registry(), options);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {
    // Values whose types stay unknown make opaque operators.
  }
}

}  // namespace rlgo::onnx_io
