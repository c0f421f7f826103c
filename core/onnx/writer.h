// Appends operators and constants to a model message under fresh names. Op writers (write_*.cc) see nothing else of it.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/graph/graph.h"
#include "core/onnx/onnx_node.h"

namespace onnx {
class ModelProto;
class NodeProto;
}  // namespace onnx

namespace rlgo::onnx_io {

using Names = std::vector<std::string>;
using OnnxAttrs = std::vector<std::pair<std::string_view, OnnxAttr>>;

class Writer {
 public:
  Writer(onnx::ModelProto& model, int opset);
  int opset() const { return opset_; }

  // The name from now on belongs to somebody. False where it did already.
  bool claim(const std::string& name) { return taken_.insert(name).second; }
  void reserve(const std::unordered_set<std::string>& names) { taken_.insert(names.begin(), names.end()); }
  std::string fresh(std::string_view hint);

  // Name and documentation of the operator being written: node() bears them; what temp() writes gets names derived from
  // it.
  void begin(std::string node_name, std::string header);
  void node(std::string_view op, const Names& inputs, const Names& outputs, const OnnxAttrs& attrs = {});
  // An operator on the way; returns the name of its one output.
  std::string temp(std::string_view op, const Names& inputs, const OnnxAttrs& attrs = {});
  void raw_node(onnx::NodeProto node);

  // Whether a constant of that name may be an initialiser: before ir_version 4 initialisers must be inputs.
  bool takes_initialiser(const std::string& name) const;
  // Constants: an initialiser where it may be one, else a Constant operator; before opset 9 that makes floats alone,
  // and a Cast makes integers and booleans of them. `notes`: see proto.h.
  void constant(const std::string& name, const ops::TensorType& type, std::string bytes, const std::string& notes = {});
  // An initialiser whose contents are all of a file in the model's folder. takes_initialiser() must be true.
  void constant_in_file(const std::string& name, const ops::TensorType& type, const std::string& file,
                        const std::string& notes);
  std::string ints(const Ints& values);
  std::string floats(const std::vector<double>& values);  // f32
  std::string scalar(double value, ops::DType dtype);

 private:
  void constant_node(const std::string& name, const ops::TensorType& type, std::string bytes, const std::string& notes);
  std::string shared_constant(const ops::TensorType& type, std::string bytes);
  std::string unique_node_name(std::string name);
  onnx::ModelProto& model_;
  int opset_;
  std::unordered_set<std::string> taken_;
  std::unordered_set<std::string> node_names_;
  std::unordered_set<std::string> declared_inputs_;
  std::unordered_map<std::string, std::string> shared_;  // type and bytes -> name
  std::string node_name_, header_;
  int next_ = 0;
};

// One node of the graph with the names of its values in the file.
struct OutNode {
  ops::Op op;
  const ops::Attrs& attrs;
  Names inputs, outputs;
  ops::Types input_types, output_types;
  bool transposed_a = false,
       transposed_b = false;  // matmul: inputs 0 and 1 are to be read transposed (last two axes; rank 2)
  bool leaves_rest = false;   // reshape: as the file or a rule does, which may then fail where an open size is 0
};

// Writes an operator in the forms of the writer's opset, or as an equivalent expression where that opset lacks it. Not
// for inputs, weights and opaque operators. Throws Error where it cannot be expressed.
void write_op(Writer& writer, const OutNode& node);
// Whether this matmul becomes a Gemm, which can read inputs transposed.
bool is_gemm(const ops::Types& input_types, bool transposed, int opset);

}  // namespace rlgo::onnx_io
