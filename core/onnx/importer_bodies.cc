// The part of the importer that looks into If: where the condition is known, the branch that is taken stands in its
// place; else both branches are simplified as models of their own.
#include <onnx/onnx_pb.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/onnx/exporter.h"
#include "core/onnx/importer.h"
#include "core/onnx/names.h"
#include "core/onnx/proto.h"

namespace rlgo::onnx_io {
namespace {

// Whether the condition of an If is known, and what it is.
std::optional<bool> truth_of(const Constant* condition) {
  if (condition == nullptr || condition->is_float() || condition->ints.size() != 1) return std::nullopt;
  return condition->ints[0] != 0;
}

// The first that has a name: an If whose outputs have none is not read.
std::string first_output(const onnx::NodeProto& node) {
  const auto found = std::ranges::find_if(node.output(), [](const std::string& name) { return !name.empty(); });
  return found == node.output().end() ? "" : *found;
}

constexpr size_t kMostBytes = size_t{64} << 20;  // of a branch that is simplified: it is copied

onnx::GraphProto* branch_of(onnx::NodeProto& node, bool taken) {
  for (auto& attribute : *node.mutable_attribute()) {
    if (attribute.name() == (taken ? "then_branch" : "else_branch") && attribute.has_g()) return attribute.mutable_g();
  }
  return nullptr;
}

}  // namespace

// Gives the values that the branch makes names that nothing else in the file has, in bodies inside it, too. They come
// from the If's own output, not from what was read before: a reading that knows more and has more branches in their
// If's place must find the same operators under the same names in simplified().
void Importer::rename_branch(onnx::GraphProto& branch, const std::string& if_output) {
  std::unordered_map<std::string, std::string> fresh;
  const auto name_anew = [&](std::string& name) {
    if (name.empty()) return;
    std::string other = name + "/" + if_output;
    while (!skeleton_->names.insert(other).second) other += '+';
    fresh[name] = other;
    name = std::move(other);
  };
  const auto follow = [&](std::string& name) {
    if (const auto found = fresh.find(name); found != fresh.end()) name = found->second;
  };
  for (auto& tensor : *branch.mutable_initializer()) name_anew(*tensor.mutable_name());
  for (auto& node : *branch.mutable_node()) {
    for (auto& input : *node.mutable_input()) follow(input);
    visit_captured(node, follow);
    for (auto& output : *node.mutable_output()) name_anew(output);
  }
  for (auto& output : *branch.mutable_output()) follow(*output.mutable_name());
  for (auto& value : *branch.mutable_value_info()) follow(*value.mutable_name());
}

// Operators of other domains and functions of the file stay in their If: nothing shows what they make.
bool Importer::add_branch(onnx::NodeProto& node) {
  const auto taken = truth_of(node.input_size() == 1 ? constant_of(node.input(0)) : nullptr);
  auto* branch = taken ? branch_of(node, *taken) : nullptr;
  if (branch == nullptr || branch->input_size() > 0 || branch->sparse_initializer_size() > 0 ||
      branch->output_size() != node.output_size())
    return false;
  const auto is_standard = [&](const onnx::NodeProto& inner) {
    return inner.domain().empty() && !functions_.contains(":" + inner.op_type());
  };
  if (!std::ranges::all_of(branch->node(), is_standard)) return false;
  const std::vector<std::string> outputs(node.output().begin(), node.output().end());
  note(Change::Kind::inlined, node, *taken ? "then branch" : "else branch");
  rename_branch(*branch, first_output(node));
  for (const auto& inner : branch->node()) {
    read_names_.insert(inner.input().begin(), inner.input().end());
    for (auto& name : captured_names(inner)) read_names_.insert(std::move(name));
  }
  for (int k = 0; k < branch->output_size(); ++k) {
    if (read_names_.contains(outputs[static_cast<size_t>(k)])) read_names_.insert(branch->output(k).name());
  }
  decisions_.enter(*branch, outputs);
  for (auto& tensor : *branch->mutable_initializer()) {
    const std::string name = tensor.name();
    keep_notes(name, notes_of(tensor));
    add_tensor(tensor, name, true);
  }
  for (auto& value : *branch->mutable_value_info()) model_.mutable_graph()->add_value_info()->Swap(&value);
  for (auto& inner : *branch->mutable_node()) add_node(inner);
  for (int k = 0; k < branch->output_size(); ++k) {
    const std::string &name = outputs[static_cast<size_t>(k)], &made = branch->output(k).name();
    if (name.empty() || !read_names_.contains(name)) continue;
    write_computed(made);
    set_value(name, values_.at(made));
    types_.alias(name, made);
    if (!sampled_) continue;
    sampled_->alias(name, made);
    open_->alias(name, made);
  }
  return true;
}

// Declares a value that a branch takes from around it, for all sizes; false where too little is known of it.
bool Importer::declare(const std::string& name, onnx::ValueInfoProto& value, Sizes& samples) {
  const auto type = sampled_type(name);
  if (type.dtype == ops::DType::other || !type.is_static()) return false;
  value.set_name(name);
  set_type(*value.mutable_type(), ops::TensorType(type.dtype, type.shape));
  for (int64_t d = 0; d < type.rank(); ++d) {
    const auto extent = type.extent(d);
    if (extent.is_number()) continue;
    // The sizes of inputs are at least 1, samples at least 2.
    if (!open_ || !extent.at_least(1) || extent.sample() < 2) return false;
    auto& dim = *value.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(static_cast<int>(d));
    dim.set_dim_param(open_->name_of(extent));
    samples[dim.dim_param()] = extent.sample();
  }
  return true;
}

// What the branch takes from around it are inputs of a model of its own, which is read and written again: shape
// arithmetic is computed, branches with a known condition stand in their If's place. False: it stays as it is.
bool Importer::simplify(onnx::GraphProto& branch) {
  if (branch.input_size() > 0 || branch.sparse_initializer_size() > 0 || branch.ByteSizeLong() > kMostBytes)
    return false;
  onnx::ModelProto model;
  model.set_ir_version(model_.ir_version());
  *model.mutable_opset_import() = model_.opset_import();
  *model.mutable_functions() = model_.functions();
  *model.mutable_graph() = branch;
  ImportOptions options;
  options.sample_open = options_.sample_open;
  for (const auto& name : free_names(branch)) {
    if (!declare(name, *model.mutable_graph()->add_input(), options.samples)) return false;
  }
  Importer importer(model, options);
  importer.skeleton_->names.insert(skeleton_->names.begin(), skeleton_->names.end());
  importer.growth_left_ = growth_left_;
  const Model read = importer.run();
  if (read.report.changes.empty()) return false;
  onnx::ModelProto written = *read.skeleton->model;
  Exporter(*read.skeleton, written, read.graph, {}, {.flush_denormals = false}).run();
  auto& graph = *written.mutable_graph();
  graph.clear_input();
  *graph.mutable_output() = branch.output();
  branch.Swap(&graph);
  growth_left_ = importer.growth_left_;
  collect_names(branch, skeleton_->names);
  for (auto change : read.report.changes) report_.changes.push_back(std::move(change));
  return true;
}

void Importer::take_over(onnx::NodeProto& node) {
  if (given_ == nullptr) return;
  const auto found = given_->find(first_output(node));
  if (found == given_->end()) return;
  *node.mutable_attribute() = found->second.attribute();
  collect_names(node, skeleton_->names);
}

void Importer::simplify_branches(onnx::NodeProto& node) {
  if (!options_.change_bodies || given_ != nullptr) return;
  bool changed = false;
  for (const bool taken : {true, false}) {
    if (auto* branch = branch_of(node, taken)) {
      try {
        changed = simplify(*branch) || changed;
      } catch (const Error&) {
        // It stays as it is.
      }
    }
  }
  if (!changed) return;
  simplified_[first_output(node)] = node;
  refine_types(node);
}

}  // namespace rlgo::onnx_io
