#include <onnx/onnx_pb.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <new>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/onnx/bodies.h"
#include "core/onnx/dims.h"
#include "core/onnx/external_data.h"
#include "core/onnx/importer.h"
#include "core/onnx/onnx.h"
#include "core/onnx/quantised.h"
#include "core/onnx/trial_read.h"
#include "core/onnx/validate.h"

namespace rlgo::onnx_io {
namespace {

constexpr auto kRandomOps = std::to_array<std::string_view>(
    {"Bernoulli", "Dropout", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"});

bool all_deterministic(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes);

// Operators of other domains may do anything.
bool deterministic_alone(const onnx::NodeProto& node) {
  if (node.domain() == "ai.onnx.ml") return true;
  if (!is_standard_domain(node.domain()) || std::ranges::find(kRandomOps, node.op_type()) != kRandomOps.end())
    return false;
  return std::ranges::all_of(node.attribute(), [](const onnx::AttributeProto& attribute) {
    const auto good = [](const onnx::GraphProto& graph) { return all_deterministic(graph.node()); };
    return (!attribute.has_g() || good(attribute.g())) && std::ranges::all_of(attribute.graphs(), good);
  });
}

bool all_deterministic(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes) {
  return std::ranges::all_of(nodes, deterministic_alone);
}

std::string list_of(const std::map<std::string, int>& counts) {
  std::vector<std::pair<std::string, int>> rows(counts.begin(), counts.end());
  std::ranges::stable_sort(rows, std::greater<>(), &std::pair<std::string, int>::second);
  std::vector<std::string> parts;
  for (const auto& [name, count] : rows) parts.push_back(fmt::format("{} {}", name, count));
  return join(parts, ", ");
}

// Names come from the file: nothing that a terminal would obey.
std::string printable(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  }
  return text;
}

bool has_branches(const onnx::GraphProto& graph) {
  return std::ranges::any_of(graph.node(), [](const onnx::NodeProto& node) { return node.op_type() == "If"; });
}

// The model at later_dims; see there.
Model read_at(onnx::ModelProto& model, const ImportOptions& options) {
  if (options.later_dims.empty()) return Importer(model, options).run();
  ImportOptions later = options;
  later.samples.clear();
  if (!options.change_bodies || !has_branches(model.graph())) {
    bind_dims(model, options.later_dims);
    return Importer(model, later).run();
  }
  onnx::ModelProto copy = model;
  Importer first(copy, options);
  first.run();
  bind_dims(model, options.later_dims);
  return Importer(model, later, &first.simplified()).run();
}

Model build(onnx::ModelProto& model, const ImportOptions& options) {
  validate_model(model);
  check_model(model);
  QuantisedReport quantised = options.change_bodies ? look_at_quantised(model) : QuantisedReport{};
  std::vector<Change> respelled = rewrite_quantised(model, options.quantised);
  if (!respelled.empty()) {
    validate_model(model);
    check_model(model);
  }
  std::vector<Change> moved;
  if (options.change_bodies) moved = move_constants_into_bodies(model);
  Model result = read_at(model, options);
  result.report.moved = static_cast<int>(moved.size());
  std::ranges::move(moved, std::back_inserter(result.report.changes));
  std::ranges::move(respelled, std::back_inserter(result.report.changes));
  result.report.quantised = std::move(quantised);
  return result;
}

Model import_proto(onnx::ModelProto& model, const std::filesystem::path& path, const ImportOptions& options) {
  check_limits(model, options.limits);
  check_versions(model);
  normalise_domains(model);
  auto data_files = load_external_data(model, path);
  const bool had_negative = open_negative_dims(model);
  bind_dims(model, options.dims);
  if (options.limits.isolate) {
    ImportOptions in_child = options;
    in_child.limits.should_stop = {};  // the parent's, which ends the child
    in_child.evaluate = {};            // the runtime is the parent's child
    try_in_child([&] { build(model, in_child); }, model.ByteSizeLong(), model.graph().node_size(), options.limits);
  }
  Model result = build(model, options);
  result.report.data_files = std::move(data_files);
  if (had_negative) result.report.notes.emplace_back("sizes of -1 are taken for open dimensions");
  return result;
}

// A message of many empty parts takes far more memory than its file, by a factor of 100.
void try_to_parse(const std::filesystem::path& path, const ImportLimits& limits) {
  constexpr uint64_t kHarmlessBytes = 4 << 20;
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  if (error || bytes <= kHarmlessBytes || !limits.isolate) return;  // load_proto() states what is wrong
  const auto parse = [&] {
    onnx::ModelProto trial;
    load_proto(path, trial);
  };
  try {
    try_in_child(parse, bytes, 0, limits);
  } catch (const Error& problem) {
    const std::string what = problem.what();
    if (what.starts_with(path.string())) throw;
    throw problem.in(path.string());
  }
}

}  // namespace

OnnxAttr attribute_value(const onnx::AttributeProto& attribute) {
  switch (attribute.type()) {
    case onnx::AttributeProto::INT:
      return attribute.i();
    case onnx::AttributeProto::FLOAT:
      return attribute.f();
    case onnx::AttributeProto::STRING:
      return attribute.s();
    case onnx::AttributeProto::INTS:
      return Ints(attribute.ints().begin(), attribute.ints().end());
    case onnx::AttributeProto::FLOATS:
      return Floats(attribute.floats().begin(), attribute.floats().end());
    case onnx::AttributeProto::STRINGS:
      return Words(attribute.strings().begin(), attribute.strings().end());
    case onnx::AttributeProto::TENSOR: {
      const auto type = tensor_type_of(attribute.t());
      if (is_small(type)) return constant_from_bytes(type, copy_bytes(attribute.t()));
      return std::monostate();
    }
    default:
      return std::monostate();
  }
}

bool Importer::is_deterministic(const onnx::NodeProto& node) const {
  for (const auto& function : model_.functions()) {
    if (function.domain() == node.domain() && function.name() == node.op_type())
      return all_deterministic(function.node());
  }
  return deterministic_alone(node);
}

// The names of the node and of those of its outputs that a node of the graph makes for it alone.
void Importer::keep_origin(const onnx::NodeProto& node) {
  std::unordered_set<graph::NodeId> fresh;
  for (const auto& name : node.output()) {
    const auto found = values_.find(name);
    if (found == values_.end()) continue;  // nobody reads it
    const graph::Value value = found->second;
    const auto& made = editor_.node(value.node);
    if (made.op() == ops::Op::input || made.op() == ops::Op::weight) continue;
    const auto [place, is_new] = skeleton_->origins.try_emplace(value.node);
    Origin& origin = place->second;
    if (is_new) {
      fresh.insert(value.node);
      origin.node = node.name();
      origin.outputs.resize(made.info->outputs.size());
      onnx::NodeProto header;
      header.set_doc_string(node.doc_string());
      *header.mutable_metadata_props() = node.metadata_props();
      if (!node.doc_string().empty() || node.metadata_props_size() > 0) origin.header = header.SerializeAsString();
    }
    auto& kept = origin.outputs[static_cast<size_t>(value.port)];
    if (fresh.contains(value.node) && kept.empty()) kept = name;
  }
}

// The constant that add_opaque() made was an initialiser of that name.
void Importer::keep_initialiser(const std::string& name) {
  const graph::NodeId id = values_.at(name).node;
  skeleton_->initialisers.insert(id);
  skeleton_->origins.try_emplace(id, Origin{{}, {name}, {}});
}

void Importer::fill_skeleton() {
  auto& kept = *skeleton_->model->mutable_graph();
  auto& graph = *model_.mutable_graph();
  graph.clear_node();
  graph.mutable_initializer()->Swap(kept.mutable_initializer());
  graph.mutable_sparse_initializer()->Swap(kept.mutable_sparse_initializer());
  for (const auto& training : model_.training_info())
    report_.changes.push_back({Change::Kind::left_out, "training_info", training.algorithm().name(), {}});
  model_.clear_training_info();
  *skeleton_->model = std::move(model_);
}

// "12 computed (Shape 8, Gather 4)", one part for each kind.
std::string ImportReport::changes_summary() const {
  constexpr std::pair<Change::Kind, const char*> kKinds[] = {
      {Change::Kind::folded, "computed"},
      {Change::Kind::merged, "merged with equal ones"},
      {Change::Kind::bypassed, "bypassed"},
      {Change::Kind::unread, "removed, as no output needs them"},
      {Change::Kind::moved, "moved into the bodies that read them"},
      {Change::Kind::inlined, "replaced by the branch that they take"},
      {Change::Kind::left_out, "left out"},
      {Change::Kind::respelled, "respelled for the target's integer kernels"}};
  std::vector<std::string> parts;
  for (const auto& [kind, what] : kKinds) {
    std::map<std::string, int> counts;
    int total = 0;
    for (const auto& change : changes) {
      if (change.kind != kind) continue;
      ++counts[change.op];
      ++total;
    }
    if (total > 0) parts.push_back(fmt::format("{} {} ({})", total, what, list_of(counts)));
  }
  return join(parts, ", ");
}

std::string ImportReport::summary() const {
  int kept = 0;
  for (const auto& [op, count] : opaque) kept += count;
  std::string text = fmt::format("{} operators can be rewritten, {} are kept as they are", known, kept);
  if (kept > 0) text += fmt::format(" ({})", list_of(opaque));
  if (fixed > 0) {
    text += fmt::format(
        "\n{} that could be rewritten are not: a whole number, a comparison or a mask hangs on their last bit", fixed);
  }
  if (!changes.empty()) text += "\nnormalised: " + changes_summary();
  if (sampled) {
    text += "\nopen dimensions stay open: " + join(unresolved_dims, "; ");
  } else if (!unresolved_dims.empty()) {
    text += "\nopen dimensions (operators behind them are kept as they are): " + join(unresolved_dims, "; ");
  }
  if (!default_inputs.empty()) {
    text += fmt::format(
        "\n{} initialisers are also inputs, which a caller may override, and so no constants (such as '{}')",
        default_inputs.size(), default_inputs.front());
  }
  for (const auto& note : notes) text += "\n" + note;
  return text;
}

Model import_model(const std::filesystem::path& path, const ImportOptions& options) {
  onnx::ModelProto model;
  try_to_parse(path, options.limits);
  load_proto(path, model);
  try {
    return import_proto(model, path, options);
  } catch (const Error& error) {
    fail("{}: {}", path.string(), printable(error.what()));
  } catch (const std::bad_alloc&) {
    fail("{}: not enough memory to read this model", path.string());
  } catch (const std::exception& error) {
    fail("{}: {}", path.string(), printable(error.what()));
  }
}

}  // namespace rlgo::onnx_io
