// The part of the importer that keeps open dimensions open.
#include <onnx/onnx_pb.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/onnx/dims.h"
#include "core/onnx/importer.h"

namespace rlgo::onnx_io {
namespace {

using ops::Attr;
using ops::Op;

// The call at one of the two sizes, its inputs being inputs of a graph of its own.
std::optional<std::vector<graph::Node>> convert_alone(Call call, bool second, std::vector<ops::Types>& inputs) {
  graph::Editor editor("one operator");
  for (auto* types : {&call.input_types, &call.output_types}) {
    for (auto& type : *types) {
      if (second) type.shape = ops::Shape(type.alternative_shape());
      type.alternative = nullptr;
    }
  }
  for (size_t k = 0; k < call.inputs.size(); ++k) {
    if (!call.has_input(k)) continue;
    if (!call.input_types[k].is_static() || call.input_types[k].dtype == ops::DType::other) return std::nullopt;
    call.inputs[k] = editor.add_input(std::to_string(k), call.input_types[k]);
  }
  Maker maker(editor, {});
  if (!find_converter(call.op)(call, maker) || !maker.ok()) return std::nullopt;
  std::vector<graph::Node> nodes;
  for (graph::NodeId id : maker.added()) {
    nodes.push_back(editor.node(id));
    ops::Types types;
    for (const auto& value : nodes.back().inputs) types.push_back(editor.type(value));
    inputs.push_back(std::move(types));
  }
  return nodes;
}

// Padding that depends on the size of the image, where that is open.
bool pads_by_size(const Call& call) {
  if (!call.s("auto_pad", "").starts_with("SAME")) return false;
  const auto& x = call.input_types[0];
  const auto& other = x.alternative_shape();
  if (x.rank() > 2 && std::equal(x.shape.begin() + 2, x.shape.end(), other.begin() + 2)) return false;
  const auto strides = call.ints("strides");
  return strides && std::ranges::any_of(*strides, [](int64_t stride) { return stride != 1; });
}

// Positions on an axis of open extent mean something else at other sizes.
bool cuts_open_axis(const graph::Node& node, const ops::Shape& a, const ops::Shape& b) {
  const auto is_cut = [&](int64_t axis) { return a[static_cast<size_t>(axis)] != b[static_cast<size_t>(axis)]; };
  if (node.op() == Op::slice) return std::ranges::any_of(node.attrs().ints(Attr::axes), is_cut);
  return node.op() == Op::split && is_cut(node.attrs().i(Attr::axis));
}

}  // namespace

void Importer::check_samples(const Sizes& open) const {
  std::vector<std::string> known;
  for (const auto& [name, size] : open) known.push_back(name);
  for (const auto& [name, size] : options_.samples) {
    if (open.contains(name)) continue;
    fail("no input has an open dimension '{}'{}; open are: {}", name, did_you_mean(name, known),
         known.empty() ? "none" : join(known, ", "));
  }
}

void Importer::sample_open_dims() {
  if (!options_.sample_open || skeleton_->contradictory) return;
  for (const bool by_axis : {false, true}) {
    auto sizes = sample_sizes(model_, options_.samples, by_axis);
    check_samples(sizes.first);
    if (sizes.first.empty()) return;
    auto first = std::make_unique<Shadow>(model_, sizes.first);
    auto second = std::make_unique<Shadow>(model_, sizes.second);
    if (first->is_contradictory() || second->is_contradictory()) continue;
    first_ = std::move(first);
    second_ = std::move(second);
    samples_ = std::move(sizes.first);
    skeleton_->sampled = report_.sampled = true;
    return;
  }
  report_.notes.emplace_back("the sizes that were tried for the open dimensions do not fit together");
}

void Importer::step_shadows(const onnx::NodeProto& node, const Call& call) {
  if (!first_) return;
  const bool is_standard = node.domain().empty() && opset_ >= 7;
  const bool is_function = functions_.contains(node.domain() + ":" + node.op_type());
  const auto version = versions_.find(node.domain());
  for (Shadow* shadow : {first_.get(), second_.get()}) {
    Call copy = call;
    shadow->step(node, is_function || version == versions_.end() ? 0 : version->second, is_standard && !is_function,
                 copy);
  }
}

bool Importer::is_open(const Call& call) const {
  const auto differs = [](const ops::TensorType& type) { return type.alternative != nullptr || !type.is_static(); };
  for (size_t k = 0; k < call.inputs.size(); ++k) {
    if (call.has_input(k) && differs(call.input_types[k])) return true;
  }
  return std::ranges::any_of(call.output_types, differs);
}

// The attributes of the operators that the call becomes, equal at both sizes; nothing where they depend on the sizes.
std::optional<std::vector<ops::Attrs>> Importer::open_attrs(const Call& call) const {
  if (pads_by_size(call)) return std::nullopt;
  std::vector<ops::Types> first_types, second_types;
  const auto first = convert_alone(call, false, first_types), second = convert_alone(call, true, second_types);
  if (!first || !second || first->size() != second->size()) return std::nullopt;
  std::vector<ops::Attrs> attrs;
  for (size_t k = 0; k < first->size(); ++k) {
    const graph::Node &a = (*first)[k], &b = (*second)[k];
    if (a.op() != b.op()) return std::nullopt;
    attrs.push_back(a.attrs());
    if (!first_types[k].empty() && cuts_open_axis(a, first_types[k][0].shape, second_types[k][0].shape))
      return std::nullopt;
    if (a.attrs() == b.attrs()) continue;
    if (a.op() != Op::reshape) return std::nullopt;
    const auto shape = open_reshape(first_types[k][0].shape, a.info->outputs[0].shape, second_types[k][0].shape,
                                    b.info->outputs[0].shape);
    if (!shape) return std::nullopt;
    attrs.back().set(Attr::shape, *shape);
  }
  return attrs;
}

// With the shape at both sizes where something is sampled and both are known.
ops::TensorType Importer::sampled_type(const std::string& name) const {
  if (!first_) return types_.type(name);
  auto type = first_->type(name);
  const auto other = second_->type(name);
  if (!type.is_static() || !other.is_static() || type.rank() != other.rank() || type.dtype != other.dtype)
    return types_.type(name);
  if (type.shape != other.shape) type.alternative = std::make_shared<const ops::Shape>(other.shape);
  return type;
}

void Importer::set_sampled(const std::string& name, const ops::TensorType& type) {
  if (!first_) return;
  ops::TensorType plain(type.dtype, type.shape);
  first_->set(name, plain);
  plain.shape = ops::Shape(type.alternative_shape());
  second_->set(name, plain);
}

}  // namespace rlgo::onnx_io
