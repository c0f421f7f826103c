// One operator of a model file as the converters see it, without protobuf; and the tool with which they answer.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/graph/editor.h"
#include "core/onnx/constant.h"

namespace rlgo::onnx_io {

using Ints = ops::Ints;
using Floats = std::vector<float>;
using Words = std::vector<std::string>;
// Constant: a small tensor. monostate: an attribute of another kind (graph, large tensor, reference, ...).
using OnnxAttr = std::variant<std::monostate, int64_t, float, std::string, Ints, Floats, Words, Constant>;

// The double with the shortest decimal form that rounds to this float: 0.1f is 0.1, as people and rules write it.
double plain_double(float value);

struct OnnxNode {
  std::string op;  // of ai.onnx
  int opset = 0;   // of ai.onnx
  std::map<std::string, OnnxAttr> attrs;
  std::vector<graph::Value> inputs;           // node kNoNode where left out
  std::vector<ops::TensorType> input_types;   // one per input, also of those left out
  std::vector<const Constant*> constants;     // one per input, null where not known
  std::vector<std::string> outputs;           // names, "" where nobody reads it
  size_t listed_outputs = 0;                  // how many the file names, read or not
  std::vector<ops::TensorType> output_types;  // as ONNX infers; perhaps not static

  bool has_input(size_t i) const { return i < inputs.size() && inputs[i].node != graph::kNoNode; }
  const Constant* constant(size_t i) const { return has_input(i) ? constants[i] : nullptr; }
  bool only_first_output() const;  // nobody reads the others
  bool has(std::string_view name) const { return attrs.contains(std::string(name)); }
  // The attribute, or the fallback where it is absent or of another kind.
  int64_t i(std::string_view name, int64_t fallback) const;
  double f(std::string_view name, double fallback) const;
  std::string s(std::string_view name, std::string_view fallback) const;
  std::optional<Ints> ints(std::string_view name) const;
  const Constant* tensor(std::string_view name) const;
  // Numbers that are an attribute in older opsets and input number `input` in newer ones. Nothing where absent; `known`
  // is false where the input is there but not constant.
  std::optional<Ints> ints_of(std::string_view name, size_t input, bool& known) const;
  std::optional<double> scalar_of(std::string_view name, size_t input, bool& known) const;
};

// Adds nodes of our graph for one of ONNX. The first operator that does not fit makes the whole conversion fail, and
// the rest does nothing.
class Maker {
 public:
  Maker(graph::Editor& editor, std::string name) : editor_(&editor), name_(std::move(name)) {}

  // An operator on the way.
  graph::Value op(ops::Op op, std::initializer_list<graph::Value> inputs, const ops::Attrs& attrs = {});
  graph::Value weight(std::string name, std::shared_ptr<const graph::Blob> blob);
  // The operator that gives the node's outputs (its next ones: one per port), and bears the model's name for it.
  void out(ops::Op op, std::span<const graph::Value> inputs, const ops::Attrs& attrs = {});
  void out(ops::Op op, std::initializer_list<graph::Value> inputs, const ops::Attrs& attrs = {}) {
    out(op, std::span<const graph::Value>(inputs.begin(), inputs.size()), attrs);
  }
  // The node lists only so many of the outputs that were made for it.
  void keep_outputs(size_t count) { outputs_.resize(std::min(count, outputs_.size())); }
  // The node's next output is this value itself.
  void pass(graph::Value value);
  // This type; static once everything before has fitted. A scalar where it has not.
  ops::TensorType type(graph::Value value) const;
  // reshape, or the value itself where it has that shape.
  graph::Value reshaped(graph::Value value, const ops::Extents& shape);
  // The same as the operator that gives the node's output. `as_given`: the model has such a reshape itself; else what
  // cannot be written so that it runs where an open size is 0 does not fit.
  void out_reshaped(graph::Value value, const ops::Extents& shape, bool as_given = false);

  bool ok() const { return ok_; }
  const std::vector<graph::Value>& outputs() const { return outputs_; }

 private:
  std::optional<ops::Attrs> reshape_attrs(graph::Value value, const ops::Extents& shape, bool as_given);
  std::optional<graph::NodeId> add(ops::Op op, std::span<const graph::Value> inputs, const ops::Attrs& attrs,
                                   std::string name);
  graph::Editor* editor_;
  std::string name_;
  bool ok_ = true;
  std::vector<graph::Value> outputs_;
};

// False: this node is not one that rlgo can express. The inputs that are present have static types.
using Converter = bool (*)(const OnnxNode& node, Maker& maker);
// Null where rlgo has no such operator.
Converter find_converter(std::string_view op);

// A negative axis counts from the end. Nothing where it is out of range.
std::optional<int64_t> normal_axis(int64_t axis, int rank);
// Sorted, non-negative; nothing where one is out of range or given twice.
std::optional<Ints> normal_axes(const Ints& axes, int rank);
// No axis has so many elements: files express "to the end" by such numbers.
constexpr int64_t kBehindEnd = 1'000'000'000;
// Whether no extent depends on an open size; of one axis: !TensorType::is_open.
inline bool is_closed(const ops::TensorType& type) { return type.is_static() && !type.open; }
inline Ints to_ints(const ops::Shape& shape) { return Ints(shape.begin(), shape.end()); }

}  // namespace rlgo::onnx_io
