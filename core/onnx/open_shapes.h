// Extents of a model's values as functions of the sizes that it leaves open.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "core/onnx/open_constant.h"
#include "core/onnx/sampled_shapes.h"
#include "core/onnx/type_table.h"

namespace rlgo::onnx_io {

// Follows the operators of a model in order. What operators that rlgo does not know make, ONNX's inference shows, which
// passes the names of dimensions on; an extent that nothing is known of becomes a symbol of its own. What the file
// states of the shapes of its outputs and of values inside is not believed: it may be true at one size only.
class OpenShapes {
 public:
  // `samples`: sizes of the open dimensions, by name as in ImportOptions::dims. The model is left as it was.
  OpenShapes(onnx::ModelProto& model, const Sizes& samples);

  // The type of a value, given the one at the sample sizes: with open extents; unranked where not even the rank is
  // certain, or the samples contradict it.
  ops::TensorType type(const std::string& name, const ops::TensorType& sample);
  void set(const std::string& name, const ops::TensorType& type);
  void alias(const std::string& name, const std::string& other);  // `name` is another name of `other`
  // One name for extents that are the same at all sizes; other names for others.
  std::string name_of(const ops::Extent& extent);
  // The value of shape arithmetic that is the same at all sizes.
  std::optional<Constant> constant(const std::string& name) const;
  // Whether shape arithmetic makes a list in which that number stands, at all sizes.
  bool holds(const std::string& name, int64_t number) const;
  // Follows one operator, before type() is asked of its outputs. `resolved` has the types of type(), and the constants
  // that hold at all sizes.
  void step(const onnx::NodeProto& node, int version, bool is_standard, const OnnxNode& resolved);

 private:
  ops::Extents extents_;                          // by number in a dimension's name
  std::unordered_map<std::string, int> numbers_;  // of extents, by text
  int64_t next_symbol_ = 0;
  TypeTable types_;
  std::unordered_map<std::string, OpenConstant> constants_;
};

}  // namespace rlgo::onnx_io
