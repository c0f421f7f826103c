// A model's types and shape arithmetic at sample sizes of the dimensions that it leaves open.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "core/onnx/onnx_node.h"
#include "core/onnx/type_table.h"

namespace rlgo::onnx_io {

using Sizes = std::map<std::string, int64_t>;  // by symbolic name, or "input:axis"

// Two sets of sizes for the model's open dimensions. `wanted` overrides some of the first. The sets differ in every
// dimension, and no size is 1, which would broadcast. Where `by_axis`, dimensions of different names at the same axis
// have the same size. Empty where nothing is open, or an input has not even a rank.
struct SampleSizes {
  Sizes first, second;
};
SampleSizes sample_sizes(const onnx::ModelProto& model, const Sizes& wanted, bool by_axis);

class Shadow {
 public:
  // Types of all values at these sizes. The model is left as it was.
  Shadow(onnx::ModelProto& model, const Sizes& sizes);
  bool is_contradictory() const { return !types_.contradiction().empty(); }

  // Follows one operator. `call` is the importer's, whose types and constants are replaced by this shadow's; constants
  // that hold at all sizes stay.
  void step(const onnx::NodeProto& node, int version, bool is_standard, Call& call);
  ops::TensorType type(const std::string& name) const { return types_.type(name); }
  void set(const std::string& name, const ops::TensorType& type) { types_.set(name, type); }

 private:
  TypeTable types_;
  std::unordered_map<std::string, Constant> constants_;
};

// One attribute `shape` for a reshape that must hold at both sizes; nothing where there is none.
std::optional<Ints> open_reshape(const ops::Shape& in_a, const ops::Shape& out_a, const ops::Shape& in_b,
                                 const ops::Shape& out_b);

}  // namespace rlgo::onnx_io
