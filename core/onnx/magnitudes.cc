#include "core/onnx/magnitudes.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "core/onnx/constant.h"
#include "core/onnx/proto.h"
#include "core/onnx/type_table.h"

namespace rlgo::onnx_io {
namespace {

using Words = std::unordered_set<std::string_view>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kMostLookedAt = 1 << 16;  // numbers of a constant

// They move or choose numbers of their first operand.
const Words& moving() {
  static const Words kWords{"Identity",      "Transpose", "Reshape",      "Squeeze",        "Unsqueeze", "Flatten",
                            "Slice",         "Split",     "Gather",       "GatherElements", "GatherND",  "Expand",
                            "Tile",          "Dropout",   "DepthToSpace", "SpaceToDepth",   "Cast",      "MaxPool",
                            "GlobalMaxPool", "ReduceMax", "ReduceMin"};
  return kWords;
}

// They put zeros next to, or sums of fewer numbers.
const Words& with_zeros() {
  static const Words kWords{"Pad", "Trilu", "AveragePool", "CumSum"};
  return kWords;
}

// Sums of what they read.
const Words& summing() {
  static const Words kWords{"ReduceMean", "ReduceSum", "AveragePool", "CumSum", "GlobalAveragePool"};
  return kWords;
}

// f(-x) = -f(x), and f has no other zero than 0.
const Words& odd() {
  static const Words kWords{"Tanh", "Erf", "Sinh", "Asinh", "Atan", "Softsign", "Sign", "LeakyRelu", "Elu"};
  return kWords;
}

// Their results are whole numbers, or drawn: Decisions sees to what the former read.
const Words& exact() {
  static const Words kWords{
      "Floor",  "Ceil", "Round", "Range", "RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike",
      "Hardmax"};
  return kWords;
}

double attribute_or(const onnx::NodeProto& node, std::string_view name, double otherwise) {
  for (const auto& attribute : node.attribute()) {
    if (attribute.name() == name) return attribute.f();
  }
  return otherwise;
}

// A power that is a product: x * x * x.
bool is_whole(const Magnitude& exponent) {
  return exponent.least == exponent.most && exponent.least >= 0 && exponent.least == std::trunc(exponent.least);
}

}  // namespace

void Magnitudes::add(const std::string& name, const onnx::TensorProto& tensor) {
  Magnitude& known = known_[name] = {.steady = true};
  if (tensor.external_data_size() > 0) return;
  const auto type = tensor_type_of(tensor);
  if (type.dtype == ops::DType::other || type.elements() == 0 || type.elements() > kMostLookedAt) return;
  const auto constant = constant_from_bytes(type, copy_bytes(tensor));
  const auto bound = [&](const auto& numbers) {
    const auto [least, most] = std::ranges::minmax_element(numbers);
    const bool finite = std::ranges::all_of(numbers, [](auto number) { return std::isfinite(double(number)); });
    if (!finite) return;
    known.least = static_cast<double>(*least);
    known.most = static_cast<double>(*most);
  };
  constant.is_float() ? bound(constant.floats) : bound(constant.ints);
}

void Magnitudes::look_at(const onnx::NodeProto& node) {
  Magnitude made = is_standard_domain(node.domain()) ? made_by(node) : Magnitude{};
  if (std::isnan(made.least)) made.least = -kInfinity;
  if (std::isnan(made.most)) made.most = kInfinity;
  made.steady = made.steady || made.least > 0;
  for (const auto& name : node.output()) {
    if (name.empty()) continue;
    known_[name] = made;
    if (is_exact(name)) known_[name].steady = true;
  }
  if (node.op_type() != "Constant" && node.op_type() != "ConstantOfShape") return;
  for (const auto& attribute : node.attribute()) {
    if (attribute.name() == "value") add(node.output(0), attribute.t());
    if (attribute.name() == "value_float") known_[node.output(0)] = {true, false, attribute.f(), attribute.f()};
  }
}

Magnitude Magnitudes::of(const std::string& name) const {
  const auto found = known_.find(name);
  return found == known_.end() ? Magnitude{.steady = true} : found->second;
}

bool Magnitudes::at_pole(const onnx::NodeProto& node, int k) const {
  const auto& op = node.op_type();
  const bool power = op == "Pow" && k == 0, root = op == "Sqrt" || power;
  const bool reads = op == "Log" || op == "Reciprocal" || op == "ReduceLogSum" || (op == "Div" && k == 1) || root;
  if (!reads || !is_standard_domain(node.domain())) return false;
  const Magnitude operand = input(node, k);
  const Magnitude exponent = power ? input(node, 1) : Magnitude{.least = 0.5};
  return !operand.steady && !(power && is_whole(exponent)) && !(operand.square && root && exponent.least >= 0.5);
}

// Of what is read only once a name for it is there; nothing else is known of it.
Magnitude Magnitudes::input(const onnx::NodeProto& node, int k) const {
  return k < node.input_size() && !node.input(k).empty() ? of(node.input(k)) : Magnitude{.steady = true};
}

bool Magnitudes::is_exact(const std::string& name) const {
  const auto dtype = types_.type(name).dtype;
  return dtype != ops::DType::other && !ops::is_float(dtype);
}

Magnitude Magnitudes::made_by(const onnx::NodeProto& node) const {
  const auto& op = node.op_type();
  const Magnitude x = input(node, 0);
  const double from_zero = x.least >= 0 ? 0 : -kInfinity;
  if (moving().contains(op)) return x;
  if (summing().contains(op) || with_zeros().contains(op)) {
    const double least = x.least < 0 ? -kInfinity : with_zeros().contains(op) ? 0 : x.least;
    return {x.steady && (x.least >= 0 || !summing().contains(op)), x.square, least};
  }
  if (op == "Add" || op == "Sum" || op == "Sub") return of_sum(node);
  if (op == "Mul" || op == "Div" || op == "MatMul") return of_product(node);
  if (op == "Concat" || op == "Where" || op == "Max" || op == "Min" || op == "Clip") return of_choice(node);
  if (op == "Pow") return of_power(x, input(node, 1));
  if (op == "Relu") return {x.steady, x.square, std::max(x.least, 0.0), std::max(x.most, 0.0)};
  if (op == "Abs") return {x.steady, x.square, std::max(x.least, 0.0)};
  if (op == "Neg") return {x.steady, false, -x.most, -x.least};
  if (op == "Exp") return {true, false, std::exp(x.least), std::exp(x.most)};
  if (op == "Sigmoid" || op == "Softmax") return {true, false, 0, 1};
  if (op == "Softplus") return {true, false, 0};
  if (op == "Sqrt") return {x.steady, false, std::sqrt(std::max(x.least, 0.0)), std::sqrt(x.most)};
  if (op == "Reciprocal") return {x.steady, false, x.least >= 0 ? 1 / x.most : -kInfinity};
  if (op == "ReduceL1" || op == "ReduceL2") return {x.steady, false, 0};
  if (op == "ReduceSumSquare") return {x.steady, true, 0};
  if (odd().contains(op)) return {x.steady, false, from_zero};
  return {.steady = exact().contains(op)};
}

Magnitude Magnitudes::of_sum(const onnx::NodeProto& node) const {
  Magnitude sum{true, true, 0, 0};
  for (int k = 0; k < node.input_size(); ++k) {
    Magnitude part = input(node, k);
    if (k > 0 && node.op_type() == "Sub") part = {false, false, -part.most, -part.least};
    sum.steady = sum.steady && part.steady && part.least >= 0;
    sum.square = sum.square && part.square;
    sum.least += part.least;
    sum.most += part.most;
  }
  return sum;
}

Magnitude Magnitudes::of_product(const onnx::NodeProto& node) const {
  const Magnitude x = input(node, 0), y = input(node, 1);
  const bool products = node.op_type() == "Mul", sums = node.op_type() == "MatMul";
  const bool positive = x.least >= 0 && y.least >= 0;
  Magnitude made{.steady = x.steady && y.steady && (positive || !sums)};
  if (positive) made.least = 0;
  if (sums) return made;
  if (products && node.input(0) == node.input(1)) {
    made.square = true;
    made.least = std::max(x.least, 0.0) * std::max(x.least, 0.0);
  } else if (positive) {
    made.square = x.square || (products && y.square);
    made.least = products ? x.least * y.least : x.least / y.most;
    made.most = products ? x.most * y.most : x.most / y.least;
  }
  return made;
}

Magnitude Magnitudes::of_choice(const onnx::NodeProto& node) const {
  const auto& op = node.op_type();
  if (op == "Clip") {
    const Magnitude x = input(node, 0), low = input(node, 1), high = input(node, 2);
    const double least = std::max(low.least, attribute_or(node, "min", -kInfinity));
    const double most = std::min(high.most, attribute_or(node, "max", kInfinity));
    return {x.steady, false, std::max(x.least, least), std::min(x.most, most)};
  }
  Magnitude made{.steady = true, .square = true};
  bool first = true;
  for (int k = op == "Where" ? 1 : 0; k < node.input_size(); ++k) {
    const Magnitude one = input(node, k);
    made.steady = made.steady && one.steady;
    made.square = made.square && one.square;
    made.least = first ? one.least : op == "Max" ? std::max(made.least, one.least) : std::min(made.least, one.least);
    made.most = first ? one.most : op == "Min" ? std::min(made.most, one.most) : std::max(made.most, one.most);
    first = false;
  }
  return made;
}

Magnitude Magnitudes::of_power(const Magnitude& base, const Magnitude& exponent) const {
  const bool even = is_whole(exponent) && exponent.least > 0 && std::fmod(exponent.least, 2) == 0;
  return {base.steady && exponent.steady, even, even || base.least >= 0 ? 0 : -kInfinity};
}

}  // namespace rlgo::onnx_io
