// The main graph of a quantised model, indexed for rewriting. Implementation files of core/onnx only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/onnx/constant.h"
#include "core/onnx/onnx.h"
#include "core/onnx/proto.h"

namespace rlgo::onnx_io {

// How a QuantizeLinear or DequantizeLinear maps integers to real numbers: scale * (q - zero).
struct Quantisation {
  std::vector<double> scales;  // one, or one for each index of `axis`
  std::vector<int64_t> zeros;  // as many
  ops::DType type;             // u8, i8, u16, i16
  int64_t axis = 0;            // 0 where there is one scale
  bool operator==(const Quantisation&) const = default;
  bool per_tensor() const { return scales.size() == 1; }
  int64_t least() const;
  int64_t most() const;
  // What QuantizeLinear makes of `x` by the k-th scale.
  int64_t quantised(float x, size_t k) const;
};

class QuantisedGraph {  // edits the message; its operators keep their addresses
 public:
  struct Reader {  // an operator that reads a value, as this input
    onnx::NodeProto* node;
    int input;
  };
  // `constants`: holds the initialisers of the model; another message where `model` has its nodes alone.
  QuantisedGraph(onnx::ModelProto& model, const onnx::GraphProto& constants);

  int opset() const { return opset_; }
  // Live operators as they are now; those that are added later are not among them.
  std::vector<onnx::NodeProto*> nodes();
  onnx::NodeProto* maker(const std::string& value) const;
  const std::vector<Reader>& readers(const std::string& value) const;
  // Operators of the main graph alone read it: no output of the graph, no body of an operator.
  bool is_inner(const std::string& value) const { return !pinned_.contains(value); }
  bool is_input(const std::string& value) const { return inputs_.contains(value); }
  // A tensor that no caller can override; null where it is none.
  const onnx::TensorProto* constant(const std::string& value) const;
  // Its numbers; nothing where it is no constant of a type that rlgo knows.
  std::optional<Constant> numbers(const std::string& value) const;
  // Of a standard QuantizeLinear or DequantizeLinear in f32 with constants, scales neither tiny nor huge.
  std::optional<Quantisation> quantisation(const onnx::NodeProto& node) const;

  // A name that nothing has.
  std::string fresh(const std::string& like);
  // Adds a constant and returns its name.
  std::string add(const std::string& like, ops::DType type, const std::vector<int64_t>& dims, std::string bytes);
  std::string add_scalar(const std::string& like, ops::DType type, int64_t value);
  // A copy of `like`, without its name, that makes `output`. Its inputs count as read once it is settled.
  onnx::NodeProto* add_copy(const onnx::NodeProto& like, const std::string& output);
  // What reads `from` (is_inner) reads `to`.
  void redirect(const std::string& from, const std::string& to);
  // Of values that have another type now.
  void forget_type(const std::string& value) { retyped_.insert(value); }
  // Takes out operators that nothing reads, and brings the index up to date after edits of nodes.
  void settle();
  // Writes what is left into the model.
  void finish();
  void note(const onnx::NodeProto& node, std::string_view rewrite);
  std::vector<Change> changes;

 private:
  onnx::GraphProto& graph_;
  const onnx::GraphProto& source_;
  int opset_;
  std::unordered_map<std::string, const onnx::TensorProto*> constants_;
  std::unordered_map<std::string, onnx::NodeProto*> makers_;
  std::unordered_map<std::string, std::vector<Reader>> readers_;
  std::unordered_set<std::string> names_, inputs_, pinned_, retyped_;
};

// An operator of the standard domain.
bool is_standard_op(const onnx::NodeProto& node, std::string_view op);
// An attribute that is there; null where it is not.
const onnx::AttributeProto* attribute_of(const onnx::NodeProto& node, std::string_view name);
// The name of an input; "" where it is left out.
const std::string& input_of(const onnx::NodeProto& node, int k);

// The rewrites, each until nothing changes (quantised_types.cc, quantised_order.cc).
void flip_weights(QuantisedGraph& graph, ops::DType to, std::string_view family);
void flip_activations(QuantisedGraph& graph);
void remove_dead(QuantisedGraph& graph, bool with_moves);
void clip_behind(QuantisedGraph& graph);

}  // namespace rlgo::onnx_io
