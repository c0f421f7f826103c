// The part of the importer that computes constants: what of them is written, and what stays the operators of the file.
#include <onnx/onnx_pb.h>

#include <algorithm>

#include "core/onnx/importer.h"
#include "core/onnx/names.h"

namespace rlgo::onnx_io {
namespace {

// Bytes: about what the operator takes in the file. Whether larger constants are written depends on those before them;
// a file that rlgo wrote has only operators whose constants were not.
constexpr int64_t kAlwaysFolded = 128;
constexpr int64_t kMostComputedElements = int64_t{1} << 23;  // of large constants in all

}  // namespace

bool agree(const ops::TensorType& onnx, const ops::TensorType& own) {
  if (onnx.dtype != ops::DType::other && onnx.dtype != own.dtype) return false;
  if (!onnx.ranked) return true;
  if (onnx.rank() != own.rank()) return false;
  for (int d = 0; d < own.rank(); ++d) {
    if (onnx.shape[d] != ops::kUnknown && onnx.shape[d] != own.shape[d]) return false;
  }
  return true;
}

bool Importer::add_folded(onnx::NodeProto& node, const OnnxNode& resolved) {
  if (node.output_size() == 0) return false;
  std::vector<Constant> results;
  for (int k = 0; k < node.output_size(); ++k) {
    const auto place = static_cast<size_t>(k);
    auto result = evaluate(resolved, place);
    if (!result && open_ && node.output_size() == 1) result = open_->constant(node.output(0));
    if (!result || !agree(resolved.output_types[place], result->type)) return false;
    results.push_back(std::move(*result));
  }
  return take_in(node, resolved, std::move(results), true);
}

void Importer::set_value(const std::string& name, graph::Value value) {
  const auto [at, is_new] = values_.try_emplace(name, value);
  if (!is_new) --names_[at->second.node];
  at->second = value;
  ++names_[value.node];
}

void Importer::count_readers() {
  if (!readers_.empty()) return;
  for (const auto& node : model_.graph().node()) {
    for (const auto& name : node.input()) ++readers_[name];
    for (const auto& name : captured_names(node)) ++readers_[name];
  }
  for (const auto& output : model_.graph().output()) ++readers_[output.name()];
}

// The operator with this one result that computes it from constants alone; null: there is none.
const onnx::NodeProto* Importer::maker_of(const std::string& name) const {
  if (const auto found = computed_.find(name); found != computed_.end()) return found->second.node;
  const auto found = constant_makers_.find(name);
  return found != constant_makers_.end() && found->second->output_size() == 1 ? found->second : nullptr;
}

// Bytes of the weights that nothing reads any more once the operator and all that it alone needs are gone.
int64_t Importer::replaced_bytes(const onnx::NodeProto& node) {
  count_readers();
  std::unordered_map<std::string, int> gone;
  std::unordered_map<graph::NodeId, int> unread_names;  // of a weight
  std::vector<const onnx::NodeProto*> unread{&node};
  while (!unread.empty()) {
    const onnx::NodeProto& last = *unread.back();
    unread.pop_back();
    for (const auto& name : last.input()) {
      const auto all = readers_.find(name);
      if (name.empty() || all == readers_.end() || ++gone[name] != all->second) continue;
      if (const auto* maker = maker_of(name)) unread.push_back(maker);
      const auto value = values_.find(name);
      if (value != values_.end() && editor_.node(value->second.node).op() == ops::Op::weight)
        ++unread_names[value->second.node];
    }
  }
  int64_t bytes = 0;
  for (const auto& [id, count] : unread_names)
    if (count == names_.at(id)) bytes += editor_.type({id, 0}).bytes();
  return bytes;
}

// A large constant waits until an operator that is not computed itself reads it: of a chain only the end is written.
bool Importer::take_in(onnx::NodeProto& node, const OnnxNode& resolved, std::vector<Constant> results, bool own) {
  const auto is_large = [](const Constant& result) { return result.type.bytes() > kAlwaysFolded; };
  const bool large = std::ranges::any_of(results, is_large);
  if (!large || results.size() != 1) {
    int64_t growth = large ? -replaced_bytes(node) : 0;
    for (const Constant& result : results) growth += large ? result.type.bytes() : 0;
    if (growth > growth_left_) return false;
    growth_left_ -= std::max<int64_t>(growth, 0);
    note_folded(node, results[0].type);
    for (size_t k = 0; k < results.size(); ++k) {
      const auto& name = node.output(static_cast<int>(k));
      if (read_names_.contains(name)) add_weight(name, results[k].type, to_bytes(results[k]));
    }
    return true;
  }
  Constant& result = results[0];
  const auto& name = node.output(0);
  computed_elements_ += result.type.elements();
  if (computed_elements_ > kMostComputedElements) return false;
  types_.set(name, result.type);
  set_sampled(name, result.type);
  for (const auto& input : node.input()) {
    const auto found = computed_.find(input);
    own = own && (found == computed_.end() || found->second.own);
  }
  computed_[name] = {std::make_shared<const Constant>(std::move(result)), &node, resolved, own};
  return true;
}

void Importer::note_folded(const onnx::NodeProto& node, const ops::TensorType& type) {
  ++report_.folded;
  note(Change::Kind::folded, node, ops::to_string(type));
}

// Of an operator that is written although its result is known: checks need what a runtime computes. The file that is
// written is read without a runtime to ask.
std::vector<std::shared_ptr<const graph::Blob>> Importer::known_results(const onnx::NodeProto& node) const {
  const auto found = node.output_size() == 1 ? computed_.find(node.output(0)) : computed_.end();
  if (found == computed_.end() || !found->second.own || !options_.keep_weights) return {};
  const Constant& value = *found->second.value;
  return {graph::Blob::bytes(value.type, to_bytes(value))};
}

// Constants of which other constants were computed, and nothing else.
void Importer::note_intermediate() {
  for (const auto& [name, computed] : computed_) {
    if (!values_.contains(name)) note_folded(*computed.node, computed.value->type);
  }
}

const Importer::Computed* Importer::waiting(const std::string& name) const {
  const auto found = computed_.find(name);
  return found == computed_.end() || values_.contains(name) ? nullptr : &found->second;
}

// As a weight, or where that would make the file too large, as the operator that computes it.
void Importer::write_computed(const std::string& name) {
  const Computed* computed = waiting(name);
  if (computed == nullptr) return;
  const Constant& value = *computed->value;
  const int64_t growth = std::max<int64_t>(0, value.type.bytes() - replaced_bytes(*computed->node));
  if (growth <= growth_left_) {
    growth_left_ -= growth;
    note_folded(*computed->node, value.type);
    add_weight(name, value.type, to_bytes(value));
    return;
  }
  OnnxNode resolved = computed->resolved;
  write_operands(*computed->node, resolved);
  add_operator(*computed->node, resolved);
  constants_.try_emplace(values_.at(name).node, computed->value);
}

// What the operator reads, in its bodies too, is in the graph from now on.
void Importer::write_operands(const onnx::NodeProto& node, OnnxNode& resolved) {
  for (int k = 0; k < node.input_size(); ++k) {
    if (waiting(node.input(k)) != nullptr) write_computed(node.input(k));
    if (!node.input(k).empty()) resolved.inputs[static_cast<size_t>(k)] = values_.at(node.input(k));
  }
  if (computed_.empty() || node.attribute_size() == 0) return;
  for (const auto& name : captured_names(node)) write_computed(name);
}

}  // namespace rlgo::onnx_io
