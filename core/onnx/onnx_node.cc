#include "core/onnx/onnx_node.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "core/ops/views.h"

namespace rlgo::onnx_io {
namespace {

template <typename T>
const T* find(const OnnxNode& resolved, std::string_view name) {
  const auto found = resolved.attrs.find(std::string(name));
  return found == resolved.attrs.end() ? nullptr : std::get_if<T>(&found->second);
}

}  // namespace

double plain_double(float value) {
  if (!std::isfinite(value)) return static_cast<double>(value);
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  double result = 0;
  std::from_chars(text.data(), end, result);
  return result;
}

bool OnnxNode::only_first_output() const {
  return std::all_of(outputs.begin() + 1, outputs.end(), [](const std::string& name) { return name.empty(); });
}

int64_t OnnxNode::i(std::string_view name, int64_t fallback) const {
  const auto* value = find<int64_t>(*this, name);
  return value ? *value : fallback;
}

double OnnxNode::f(std::string_view name, double fallback) const {
  const auto* value = find<float>(*this, name);
  return value ? plain_double(*value) : fallback;
}

std::string OnnxNode::s(std::string_view name, std::string_view fallback) const {
  const auto* value = find<std::string>(*this, name);
  return value ? *value : std::string(fallback);
}

std::optional<Ints> OnnxNode::ints(std::string_view name) const {
  const auto* value = find<Ints>(*this, name);
  return value ? std::optional(*value) : std::nullopt;
}

const Constant* OnnxNode::tensor(std::string_view name) const { return find<Constant>(*this, name); }

std::optional<Ints> OnnxNode::ints_of(std::string_view name, size_t input, bool& known) const {
  known = true;
  if (auto value = ints(name)) return value;
  if (!has_input(input)) return std::nullopt;
  const Constant* constant = constants[input];
  known = constant != nullptr && !constant->is_float();
  return known ? std::optional(constant->ints) : std::nullopt;
}

std::optional<double> OnnxNode::scalar_of(std::string_view name, size_t input, bool& known) const {
  known = true;
  if (const auto* value = find<float>(*this, name)) return plain_double(*value);
  if (!has_input(input)) return std::nullopt;
  const Constant* constant = constants[input];
  known = constant != nullptr && constant->size() == 1;
  // A double holds no larger integers exactly.
  constexpr int64_t kLargestExact = int64_t{1} << 53;
  if (known && !constant->is_float()) known = constant->ints[0] >= -kLargestExact && constant->ints[0] <= kLargestExact;
  if (!known) return std::nullopt;
  return constant->is_float()
             ? (constant->type.dtype == ops::DType::f32 ? plain_double(static_cast<float>(constant->floats[0]))
                                                        : constant->floats[0])
             : static_cast<double>(constant->ints[0]);
}

std::optional<graph::NodeId> Maker::add(ops::Op op, std::span<const graph::Value> inputs, const ops::Attrs& attrs,
                                        std::string name) {
  // A left-out input: no operator of rlgo has one.
  ok_ = ok_ && std::ranges::none_of(inputs, [](const graph::Value& v) { return v.node == graph::kNoNode; });
  if (!ok_) return std::nullopt;
  auto id = editor_->try_add(op, inputs, attrs, nullptr, std::move(name));
  ok_ = id.has_value();
  return id;
}

graph::Value Maker::op(ops::Op op, std::initializer_list<graph::Value> inputs, const ops::Attrs& attrs) {
  const auto id = add(op, std::span<const graph::Value>(inputs.begin(), inputs.size()), attrs, {});
  return id ? graph::Value{*id, 0} : graph::Value{};
}

graph::Value Maker::weight(std::string name, std::shared_ptr<const graph::Blob> blob) {
  return editor_->add_weight(std::move(name), std::move(blob));
}

void Maker::out(ops::Op op, std::span<const graph::Value> inputs, const ops::Attrs& attrs) {
  const auto id = add(op, inputs, attrs, name_);
  if (!id) return;
  const auto ports = static_cast<int32_t>(editor_->node(*id).info->outputs.size());
  for (int32_t port = 0; port < ports; ++port) outputs_.push_back({*id, port});
}

void Maker::pass(graph::Value value) {
  ok_ = ok_ && value.node != graph::kNoNode;
  outputs_.push_back(value);
}

ops::TensorType Maker::type(graph::Value value) const {
  return ok_ && value.node != graph::kNoNode ? editor_->type(value) : ops::TensorType();
}

std::optional<ops::Attrs> Maker::reshape_attrs(graph::Value value, const ops::Extents& shape, bool as_given) {
  const auto items = ops::reshape_items(type(value), shape);
  ops::TensorType made = type(value);
  ok_ = ok_ && items && made.set_extents(shape);
  if (!ok_) return std::nullopt;
  ops::Attrs attrs{{ops::Attr::shape, *items}};
  if (!as_given && ops::needs_elements(type(value), *items, made)) {
    const auto rest = std::ranges::find(*items, ops::kRestExtent) - items->begin();
    ok_ = ops::axes_of(type(value), made.extent(rest)).has_value();
  }
  return ok_ ? std::optional(std::move(attrs)) : std::nullopt;
}

graph::Value Maker::reshaped(graph::Value value, const ops::Extents& shape) {
  ops::TensorType wanted = type(value);
  ok_ = ok_ && wanted.set_extents(shape);
  if (ok_ && wanted == type(value)) return value;
  const auto attrs = reshape_attrs(value, shape, false);
  return attrs ? op(ops::Op::reshape, {value}, *attrs) : graph::Value{};
}

void Maker::out_reshaped(graph::Value value, const ops::Extents& shape, bool as_given) {
  if (const auto attrs = reshape_attrs(value, shape, as_given)) out(ops::Op::reshape, {value}, *attrs);
}

std::optional<int64_t> normal_axis(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) return std::nullopt;
  return axis < 0 ? axis + rank : axis;
}

std::optional<Ints> normal_axes(const Ints& axes, int rank) {
  Ints normal;
  for (int64_t axis : axes) {
    const auto one = normal_axis(axis, rank);
    if (!one) return std::nullopt;
    normal.push_back(*one);
  }
  std::ranges::sort(normal);
  if (std::ranges::adjacent_find(normal) != normal.end()) return std::nullopt;
  return normal;
}

}  // namespace rlgo::onnx_io
