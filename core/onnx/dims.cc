#include "core/onnx/dims.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/base/text.h"

namespace rlgo::onnx_io {
namespace {

using Dims = std::map<std::string, int64_t>;

std::string place_name(const onnx::ValueInfoProto& value, int axis) { return fmt::format("{}:{}", value.name(), axis); }

void bind(onnx::ValueInfoProto& value, const Dims& dims, bool by_place, std::set<std::string>& used) {
  if (!value.type().has_tensor_type() || !value.type().tensor_type().has_shape()) return;
  auto& shape = *value.mutable_type()->mutable_tensor_type()->mutable_shape();
  for (int axis = 0; axis < shape.dim_size(); ++axis) {
    auto& dim = *shape.mutable_dim(axis);
    auto found = by_place ? dims.find(place_name(value, axis)) : dims.end();
    if (found == dims.end() && dim.has_dim_param()) found = dims.find(dim.dim_param());
    if (found == dims.end()) continue;
    if (dim.has_dim_value() && dim.dim_value() >= 0 && dim.dim_value() != found->second) {
      fail("dimension '{}' is {} in the model and cannot become {}", found->first, dim.dim_value(), found->second);
    }
    dim.set_dim_value(found->second);
    used.insert(found->first);
  }
}

// "?" names nothing: exporters write it for each dimension that they do not know.
bool is_named(const onnx::TensorShapeProto::Dimension& dim) {
  return dim.has_dim_param() && !dim.dim_param().empty() && dim.dim_param() != "?";
}

// Every name that a dimension could be bound by.
std::vector<std::string> bindable(const onnx::GraphProto& graph) {
  std::set<std::string> names;
  for (const auto& input : graph.input()) {
    const auto& shape = input.type().tensor_type().shape();
    for (int axis = 0; axis < shape.dim_size(); ++axis) {
      if (shape.dim(axis).has_dim_value()) continue;
      names.insert(dim_name(input, axis));
    }
  }
  return {names.begin(), names.end()};
}

}  // namespace

bool is_named_dim(const onnx::ValueInfoProto& input, int axis) {
  return is_named(input.type().tensor_type().shape().dim(axis));
}

std::string dim_name(const onnx::ValueInfoProto& input, int axis) {
  return is_named_dim(input, axis) ? input.type().tensor_type().shape().dim(axis).dim_param() : place_name(input, axis);
}

Dims by_name(const onnx::ModelProto& model, const Dims& dims) {
  Dims named = dims;
  for (const auto& input : model.graph().input()) {
    const int rank = input.type().tensor_type().shape().dim_size();
    for (int axis = 0; axis < rank; ++axis) {
      const auto given = named.find(place_name(input, axis));
      if (given == named.end() || !is_named_dim(input, axis)) continue;
      const auto [known, is_new] = named.emplace(dim_name(input, axis), given->second);
      if (!is_new && known->second != given->second) {
        fail("'{}' is axis {} of input '{}': it cannot be {} and {} at once", known->first, axis, input.name(),
             known->second, given->second);
      }
      named.erase(place_name(input, axis));
    }
  }
  return named;
}

void bind_dims(onnx::ModelProto& model, const Dims& given) {
  if (given.empty()) return;
  const Dims dims = by_name(model, given);
  auto& graph = *model.mutable_graph();
  const auto known = bindable(graph);
  for (const auto& [name, size] : dims) {
    if (size < 0) fail("dimension '{}' cannot be {}", name, size);
  }
  std::set<std::string> used;
  for (auto& input : *graph.mutable_input()) bind(input, dims, true, used);
  for (const auto& [name, size] : dims) {
    if (used.contains(name)) continue;
    fail("no input has an open dimension '{}'{}; open are: {}", name, did_you_mean(name, known),
         known.empty() ? "none" : join(known, ", "));
  }
  for (auto& output : *graph.mutable_output()) bind(output, dims, false, used);
  for (auto& value : *graph.mutable_value_info()) {
    if (value.type().has_tensor_type()) value.mutable_type()->mutable_tensor_type()->clear_shape();
  }
}

bool open_negative_dims(onnx::ModelProto& model) {
  bool found = false;
  auto& graph = *model.mutable_graph();
  for (auto* values : {graph.mutable_input(), graph.mutable_output(), graph.mutable_value_info()}) {
    for (auto& value : *values) {
      if (!value.type().has_tensor_type() || !value.type().tensor_type().has_shape()) continue;
      for (auto& dim : *value.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim()) {
        if (!dim.has_dim_value() || dim.dim_value() != -1) continue;
        dim.clear_dim_value();
        found = true;
      }
    }
  }
  return found;
}

std::vector<OpenDim> open_dims(const onnx::ModelProto& model) {
  std::vector<OpenDim> found;
  for (const auto& input : model.graph().input()) {
    if (!input.type().has_tensor_type()) continue;
    const auto& shape = input.type().tensor_type().shape();
    for (int axis = 0; axis < shape.dim_size(); ++axis) {
      if (!shape.dim(axis).has_dim_value())
        found.push_back({dim_name(input, axis), input.name(), axis, shape.dim_size()});
    }
  }
  return found;
}

std::vector<std::string> open_dims_text(const onnx::ModelProto& model) {
  std::vector<std::string> found;
  for (const auto& input : model.graph().input()) {
    if (input.type().has_tensor_type() && !input.type().tensor_type().has_shape())
      found.push_back(fmt::format("all of them (input '{}' has no shape)", input.name()));
  }
  std::set<std::string> seen;
  for (const OpenDim& dim : open_dims(model)) {
    if (seen.insert(dim.name).second)
      found.push_back(fmt::format("{} (input '{}', axis {})", dim.name, dim.input, dim.axis));
  }
  return found;
}

}  // namespace rlgo::onnx_io
