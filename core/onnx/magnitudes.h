// Which values rounding changes by a small part of themselves only: 1 / x and log(x) are computed well where x is such.
#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>

namespace onnx {
class NodeProto;
class TensorProto;
}  // namespace onnx

namespace rlgo::onnx_io {

class TypeTable;

// What is known of the numbers of a value.
struct Magnitude {
  // However its arithmetic is rounded, each number changes by a small part of itself: what is read from the file or the
  // caller, integers, products, quotients and roots of such, sums of such that are never negative; and what a bound
  // keeps away from 0. Not differences: what is left of x - y may be rounding alone.
  bool steady = false;
  bool square = false;  // a square, or a sum of squares: near 0 its rounding is the square of its root's
  double least = -std::numeric_limits<double>::infinity(), most = std::numeric_limits<double>::infinity();
};

class Magnitudes {  // of the values of a model, found in order
 public:
  // `types` must outlive this.
  explicit Magnitudes(const TypeTable& types) : types_(types) {}
  // A constant, under a name that nothing else has.
  void add(const std::string& name, const onnx::TensorProto& tensor);
  // It is no constant after all: a caller may give another value.
  void forget(const std::string& name) { known_.erase(name); }
  // Of all outputs of a node; those that it reads come first.
  void look_at(const onnx::NodeProto& node);
  Magnitude of(const std::string& name) const;
  // Whether rounding of operand k may take the node's result from a number to infinity, to NaN, or to one of another
  // order: the divisor of a Div, what Log, Sqrt, Reciprocal and broken powers read, unless it is steady.
  bool at_pole(const onnx::NodeProto& node, int k) const;

 private:
  Magnitude made_by(const onnx::NodeProto& node) const;
  Magnitude of_sum(const onnx::NodeProto& node) const;
  Magnitude of_product(const onnx::NodeProto& node) const;
  Magnitude of_choice(const onnx::NodeProto& node) const;
  Magnitude of_power(const Magnitude& base, const Magnitude& exponent) const;
  Magnitude input(const onnx::NodeProto& node, int k) const;
  bool is_exact(const std::string& name) const;

  const TypeTable& types_;
  std::unordered_map<std::string, Magnitude> known_;
};

}  // namespace rlgo::onnx_io
