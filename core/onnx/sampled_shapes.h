// A model's types and shape arithmetic at sample sizes of the dimensions that it leaves open.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>

#include "core/onnx/onnx_node.h"
#include "core/onnx/type_table.h"

namespace rlgo::onnx_io {

using Sizes = std::map<std::string, int64_t>;  // by symbolic name, or "input:axis"

// Sizes for the model's open dimensions, none of them 1, which would broadcast. `wanted` overrides some. Where
// `by_axis`, dimensions of different names at the same axis have the same size. Empty where nothing is open, or an
// input has not even a rank.
Sizes sample_sizes(const onnx::ModelProto& model, const Sizes& wanted, bool by_axis);

// While it lives, the model states nothing of the shapes of its outputs and of values inside, nor bodies of operators
// of those of their inputs: that is for other sizes. Then its inputs, too, are as they were.
class ForgottenShapes {
 public:
  explicit ForgottenShapes(onnx::ModelProto& model);
  ~ForgottenShapes();
  ForgottenShapes(const ForgottenShapes&) = delete;
  ForgottenShapes& operator=(const ForgottenShapes&) = delete;

 private:
  struct Saved;
  std::unique_ptr<Saved> saved_;
};

class SampledShapes {  // types at one choice of the open sizes
 public:
  // Types of all values at these sizes. The model is left as it was.
  SampledShapes(onnx::ModelProto& model, const Sizes& sizes);
  bool is_contradictory() const { return !types_.contradiction().empty(); }

  // Follows one operator. `resolved` is the importer's, whose types and constants are replaced by those at these sizes;
  // constants that hold at all sizes stay.
  void step(const onnx::NodeProto& node, int version, bool is_standard, OnnxNode& resolved);
  ops::TensorType type(const std::string& name) const { return types_.type(name); }
  void set(const std::string& name, const ops::TensorType& type) { types_.set(name, type); }
  void alias(const std::string& name, const std::string& other);  // `name` is another name of `other`

 private:
  TypeTable types_;
  std::unordered_map<std::string, Constant> constants_;
  int64_t elements_ = 0;  // of these
};

}  // namespace rlgo::onnx_io
