#include "core/onnx/open_shapes.h"

#include <onnx/onnx_pb.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/onnx/dims.h"

namespace rlgo::onnx_io {
namespace {

using ops::Extent;

// Names of dimensions that no file has.
constexpr std::string_view kPrefix = "rlgo extent ";

}  // namespace

// The inputs' open dimensions are named by their symbols while ONNX infers.
OpenShapes::OpenShapes(onnx::ModelProto& model, const Sizes& samples)
    : types_([&] {
        const ForgottenShapes forgotten(model);
        std::unordered_map<std::string, std::string> names;
        for (auto& input : *model.mutable_graph()->mutable_input()) {
          if (!input.type().has_tensor_type() || !input.type().tensor_type().has_shape()) continue;
          auto& shape = *input.mutable_type()->mutable_tensor_type()->mutable_shape();
          for (int axis = 0; axis < shape.dim_size(); ++axis) {
            if (shape.dim(axis).has_dim_value()) continue;
            const std::string dim = dim_name(input, axis);
            auto& name = names[dim];
            const auto sample = samples.find(dim);
            if (name.empty() && sample != samples.end())
              name = name_of(Extent::symbol(next_symbol_++, sample->second, 1));
            shape.mutable_dim(axis)->set_dim_param(name);
          }
        }
        return TypeTable(model);
      }()) {}

std::string OpenShapes::name_of(const Extent& extent) {
  std::string key = extent.text();
  for (const auto& term : extent.terms()) {
    for (const auto& atom : term.atoms) key += fmt::format(" {}", atom->least);  // what is known of it
  }
  const auto [place, is_new] = numbers_.try_emplace(key, static_cast<int>(extents_.size()));
  if (is_new) extents_.push_back(extent);
  return std::string(kPrefix) + std::to_string(place->second);
}

ops::TensorType OpenShapes::type(const std::string& name, const ops::TensorType& sample) {
  auto unknown = ops::TensorType::unranked(sample.dtype);
  auto dims = types_.dims(name);
  if (!sample.is_static() || !dims || static_cast<int>(dims->size()) != sample.rank()) return unknown;
  ops::Extents extents;
  bool is_new = false;
  for (size_t d = 0; d < dims->size(); ++d) {
    auto& dim = (*dims)[d];
    if (dim.value != ops::kUnknown) {
      extents.emplace_back(dim.value);
    } else if (dim.name.starts_with(kPrefix)) {
      extents.push_back(extents_[static_cast<size_t>(*parse_int(dim.name.substr(kPrefix.size())))]);
    } else {
      extents.push_back(Extent::symbol(next_symbol_++, sample.shape[d], 0));
      dim.name = name_of(extents.back());
      is_new = true;
    }
  }
  ops::TensorType type = sample;
  if (!type.set_extents(std::move(extents)) || type.shape != sample.shape) return unknown;
  if (is_new) types_.set_dims(name, sample.dtype, *dims);
  return type;
}

void OpenShapes::set(const std::string& name, const ops::TensorType& type) {
  std::vector<TypeTable::Dim> dims;
  for (const Extent& extent : type.extents()) {
    const auto number = extent.number();
    dims.push_back(number ? TypeTable::Dim{*number, {}} : TypeTable::Dim{ops::kUnknown, name_of(extent)});
  }
  types_.set_dims(name, type.dtype, dims);
}

void OpenShapes::alias(const std::string& name, const std::string& other) {
  types_.alias(name, other);
  if (const auto found = constants_.find(other); found != constants_.end()) {
    OpenConstant same = found->second;
    constants_[name] = std::move(same);
  }
}

std::optional<Constant> OpenShapes::constant(const std::string& name) const {
  const auto found = constants_.find(name);
  return found == constants_.end() ? std::nullopt : to_closed(found->second);
}

bool OpenShapes::holds(const std::string& name, int64_t number) const {
  const auto found = constants_.find(name);
  return found != constants_.end() &&
         std::ranges::any_of(found->second.items, [&](const auto& item) { return item.number() == number; });
}

void OpenShapes::step(const onnx::NodeProto& node, int version, bool is_standard, const OnnxNode& resolved) {
  const auto constant = [&](int k) { return resolved.constants[static_cast<size_t>(k)]; };
  if (version > 0) types_.refine(node, version, constant, true);
  if (!is_standard || node.output_size() != 1) return;
  std::vector<OpenConstant> weights(resolved.inputs.size());
  std::vector<const OpenConstant*> known(resolved.inputs.size(), nullptr);
  for (int k = 0; k < node.input_size(); ++k) {
    const auto index = static_cast<size_t>(k);
    if (const auto found = constants_.find(node.input(k)); found != constants_.end()) {
      known[index] = &found->second;
    } else if (constant(k) != nullptr) {
      if (auto open = to_open(*constant(k))) {
        weights[index] = std::move(*open);
        known[index] = &weights[index];
      }
    }
  }
  if (auto extents = open_output(resolved, known)) {
    ops::TensorType type(resolved.output_types[0].dtype, {});
    if (type.set_extents(std::move(*extents)) && type.shape == resolved.output_types[0].shape)
      set(node.output(0), type);
  }
  if (auto value = evaluate_open(resolved, known)) {
    set(node.output(0), value->type);
    constants_[node.output(0)] = std::move(*value);
  }
}

}  // namespace rlgo::onnx_io
