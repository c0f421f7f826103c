// Where rounding decides: floor(x / 3) at x = 3 is 1, and floor(x * 0.33333334f) may be 0.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/onnx/cancelling.h"
#include "core/onnx/magnitudes.h"

namespace onnx {
class GraphProto;
class NodeProto;
class TensorProto;
}  // namespace onnx

namespace rlgo::onnx_io {

class TypeTable;

// Knows the values whose last bit may decide a whole number, a truth value, an index or a size, and what is decided:
// floating-point arithmetic makes them, they reach an operator with steps (Floor, Round, Cast to integers, Less, Equal,
// TopK, QuantizeLinear, bodies, operators of other domains, ...) and come from inputs, constants, shapes and results of
// such operators alone, so that they may lie on a step exactly, and often. A slope of thousands that ends flat, as in
// Clip(x * 1e6, 0, 1), is a step, too. Rules are equalities of real numbers and round otherwise; so no rule replaces
// what makes these values (graph::NodeInfo::fixed). So it is where rounding decides between a number and infinity, or
// about its order: 1 / (x / 3 * 7 - c), log(x - y) (Magnitudes::at_pole); in sums that take away again what they
// add (Cancelling); and in masks, x + (1 - m) * -3e38: of x + m * 3e38 - 3e38 nothing of x is left. So a steep multiple
// of what may be a whole number is not multiplied out where it ends in a sum, nor is a sum with a steep constant.
//
// What convolutions, products of matrices and recurrent layers make of weights that are like numbers drawn at random
// (not whole numbers, nor a few again and again, nor halves) lies on a step by chance only: the rest of the network is
// not held up by a TopK at its end.
class Decisions {
  // Of constants: whether they are like numbers drawn at random, or are so once a scale has made numbers of them.
  enum class Kind { plain, quantised, random };

 public:
  // `read`: values that some node, body or output of the graph reads. Both must outlive this.
  Decisions(const TypeTable& types, const std::unordered_set<std::string>& read)
      : types_(types), read_(read), magnitudes_(types), cancelling_(magnitudes_) {}
  // The main graph, before all else; or a branch, under names that nothing else has, that stands in place of its If,
  // whose outputs are `outputs` ("" where one is not read). Its nodes and tensors must outlive this.
  void enter(const onnx::GraphProto& graph, const std::vector<std::string>& outputs = {});
  // Whether a value that the node makes is such.
  bool at(const onnx::NodeProto& node) const;

 private:
  void look_at(const onnx::NodeProto& node);
  void find(const onnx::GraphProto& graph);
  void hold(const std::string& name);
  void follow();
  bool is_float(const std::string& name) const;
  bool has_step(const onnx::NodeProto& node, int k) const;
  bool is_steep(const std::string& name, int depth) const;
  bool is_slope(const onnx::NodeProto& node) const;
  void hold_masks(const onnx::NodeProto& sum);
  bool has_number_beyond(const std::string& constant, bool large) const;
  bool is_regular(const std::string& name) const;
  bool is_constant(const std::string& name) const { return constants_.contains(name); }
  bool mixes(const std::string& name) const;
  static Kind kind_of(const onnx::TensorProto& tensor);
  Kind kind_of(const onnx::NodeProto& node) const;

  const TypeTable& types_;
  const std::unordered_set<std::string>& read_;
  Magnitudes magnitudes_;
  Cancelling cancelling_;
  std::unordered_map<std::string, Kind> constants_;                    // what no input changes
  std::unordered_map<std::string, const onnx::TensorProto*> tensors_;  // of those that the file has
  std::unordered_map<std::string, const onnx::NodeProto*> made_by_;
  std::unordered_set<std::string> irregular_;  // on no step but by chance
  std::unordered_set<std::string> seen_, held_;
  std::vector<const onnx::NodeProto*> waiting_;
};

}  // namespace rlgo::onnx_io
