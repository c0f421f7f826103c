#include "core/onnx/exporter.h"

#include <onnx/onnx_pb.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/onnx/names.h"
#include "core/onnx/proto.h"
#include "core/onnx/validate.h"

namespace rlgo::onnx_io {
namespace {

using graph::NodeId;
using graph::Value;
using ops::Attr;
using ops::Op;

bool swaps_two_axes(const graph::Node& node) {
  return node.op() == Op::transpose && node.attrs().ints(Attr::perm) == Ints{1, 0};
}

bool is_transposed_weight(const graph::Graph& graph, NodeId id) {
  const auto& node = graph.node(id);
  return swaps_two_axes(node) && graph.node(node.inputs[0].node).op() == Op::weight;
}

// Whether it becomes an operator that reads its inputs transposed.
bool reads_transposed(const graph::Graph& graph, NodeId id, int opset) {
  return graph.node(id).op() == Op::matmul && is_gemm(graph.input_types(id), true, opset);
}

onnx::NodeProto payload_of(const graph::Opaque& opaque) {
  onnx::NodeProto node;
  if (!node.ParseFromString(opaque.payload))
    fail("internal: the payload of {} is damaged (this is a bug of rlgo)", opaque.op_type);
  return node;
}

}  // namespace

std::unordered_set<NodeId> read_through(const Skeleton& skeleton, const graph::Graph& graph) {
  const int known = standard_opset(*skeleton.model), opset = known > 0 ? known : kDefaultOpset;
  std::unordered_set<NodeId> through;
  for (const NodeId id : graph.order()) {
    const auto reads = [&](const graph::Use& use) { return reads_transposed(graph, use.user, opset); };
    if (is_transposed_weight(graph, id) && !graph.is_output(id) && std::ranges::all_of(graph.node(id).uses, reads))
      through.insert(id);
  }
  return through;
}

Exporter::Exporter(const Skeleton& skeleton, onnx::ModelProto& model, const graph::Graph& graph, const Folded& folded,
                   const ExportOptions& options)
    : skeleton_(skeleton),
      model_(model),
      graph_(graph),
      folded_(folded),
      flush_denormals_(options.flush_denormals),
      weight_files_(options.weight_files.get()),
      writer_(model, standard_opset(model)) {
  for (const auto& [name, blob] : skeleton.pinned) pinned_[name] = blob;
}

ExportReport Exporter::run() {
  choose_nodes();
  reserve_names();
  name_outputs();
  for (NodeId id : graph_.order()) {
    if (is_written_[static_cast<size_t>(id)]) write_node(id);
  }
  write_outputs();
  write_pinned();
  trim_declarations();
  return report_;
}

const Origin* Exporter::origin(NodeId id) const {
  const auto found = skeleton_.origins.find(id);
  if (found == skeleton_.origins.end()) return nullptr;
  return found->second.outputs.size() == graph_.node(id).info->outputs.size() ? &found->second : nullptr;
}

// Weights, and constants whose value was handed over; fills are written as operators or small numbers.
bool Exporter::is_folded(NodeId id) const {
  const auto& node = graph_.node(id);
  if (node.op() == Op::weight) return true;
  return node.constant && node.op() != Op::fill && folded_.contains(id);
}

std::shared_ptr<const graph::Blob> Exporter::folded_blob(Value value) const {
  const auto& node = graph_.node(value.node);
  if (node.op() == Op::weight) return node.info->blob;
  const auto& blobs = folded_.at(value.node);
  RLGO_CHECK_LT(static_cast<size_t>(value.port), blobs.size());
  RLGO_CHECK(blobs[static_cast<size_t>(value.port)] != nullptr);
  return blobs[static_cast<size_t>(value.port)];
}

Exporter::Reads Exporter::reads_of(NodeId id) const {
  const auto& node = graph_.node(id);
  Reads reads{{node.inputs.begin(), node.inputs.end()}, false, false};
  if (!reads_transposed(graph_, id, writer_.opset())) return reads;
  const auto look_through = [&](Value& value) {
    if (!is_transposed_weight(graph_, value.node)) return false;
    value = graph_.node(value.node).inputs[0];
    return true;
  };
  reads.transposed_a = look_through(reads.values[0]);
  reads.transposed_b = look_through(reads.values[1]);
  return reads;
}

// All nodes that compute, and of the constant ones those that are needed and whose value is not at hand.
void Exporter::choose_nodes() {
  std::vector<bool> is_read(static_cast<size_t>(graph_.id_bound()), false);
  is_written_.assign(static_cast<size_t>(graph_.id_bound()), false);
  for (const auto& output : graph_.outputs()) is_read[static_cast<size_t>(output.value.node)] = true;
  const auto order = graph_.order();
  for (auto at = order.rbegin(); at != order.rend(); ++at) {
    const auto& node = graph_.node(*at);
    const auto index = static_cast<size_t>(*at);
    if (node.op() == Op::input || is_folded(*at) || !is_read[index]) continue;
    is_written_[index] = true;
    for (const Value& value : reads_of(*at).values) is_read[static_cast<size_t>(value.node)] = true;
  }
}

// Names that have a meaning outside the main graph's operators, or had one in the file.
void Exporter::reserve_names() {
  for (const auto& input : model_.graph().input()) writer_.claim(input.name());
  for (const auto& output : graph_.outputs()) writer_.claim(output.name);
  for (const auto& [name, blob] : pinned_) writer_.claim(name);
  for (const auto& tensor : model_.graph().initializer()) writer_.claim(tensor.name());
  for (const auto& tensor : model_.graph().sparse_initializer()) writer_.claim(tensor.values().name());
  for (NodeId id : graph_.inputs()) names_[{id, 0}] = graph_.node(id).info->name;

  // Values that keep their names; then all other names of the file are closed to new values.
  for (NodeId id : graph_.order()) {
    const auto& node = graph_.node(id);
    if (node.op() == Op::weight && !node.info->name.empty()) {
      const auto pin = pinned_.find(node.info->name);
      const bool is_pin = pin != pinned_.end() && pin->second->content_hash() == node.info->blob->content_hash();
      if ((is_pin && written_weights_.insert(node.info->name).second) || (!is_pin && writer_.claim(node.info->name))) {
        names_[{id, 0}] = node.info->name;
      }
    }
    const Origin* known = is_written_[static_cast<size_t>(id)] ? origin(id) : nullptr;
    for (size_t port = 0; known && port < known->outputs.size(); ++port) {
      const auto& name = known->outputs[port];
      if (!name.empty() && writer_.claim(name)) names_[{id, static_cast<int32_t>(port)}] = name;
    }
  }
  written_weights_.clear();
  writer_.reserve(skeleton_.names);
  for (NodeId id : graph_.order()) {
    if (graph_.node(id).op() != Op::opaque) continue;
    std::unordered_set<std::string> inner;
    collect_names(payload_of(*graph_.node(id).info->opaque), inner);
    writer_.reserve(inner);
  }
}

// A value that an operator makes bears the name of the (first) graph output that shows it.
void Exporter::name_outputs() {
  std::unordered_set<std::string> named;
  for (const auto& output : graph_.outputs()) {
    // An initialiser is shown by an Identity: runtimes refuse one that is sparse and an output.
    const bool is_made = is_written_[static_cast<size_t>(output.value.node)] &&
                         graph_.node(output.value.node).op() != Op::fill &&
                         !skeleton_.initialisers.contains(output.value.node);
    const auto current = names_.find(output.value);
    const bool has_output_name = current != names_.end() && named.contains(current->second);
    if (is_made && !has_output_name) {
      names_[output.value] = output.name;
      named.insert(output.name);
    }
    output_value_[output.name] = output.value;
  }
  for (const auto& [value, name] : names_) kept_.emplace(name, value);
}

// The name of a value, which is written now if it is a constant that nobody has read yet.
const std::string& Exporter::read(Value value) {
  auto found = names_.find(value);
  const bool is_constant = is_folded(value.node);
  if (found == names_.end()) {
    RLGO_CHECK(is_constant);
    found = names_.emplace(value, writer_.fresh("const")).first;
  }
  if (is_constant && written_weights_.insert(found->second).second) {
    write_weight(found->second, *folded_blob(value));
    if (graph_.node(value.node).op() != Op::weight) count_folded(value.node);
  }
  return found->second;
}

// The operators on weights alone that this value was computed from.
void Exporter::count_folded(NodeId id) {
  ++report_.folded_weights;
  std::vector<NodeId> stack{id};
  while (!stack.empty()) {
    const NodeId next = stack.back();
    stack.pop_back();
    if (graph_.node(next).op() == Op::weight || !folded_operators_.insert(next).second) continue;
    ++report_.folded_operators;
    for (const Value& input : graph_.node(next).inputs) stack.push_back(input.node);
  }
}

Names Exporter::output_names(NodeId id) {
  const auto& node = graph_.node(id);
  Names names;
  for (size_t port = 0; port < node.info->outputs.size(); ++port) {
    const Value value{id, static_cast<int32_t>(port)};
    auto found = names_.find(value);
    if (found == names_.end()) {
      const std::string hint = fmt::format("{}_{}", ops::name(node.op()), id);
      found = names_.emplace(value, writer_.fresh(port == 0 ? hint : fmt::format("{}_{}", hint, port))).first;
    }
    names.push_back(found->second);
  }
  return names;
}

bool Exporter::is_square_under_mean(NodeId id) const {
  const auto& node = graph_.node(id);
  if (node.op() != Op::mul || node.inputs[0] != node.inputs[1] || !ops::is_float(graph_.type({id, 0}).dtype))
    return false;
  const auto is_mean = [&](const graph::Use& use) { return graph_.node(use.user).op() == Op::reduce_mean; };
  return !node.uses.empty() && std::ranges::all_of(node.uses, is_mean);
}

// Outputs of a recurrent network that nobody reads are not listed.
void Exporter::leave_out_unread(NodeId id, Names& outputs) const {
  for (size_t port = 0; port < outputs.size(); ++port) {
    const auto reads = [port](const graph::Use& use) { return use.port == static_cast<int32_t>(port); };
    const auto shows = [&](const graph::GraphOutput& output) {
      return output.value == Value{id, static_cast<int32_t>(port)};
    };
    if (std::ranges::none_of(graph_.node(id).uses, reads) && std::ranges::none_of(graph_.outputs(), shows))
      outputs[port].clear();
  }
}

void Exporter::write_node(NodeId id) {
  const auto& node = graph_.node(id);
  const Reads reads = reads_of(id);
  Names inputs;
  for (const Value& value : reads.values) inputs.push_back(read(value));
  Names outputs = output_names(id);
  const Origin* known = origin(id);
  if (node.op() == Op::recurrent) leave_out_unread(id, outputs);
  if (node.op() == Op::opaque) {
    write_opaque(id, inputs, outputs);
    return;
  }
  writer_.begin(known ? known->node : node.info->name, known ? known->header : "");
  // A square that rlgo made of a power: runtimes know norms by the power only. (A group that is to be priced has no
  // origins, and is written as it is.)
  if (known == nullptr && !skeleton_.origins.empty() && is_square_under_mean(id)) {
    writer_.node("Pow", {inputs[0], writer_.scalar(2.0, graph_.type(node.inputs[0]).dtype)}, outputs);
    return;
  }
  write_op(writer_,
           {node.op(), node.attrs(), inputs, outputs, graph_.input_types(id), node.info->outputs, reads.transposed_a,
            reads.transposed_b, known == nullptr || skeleton_.leaves_rest.contains(known->outputs[0])});
}

void Exporter::write_opaque(NodeId id, const Names& inputs, const Names& outputs) {
  const auto& opaque = *graph_.node(id).info->opaque;
  onnx::NodeProto node = payload_of(opaque);
  node.set_name(graph_.node(id).info->name);
  node.clear_input();
  size_t next = 0;
  for (const bool is_present : opaque.formal_inputs) node.add_input(is_present ? inputs.at(next++) : "");
  std::unordered_map<std::string, std::string> renames;
  for (const auto& name : opaque.captured) {
    const auto& now = inputs.at(next++);
    if (name != now) renames[name] = now;
  }
  visit_captured(node, [&](std::string& name) {
    if (const auto found = renames.find(name); found != renames.end()) name = found->second;
  });
  int32_t port = 0;
  for (auto& output : *node.mutable_output()) {
    if (!output.empty()) output = outputs.at(static_cast<size_t>(port++));
  }
  auto& graph = *model_.mutable_graph();
  if (!skeleton_.initialisers.contains(id) || !writer_.takes_initialiser(outputs[0])) {
    writer_.raw_node(std::move(node));
    return;
  }
  auto& attribute = *node.mutable_attribute(0);
  if (attribute.has_sparse_tensor()) {
    attribute.mutable_sparse_tensor()->mutable_values()->set_name(outputs[0]);
    *graph.add_sparse_initializer() = attribute.sparse_tensor();
  } else {
    attribute.mutable_t()->set_name(outputs[0]);
    *graph.add_initializer() = attribute.t();
  }
}

// Outputs that no operator names: inputs and constants that are shown as they are, values shown twice.
void Exporter::write_outputs() {
  for (const auto& output : graph_.outputs()) {
    const std::string name = read(output.value);
    if (name == output.name) continue;
    writer_.begin(name + "/to_output", {});
    writer_.node("Identity", {name}, {output.name});
  }
}

void Exporter::write_pinned() {
  for (const auto& [name, blob] : skeleton_.pinned) {
    if (written_weights_.insert(name).second) write_weight(name, *blob);
  }
}

// Whether the value is still there and has that type. A shape that it does not have at all sizes is left out.
bool Exporter::holds_still(onnx::ValueInfoProto& declared) const {
  const auto found = kept_.find(declared.name());
  if (found == kept_.end()) return false;
  const auto& node = graph_.node(found->second.node);
  const auto& type = graph_.type(found->second);
  if (node.op() == Op::weight && !written_weights_.contains(declared.name())) return false;
  if (!declared.type().has_tensor_type() || type.dtype == ops::DType::other) return node.op() == Op::opaque;
  auto& tensor = *declared.mutable_type()->mutable_tensor_type();
  if (dtype_of(tensor.elem_type()) != type.dtype) return false;
  if (!tensor.has_shape() || !type.ranked) return true;
  bool fits = tensor.shape().dim_size() == type.rank();
  for (int d = 0; fits && d < tensor.shape().dim_size(); ++d) {
    const auto& dim = tensor.shape().dim(d);
    const int64_t extent = type.shape[static_cast<size_t>(d)];
    if (dim.has_dim_value()) fits = extent == ops::kUnknown || (dim.dim_value() == extent && !type.is_open(d));
  }
  if (!fits) tensor.clear_shape();
  return true;
}

// Declarations of values that are no longer there go; outputs without a shape get one where it is known now.
void Exporter::trim_declarations() {
  auto& graph = *model_.mutable_graph();
  for (auto& output : *graph.mutable_output()) {
    const auto& type = graph_.type(output_value_.at(output.name()));
    const bool is_open =
        !skeleton_.sampled && output.type().has_tensor_type() && !output.type().tensor_type().has_shape();
    if (is_open && type.is_static() && type.dtype != ops::DType::other) set_type(*output.mutable_type(), type);
  }
  google::protobuf::RepeatedPtrField<onnx::ValueInfoProto> values;
  for (auto& value : *graph.mutable_value_info()) {
    if (holds_still(value)) *values.Add() = std::move(value);
  }
  graph.mutable_value_info()->Swap(&values);

  std::unordered_set<std::string> names;
  collect_names(graph, names);
  google::protobuf::RepeatedPtrField<onnx::TensorAnnotation> annotations;
  for (auto& annotation : *graph.mutable_quantization_annotation()) {
    if (names.contains(annotation.tensor_name()))
      *annotations.Add() = std::move(annotation);
    else
      ++report_.annotations;
  }
  graph.mutable_quantization_annotation()->Swap(&annotations);
}

}  // namespace rlgo::onnx_io
