// Sums that add a value and take it away again, to round what stands between: (x + b) - b.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace onnx {
class NodeProto;
class TensorProto;
}  // namespace onnx

namespace rlgo::onnx_io {

class Magnitudes;

// Follows what is linear (sums, multiples, products by one value, what moves elements or adds them up) as multiples of
// what is not: b - (b - x) is b - b + x. Where multiples of one value cancel in a sum (ops::cancels), rounding decides
// what is left: compensated sums, numbers split into a high and a low part. The operators of such a sum are to stay. A
// constant that is added and taken away is rules::make_plan's affair.
class Cancelling {
 public:
  // `magnitudes` must outlive this; it knows what a node reads.
  explicit Cancelling(const Magnitudes& magnitudes) : magnitudes_(magnitudes) {}
  // A constant of the file: small ones of equal contents are one value.
  void add(const std::string& name, const onnx::TensorProto& tensor);
  // The next node in order, which lives as long as this. `is_constant` shows whether no input changes a value.
  void look_at(const onnx::NodeProto& node, const std::function<bool(const std::string&)>& is_constant);
  // Whether an operator of such a sum makes this value.
  bool holds(const std::string& name) const { return held_.contains(name); }

 private:
  using Form = std::map<uint64_t, double>;  // value, as a hash of what it is -> factor
  uint64_t key_of(const std::string& name) const;
  uint64_t key_of(const onnx::NodeProto& node, int first_input) const;
  Form form_of(const std::string& name) const;
  Form sum_of(const onnx::NodeProto& node, const std::function<bool(const std::string&)>& is_constant, bool& cancels);
  Form product_of(const onnx::NodeProto& node) const;
  Form mapped(const onnx::NodeProto& node) const;
  void hold(const std::string& name);

  const Magnitudes& magnitudes_;
  std::unordered_map<std::string, uint64_t> keys_;  // equal for equal values; else by name
  std::unordered_map<std::string, Form> forms_;     // of what is linear
  std::unordered_map<std::string, const onnx::NodeProto*> made_by_;
  std::unordered_set<std::string> held_;
};

}  // namespace rlgo::onnx_io
