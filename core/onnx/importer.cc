#include "core/onnx/importer.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <limits>

#include "core/base/error.h"
#include "core/onnx/dims.h"
#include "core/onnx/names.h"
#include "core/onnx/validate.h"
#include "core/ops/folding.h"

namespace rlgo::onnx_io {
namespace {

constexpr graph::Value kNotYet{graph::kNoNode - 1, 0};  // an input that waits in computed_

constexpr int64_t kMostOperandBytes = int64_t{16} << 20;  // of a weight that a runtime is asked about

std::string function_key(const std::string& domain, const std::string& name) { return domain + ":" + name; }

bool is_tensor_known(const ops::TensorType& type) { return type.is_static() && type.dtype != ops::DType::other; }

// Gives the names that the subgraphs of `node` take from around it numbers instead ("captured 0", ...), one for each
// place where one is read, and returns [(new name, value)]. Not one for each value: a rewrite may make two values one,
// and the operator would then be another when its file is read again.
std::vector<std::pair<std::string, graph::Value>> number_captured(
    onnx::NodeProto& node, const std::unordered_map<std::string, graph::Value>& values) {
  std::unordered_set<std::string> taken;
  collect_names(node, taken);
  std::vector<std::pair<std::string, graph::Value>> captured;
  visit_captured(node, [&](std::string& name) {
    std::string number = fmt::format("captured {}", captured.size());
    while (taken.contains(number)) number += '+';
    captured.emplace_back(number, values.at(name));
    name = number;
  });
  return captured;
}

}  // namespace

Importer::Importer(onnx::ModelProto& model, const ImportOptions& options,
                   const std::unordered_map<std::string, onnx::NodeProto>* simplified)
    : model_(model),
      options_(options),
      opset_(standard_opset(model)),
      types_(model),
      decisions_(types_, read_names_),
      editor_(model.graph().name()),
      skeleton_(std::make_shared<Skeleton>()),
      growth_left_(options.later_dims.empty() ? (options.change_bodies ? ops::kMostGrowthOfStep : 0)
                                              : std::numeric_limits<int64_t>::max()),
      given_(simplified) {
  for (const auto& import : model.opset_import()) versions_[import.domain()] = static_cast<int>(import.version());
  for (const auto& function : model.functions()) functions_.insert(function_key(function.domain(), function.name()));
  for (const auto& input : model.graph().input()) pinned_names_.insert(input.name());
  for (const auto& annotation : model.graph().quantization_annotation()) {
    for (const auto& entry : annotation.quant_parameter_tensor_names()) pinned_names_.insert(entry.value());
  }
  for (const auto& output : model.graph().output()) read_names_.insert(output.name());
  for (const auto& node : model.graph().node()) {
    read_names_.insert(node.input().begin(), node.input().end());
    for (auto& name : captured_names(node)) read_names_.insert(std::move(name));
  }
  decisions_.enter(model.graph());
  skeleton_->contradictory = !types_.contradiction().empty();
  if (skeleton_->contradictory)
    report_.notes.push_back("the file's shapes contradict each other: " + types_.contradiction());
  if (!types_.misdeclared().empty())
    report_.notes.push_back("the file declares other shapes than its operators have: " + types_.misdeclared());
  collect_names(model.graph(), skeleton_->names);
}

Importer::~Importer() = default;

Model Importer::run() {
  sample_open_dims();
  editor_.trust();
  if (opset_ > 0 && opset_ < kOldestOpset) {
    report_.notes.push_back(
        fmt::format("opset {}: operators older than opset {} are kept as they are", opset_, kOldestOpset));
  }
  add_inputs();
  add_initialisers();
  add_sparse_initialisers();
  for (auto& node : *model_.mutable_graph()->mutable_node()) {
    if (options_.limits.should_stop && options_.limits.should_stop()) fail("stopped while the model was read");
    try {
      add_node(node);
    } catch (const Error& error) {
      throw error.in(describe(node));
    }
  }
  std::unordered_set<std::string> shown;  // a model may list an output twice, which is one value
  for (const auto& output : model_.graph().output()) {
    write_computed(output.name());
    if (shown.insert(output.name()).second) editor_.add_output(output.name(), values_.at(output.name()));
  }
  note_intermediate();
  report_.unresolved_dims = open_dims_text(model_);
  report_.open_dims = open_dims(model_);
  fill_skeleton();
  auto graph = editor_.finish();
  RLGO_CHECK(graph.has_value());
  note_unread(*graph);
  return {std::move(*graph), std::move(skeleton_), std::move(report_), std::move(samples_)};
}

// An initialiser of the same name is a default that callers may override (since ir_version 4; before, every initialiser
// had to be listed as an input, and is a constant).
void Importer::add_inputs() {
  std::unordered_set<std::string> initialisers;
  for (const auto& tensor : model_.graph().initializer()) initialisers.insert(tensor.name());
  for (const auto& tensor : model_.graph().sparse_initializer()) initialisers.insert(tensor.values().name());
  for (const auto& input : model_.graph().input()) {
    const bool has_default = initialisers.contains(input.name());
    if (has_default && model_.ir_version() < 4) continue;
    if (has_default) report_.default_inputs.push_back(input.name());
    set_value(input.name(),
              editor_.add_input(input.name(), sampled_ ? sampled_type(input.name()) : type_of(input.type())));
  }
}

void Importer::add_initialisers() {
  for (auto& tensor : *model_.mutable_graph()->mutable_initializer()) {
    const std::string name = tensor.name();
    const bool is_input = values_.contains(name);
    const auto type = tensor_type_of(tensor);
    keep_notes(name, notes_of(tensor));
    if (!is_input && !read_names_.contains(name) && !pinned_names_.contains(name))
      report_.changes.push_back({Change::Kind::unread, "initialiser", name, {}});
    if (type.dtype == ops::DType::other) {
      if (pinned_names_.contains(name)) *skeleton_->model->mutable_graph()->add_initializer() = tensor;
      if (!is_input) add_tensor(tensor, name, true);
      continue;
    }
    if (!is_input) {
      add_tensor(tensor, name, true);
      if (pinned_names_.contains(name))
        skeleton_->pinned.emplace_back(name, editor_.node(values_.at(name).node).info->blob);
      continue;
    }
    auto blob = graph::Blob::bytes(type, take_bytes(tensor));
    if (!options_.keep_weights) blob = graph::Blob::absent(type, blob->content_hash(), blob->infinities());
    skeleton_->pinned.emplace_back(name, std::move(blob));
  }
}

graph::Value Importer::add_weight(const std::string& name, const ops::TensorType& type, std::string bytes) {
  std::optional<Constant> constant;
  if (is_small(type)) constant = constant_from_bytes(type, bytes);
  auto blob = graph::Blob::bytes(type, std::move(bytes));
  types_.set(name, type);
  set_sampled(name, type);
  auto& alike = weights_[blob->content_hash()];
  const auto same = std::ranges::find_if(alike, [&](graph::Value v) { return editor_.type(v) == type; });
  if (same != alike.end()) {
    set_value(name, *same);
    report_.changes.push_back({Change::Kind::merged, "initialiser", name, editor_.node(same->node).info->name});
    return *same;
  }
  const auto contents = blob;
  // Rules look at single numbers (x * 0.5): they stay, or matches would differ between processes.
  if (!options_.keep_weights && type.elements() != 1)
    blob = graph::Blob::absent(type, blob->content_hash(), blob->infinities());
  const auto value = editor_.add_weight(name, std::move(blob));
  if (options_.evaluate && type.bytes() <= kMostOperandBytes) operands_[value.node] = contents;
  if (constant) constants_[value.node] = std::make_shared<const Constant>(std::move(*constant));
  alike.push_back(value);
  set_value(name, value);
  return value;
}

void Importer::keep_notes(const std::string& name, std::string notes) {
  if (!notes.empty()) skeleton_->notes[name] = std::move(notes);
}

// A tensor of a type that rlgo does not hold becomes an opaque Constant.
void Importer::add_tensor(onnx::TensorProto& tensor, const std::string& value_name, bool was_initialiser) {
  const auto type = tensor_type_of(tensor);
  if (type.dtype != ops::DType::other) {
    add_weight(value_name, type, take_bytes(tensor));
    return;
  }
  onnx::NodeProto node;
  node.set_op_type("Constant");
  node.add_output(value_name);
  auto* attribute = node.add_attribute();
  attribute->set_name("value");
  attribute->set_type(onnx::AttributeProto::TENSOR);
  *attribute->mutable_t() = std::move(tensor);
  attribute->mutable_t()->clear_name();
  add_opaque(node);
  if (was_initialiser) keep_initialiser(value_name);
}

void Importer::add_sparse_initialisers() {
  for (const auto& sparse : model_.graph().sparse_initializer()) {
    const std::string& name = sparse.values().name();
    if (pinned_names_.contains(name)) *skeleton_->model->mutable_graph()->add_sparse_initializer() = sparse;
    if (values_.contains(name)) continue;
    onnx::NodeProto node;
    node.set_op_type("Constant");
    node.add_output(name);
    auto* attribute = node.add_attribute();
    attribute->set_name("sparse_value");
    attribute->set_type(onnx::AttributeProto::SPARSE_TENSOR);
    *attribute->mutable_sparse_tensor() = sparse;
    add_opaque(node);
    keep_initialiser(name);
  }
}

bool Importer::is_standard(const onnx::NodeProto& node) const {
  return node.domain().empty() && opset_ >= kOldestOpset && !functions_.contains(function_key("", node.op_type()));
}

void Importer::add_node(onnx::NodeProto& node) {
  refine_types(node);
  for (const auto& output : node.output()) {
    const auto type = types_.type(output);
    if (is_absurd(type)) fail("makes a tensor of absurd size: {}", ops::to_string(type));
  }
  const bool is_standard = this->is_standard(node);
  const auto is_read = [&](const std::string& name) { return !name.empty() && read_names_.contains(name); };
  if (std::ranges::none_of(node.output(), is_read)) return note(Change::Kind::unread, node);
  if (is_standard) {
    if (node.op_type() == "Constant" && add_constant(node)) return;
    if (node.op_type() == "If") {
      take_over(node);
      if (add_branch(node)) return;
      simplify_branches(node);
    }
  }
  OnnxNode resolved = resolve(node);
  follow(node, resolved);
  note_constant(node);
  if (is_standard && add_folded(node, resolved)) return;
  if (is_standard && find_converter(resolved.op) == nullptr && add_evaluated(node, resolved)) return;
  write_operands(node, resolved);
  add_operator(node, resolved);
}

void Importer::add_operator(onnx::NodeProto& node, const OnnxNode& resolved) {
  if (is_standard(node) && add_known(node, resolved)) {
    ++report_.known;
    note_known(node, resolved);
    keep_origin(node);
    return;
  }
  if (is_standard(node) && add_evaluated(node, resolved)) return;
  ++report_.opaque[full_op(node)];
  add_opaque(node);
  keep_origin(node);
}

bool Importer::add_constant(onnx::NodeProto& node) {
  if (node.attribute_size() != 1) return false;
  auto& attribute = *node.mutable_attribute(0);
  onnx::TensorProto tensor;
  if (attribute.name() == "value") {
    if (dtype_of(attribute.t().data_type()) == ops::DType::other) return false;
    tensor.Swap(attribute.mutable_t());
  } else if (!tensor_of_shorthand(attribute, tensor)) {
    return false;
  }
  keep_notes(node.output(0), notes_of(node, tensor));
  add_tensor(tensor, node.output(0), false);
  return true;
}

bool Importer::add_known(const onnx::NodeProto& node, const OnnxNode& resolved) {
  if (!find_converter(resolved.op)) return false;
  const bool fixed = decisions_.at(node);
  if (fixed && resolved.op == "Einsum") return false;  // a composition, which may sum in another order
  editor_.fix(fixed);
  const bool added = (sampled_ ? add_sampled(node, resolved) : add_converted(node, resolved)) || pass_unknown(resolved);
  editor_.fix(false);
  report_.fixed += added && fixed ? 1 : 0;
  return added;
}

// An Identity of what has no known shape, or is no tensor: a value that is an output twice is written with one, and
// must be read as what it was.
bool Importer::pass_unknown(const OnnxNode& node) {
  if (node.op != "Identity" || node.inputs.size() != 1 || !node.has_input(0) || node.outputs.size() != 1) return false;
  if (is_tensor_known(node.input_types[0]) || is_tensor_known(node.output_types[0])) return false;
  set_value(node.outputs[0], node.inputs[0]);
  return true;
}

bool Importer::add_sampled(const onnx::NodeProto& node, const OnnxNode& resolved) {
  OnnxNode sampled = resolved;
  for (size_t k = 0; k < resolved.inputs.size(); ++k) {
    if (resolved.has_input(k)) sampled.input_types[k] = editor_.type(resolved.inputs[k]);
  }
  for (int k = 0; k < node.output_size(); ++k)
    sampled.output_types[static_cast<size_t>(k)] = sampled_type(node.output(k));
  return add_converted(node, sampled);
}

bool Importer::add_converted(const onnx::NodeProto& node, const OnnxNode& resolved) {
  Maker maker(editor_, node.name());
  for (size_t k = 0; k < resolved.inputs.size(); ++k) {
    if (resolved.has_input(k) && !is_tensor_known(resolved.input_types[k])) return false;
  }
  if (!find_converter(resolved.op)(resolved, maker) || !maker.ok()) return false;
  const auto& made = maker.outputs();
  if (made.empty() || made.size() > resolved.outputs.size()) return false;
  for (size_t k = 0; k < resolved.outputs.size(); ++k) {
    if (resolved.outputs[k].empty()) continue;
    if (k >= made.size() || !agree(resolved.output_types[k], editor_.type(made[k]))) return false;
  }
  for (size_t k = 0; k < made.size(); ++k) {
    if (resolved.outputs[k].empty()) continue;
    set_value(resolved.outputs[k], made[k]);
    const auto& type = editor_.type(made[k]);
    if (!type.open) types_.set(resolved.outputs[k], type);
    set_sampled(resolved.outputs[k], type);
  }
  return true;
}

void Importer::add_opaque(const onnx::NodeProto& node) {
  auto opaque = std::make_shared<graph::Opaque>();
  opaque->op_type = node.op_type();
  opaque->domain = node.domain();
  opaque->deterministic = is_deterministic(node);
  opaque->infinities = infinities_of(node);
  std::vector<graph::Value> inputs;
  for (const auto& name : node.input()) {
    opaque->formal_inputs.push_back(!name.empty());
    if (!name.empty()) inputs.push_back(values_.at(name));
  }
  // Edges and names are the graph's affair; without them equal operators are equal bytes, whatever a file calls their
  // values.
  onnx::NodeProto payload = node;
  payload.clear_input();
  payload.clear_name();
  for (const auto& value : number_captured(payload, values_)) {
    opaque->captured.push_back(value.first);
    inputs.push_back(value.second);
  }
  ops::Types types;
  for (int k = 0; k < node.output_size(); ++k) {
    const auto& name = node.output(k);
    opaque->outputs.push_back(name.empty() ? "" : fmt::format("{}", k));
    payload.set_output(k, opaque->outputs.back());
    if (!name.empty()) types.push_back(sampled_type(name));
  }
  opaque->payload = payload.SerializeAsString();
  opaque->known = known_results(node);
  const auto id = editor_.add_opaque(node.name(), std::move(opaque), inputs, std::move(types));
  note_made(node, id, false);
  for (int32_t port = 0; const auto& name : node.output()) {
    if (!name.empty()) set_value(name, {id, port++});
  }
}

OnnxNode Importer::resolve(const onnx::NodeProto& node) const {
  OnnxNode resolved;
  resolved.op = node.op_type();
  resolved.opset = opset_;
  for (const auto& attribute : node.attribute()) resolved.attrs[attribute.name()] = attribute_value(attribute);
  for (const auto& name : node.input()) {
    const Computed* computed = waiting(name);
    resolved.inputs.push_back(name.empty() ? graph::Value{} : computed ? kNotYet : values_.at(name));
    resolved.input_types.push_back(name.empty() ? ops::TensorType::unranked(ops::DType::other)
                                   : sampled_   ? types_.type(name)
                                   : computed   ? computed->value->type
                                                : editor_.type(resolved.inputs.back()));
    resolved.constants.push_back(constant_of(name));
  }
  for (const auto& name : node.output()) {
    resolved.outputs.push_back(read_names_.contains(name) ? name : "");
    if (!name.empty()) ++resolved.listed_outputs;
    resolved.output_types.push_back(types_.type(name));
  }
  return resolved;
}

void Importer::refine_types(const onnx::NodeProto& node) {
  const auto is_open = [&](const std::string& name) { return !name.empty() && !types_.type(name).is_static(); };
  const auto version = versions_.find(node.domain());
  if (version == versions_.end() || functions_.contains(function_key(node.domain(), node.op_type()))) return;
  if (std::ranges::none_of(node.output(), is_open)) return;
  types_.refine(node, version->second, [&](int k) { return constant_of(node.input(k)); });
}

const Constant* Importer::constant_of(const std::string& name) const {
  if (const auto computed = computed_.find(name); computed != computed_.end()) return computed->second.value.get();
  const auto value = values_.find(name);
  if (name.empty() || value == values_.end()) return nullptr;
  const auto found = constants_.find(value->second.node);
  return found == constants_.end() ? nullptr : found->second.get();
}

}  // namespace rlgo::onnx_io
