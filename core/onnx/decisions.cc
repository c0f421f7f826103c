#include "core/onnx/decisions.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/onnx/names.h"
#include "core/onnx/proto.h"
#include "core/onnx/type_table.h"

namespace rlgo::onnx_io {
namespace {

using Words = std::unordered_set<std::string_view>;

// Of ONNX's own domain, those whose result jumps where an operand passes a value.
const Words& with_steps() {
  static const Words kWords{"Floor",
                            "Ceil",
                            "Round",
                            "Sign",
                            "Mod",
                            "Equal",
                            "Less",
                            "LessOrEqual",
                            "Greater",
                            "GreaterOrEqual",
                            "ArgMax",
                            "ArgMin",
                            "TopK",
                            "NonZero",
                            "Unique",
                            "Hardmax",
                            "Shrink",
                            "ThresholdedRelu",
                            "IsNaN",
                            "IsInf",
                            "Range",
                            "OneHot",
                            "QuantizeLinear",
                            "DynamicQuantizeLinear",
                            "NonMaxSuppression",
                            "MaxRoiPool",
                            "RoiAlign",
                            "MelWeightMatrix",
                            "Acos",
                            "Asin",
                            "Acosh",
                            "Atanh",
                            "Bernoulli",
                            "Multinomial",
                            "Not",
                            "Compress",
                            "If",
                            "Loop",
                            "Scan",
                            "SequenceMap"};
  return kWords;
}

// Their results go flat: behind a steep slope they are steps.
const Words& flat_at_ends() {
  static const Words kWords{"Clip", "Sigmoid", "Tanh", "HardSigmoid", "Softmax",
                            "Erf",  "Min",     "Max",  "Softsign",    "Atan"};
  return kWords;
}

// Slopes from here on: what rounding does to a number of 1, 6e-8, becomes more than what a check allows.
constexpr double kSteep = 4096;
constexpr int kMostBetween = 8;        // operators between a slope and where it ends
constexpr int64_t kMostSlopes = 4096;  // numbers of a tensor that are looked at for slopes
constexpr size_t kMostTerms = 32;      // values behind a sum that are looked at for masks

// Their outputs depend on an operand's shape, not of its values.
const Words& of_shapes() {
  static const Words kWords{"Shape", "Size"};
  return kWords;
}

// With weights that are like numbers drawn at random, what they make is, too. A bias is none of these weights.
const Words& mixing() {
  static const Words kWords{"Conv", "ConvTranspose", "MatMul", "Gemm", "Einsum", "LSTM", "GRU", "RNN"};
  return kWords;
}

// They move, choose or compare elements and round nothing; rules among themselves are exact.
const Words& without_rounding() {
  static const Words kWords{"Identity",     "Transpose", "Reshape",
                            "Squeeze",      "Unsqueeze", "Flatten",
                            "Slice",        "Split",     "Concat",
                            "Gather",       "Pad",       "Expand",
                            "Tile",         "Relu",      "Neg",
                            "Abs",          "Max",       "Min",
                            "ReduceMax",    "ReduceMin", "MaxPool",
                            "Where",        "Dropout",   "DepthToSpace",
                            "SpaceToDepth", "Constant",  "ConstantOfShape",
                            "GlobalMaxPool"};
  return kWords;
}

// So many different magnitudes that are no multiples of 2^-12 are numbers drawn at random: neither a blur nor the
// weights of red, green and blue.
constexpr size_t kRandomNumbers = 16;
constexpr double kGrid = 4096;

constexpr size_t kMostLookedAt = 1 << 16;  // numbers of a tensor, evenly spread

template <typename Numbers>
bool is_random(const Numbers& numbers) {
  std::unordered_set<double> seen;
  for (const double number : numbers) {
    if (number * kGrid == std::trunc(number * kGrid) || !std::isfinite(number)) continue;
    if (seen.insert(std::abs(number)).second && seen.size() == kRandomNumbers) return true;
  }
  return false;
}

template <typename T>
std::vector<T> numbers_of(const std::string& bytes) {
  const size_t count = bytes.size() / sizeof(T), apart = 1 + count / kMostLookedAt;
  std::vector<T> numbers;
  for (size_t k = 0; k < count; k += apart)
    std::memcpy(&numbers.emplace_back(), bytes.data() + k * sizeof(T), sizeof(T));
  return numbers;
}

// Whether `test` holds of the numbers of a tensor of floats or doubles, in either way to store them.
template <typename Test>
bool holds_of_numbers(const onnx::TensorProto& tensor, const Test& test) {
  if (tensor.data_type() == onnx::TensorProto::FLOAT)
    return test(tensor.float_data()) || test(numbers_of<float>(tensor.raw_data()));
  if (tensor.data_type() == onnx::TensorProto::DOUBLE)
    return test(tensor.double_data()) || test(numbers_of<double>(tensor.raw_data()));
  return false;
}

// Halves have few digits: what they make lies on steps often.
bool is_random(const onnx::TensorProto& tensor) {
  return holds_of_numbers(tensor, [](const auto& numbers) { return is_random(numbers); });
}

// Small integers that a scale makes weights of.
bool is_quantised(const onnx::TensorProto& tensor) {
  if (tensor.data_type() != onnx::TensorProto::INT8 && tensor.data_type() != onnx::TensorProto::UINT8) return false;
  std::unordered_set<int32_t> seen;
  for (const int8_t number : numbers_of<int8_t>(tensor.raw_data())) seen.insert(number);
  for (const int32_t number : tensor.int32_data()) seen.insert(number);
  return seen.size() >= kRandomNumbers;
}

bool is_narrow(int64_t type) {
  return type == onnx::TensorProto::FLOAT16 || type == onnx::TensorProto::BFLOAT16 ||
         (type >= onnx::TensorProto::FLOAT8E4M3FN && type <= onnx::TensorProto::FLOAT8E5M2FNUZ);
}

// Null where the node has none of this name.
const onnx::AttributeProto* attribute_of(const onnx::NodeProto& node, std::string_view name) {
  const auto found = std::ranges::find(
      node.attribute(), name, [](const auto& a) -> const auto& { return a.name(); });
  return found == node.attribute().end() ? nullptr : &*found;
}

// A cast that rounds to few digits: numbers on its ties go either way.
bool narrows(const onnx::NodeProto& node) {
  const auto* to = node.op_type() == "Cast" ? attribute_of(node, "to") : nullptr;
  return to != nullptr && is_narrow(to->i());
}

}  // namespace

// The weights of external data are not at hand here: they count as drawn at random.
void Decisions::enter(const onnx::GraphProto& graph, const std::vector<std::string>& outputs) {
  for (const auto& tensor : graph.initializer()) {
    constants_[tensor.name()] = kind_of(tensor);
    tensors_[tensor.name()] = &tensor;
    magnitudes_.add(tensor.name(), tensor);
    cancelling_.add(tensor.name(), tensor);
  }
  for (const auto& sparse : graph.sparse_initializer()) constants_[sparse.values().name()] = Kind::plain;
  for (const auto& input : graph.input()) {  // a caller may give another value
    constants_.erase(input.name());
    magnitudes_.forget(input.name());
  }
  for (const auto& node : graph.node()) look_at(node);
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (seen_.contains(outputs[k])) hold(graph.output(static_cast<int>(k)).name());
  }
  find(graph);
}

bool Decisions::at(const onnx::NodeProto& node) const {
  return std::ranges::any_of(node.output(),
                             [&](const std::string& name) { return held_.contains(name) || cancelling_.holds(name); });
}

void Decisions::find(const onnx::GraphProto& graph) {
  for (const auto& node : graph.node()) {
    for (int k = 0; k < node.input_size(); ++k) {
      if (magnitudes_.at_pole(node, k)) hold(node.input(k));
      if (!has_step(node, k)) continue;
      hold(node.input(k));
      if (!is_regular(node.input(k))) continue;
      for (const auto& name : node.output()) {
        if (!name.empty()) held_.insert(name);
      }
    }
    if (node.attribute_size() == 0) continue;
    for (const auto& name : captured_names(node)) hold(name);
  }
  follow();
}

// What makes the values that wait stays, and what makes its operands.
void Decisions::follow() {
  while (!waiting_.empty()) {
    const onnx::NodeProto& node = *waiting_.back();
    waiting_.pop_back();
    for (const auto& name : node.input()) hold(name);
  }
}

void Decisions::hold(const std::string& name) {
  if (name.empty() || is_constant(name) || irregular_.contains(name) || !seen_.insert(name).second) return;
  const auto maker = made_by_.find(name);
  if (maker == made_by_.end() || of_shapes().contains(maker->second->op_type())) return;
  if (is_float(name) && !without_rounding().contains(maker->second->op_type())) held_.insert(name);
  waiting_.push_back(maker->second);
}

// Also where nothing is known of it, as of values inside a branch.
bool Decisions::is_float(const std::string& name) const {
  const auto dtype = types_.type(name).dtype;
  return dtype == ops::DType::other || ops::is_float(dtype);
}

// Whether the result jumps, or all but jumps, with operand k.
bool Decisions::has_step(const onnx::NodeProto& node, int k) const {
  if (!is_standard_domain(node.domain())) return true;
  if (node.op_type() == "Cast") {
    const auto* to = attribute_of(node, "to");
    return to == nullptr || is_narrow(to->i()) || !ops::is_float(dtype_of(static_cast<int32_t>(to->i())));
  }
  if (node.op_type() == "Pow") return k == 1;  // a base below zero has whole powers only
  if (node.op_type() == "MaxPool")
    return node.output_size() > 1 && !node.output(1).empty() && read_.contains(node.output(1));  // places
  if (node.op_type() == "GridSample") {
    const auto* mode = attribute_of(node, "mode");
    return mode != nullptr && mode->s() == "nearest";
  }
  if (node.op_type() == "CastLike") return !is_float(node.output(0));
  if (node.op_type() == "Resize" || node.op_type() == "Upsample") return k > 0;  // sizes
  if (flat_at_ends().contains(node.op_type())) return is_steep(node.input(k), kMostBetween);
  return with_steps().contains(node.op_type());
}

// Whether it multiplies by thousands.
bool Decisions::is_slope(const onnx::NodeProto& node) const {
  if (node.input_size() != 2 || !is_standard_domain(node.domain())) return false;
  if (node.op_type() == "Mul") return has_number_beyond(node.input(0), true) || has_number_beyond(node.input(1), true);
  return node.op_type() == "Div" && has_number_beyond(node.input(1), false);
}

// Steep multiples of numbers that are whole by more than chance, behind moves alone or with other multiples between,
// and the sum itself where it adds a steep constant to what is such.
void Decisions::hold_masks(const onnx::NodeProto& sum) {
  static const Words kSums{"Add", "Sub", "Sum"};
  if (!kSums.contains(sum.op_type()) || !is_standard_domain(sum.domain()) || !is_float(sum.output(0))) return;
  std::vector<std::string> waiting(sum.input().begin(), sum.input().end());
  for (size_t k = 0; k < waiting.size() && k < kMostTerms; ++k) {
    const auto maker = made_by_.find(waiting[k]);
    if (maker == made_by_.end() || !is_regular(waiting[k])) continue;
    const onnx::NodeProto& node = *maker->second;
    if (is_slope(node)) held_.insert(waiting[k]);
    if (node.op_type() == "Mul" || node.op_type() == "Div" || without_rounding().contains(node.op_type()))
      waiting.insert(waiting.end(), node.input().begin(), node.input().end());
  }
  bool steep = false, regular = false;
  for (const auto& name : sum.input()) {
    steep = steep || has_number_beyond(name, true);
    regular = regular || is_regular(name);
  }
  if (steep && regular) held_.insert(sum.output(0));
}

// Whether the value rises by thousands where what it is made of rises by one.
bool Decisions::is_steep(const std::string& name, int depth) const {
  const auto maker = made_by_.find(name);
  if (depth == 0 || name.empty() || maker == made_by_.end() || is_constant(name)) return false;
  const onnx::NodeProto& node = *maker->second;
  const auto& op = node.op_type();
  if (!is_standard_domain(node.domain())) return false;
  if (is_slope(node)) return true;
  static const Words kThrough{"Mul", "Add", "Sub", "Sum"};
  if (!kThrough.contains(op) && !without_rounding().contains(op)) return false;
  return std::ranges::any_of(node.input(), [&](const auto& input) { return is_steep(input, depth - 1); });
}

// Whether a small constant has a number whose magnitude is at least kSteep; not `large`: below 1 / kSteep.
bool Decisions::has_number_beyond(const std::string& constant, bool large) const {
  if (!is_constant(constant)) return false;
  const auto beyond = [large](double number) {
    return large ? std::abs(number) >= kSteep : number != 0 && std::abs(number) * kSteep <= 1;
  };
  const auto found = tensors_.find(constant);
  if (found == tensors_.end() || found->second->data_type() == onnx::TensorProto::FLOAT16) {
    const Magnitude known = magnitudes_.of(constant);
    return std::isfinite(known.least) && std::isfinite(known.most) && (beyond(known.least) || beyond(known.most));
  }
  const onnx::TensorProto& tensor = *found->second;
  int64_t count = 1;
  for (const auto extent : tensor.dims()) count = extent > kMostSlopes ? kMostSlopes + 1 : count * extent;
  if (count > kMostSlopes) return false;
  return holds_of_numbers(tensor, [&](const auto& numbers) { return std::ranges::any_of(numbers, beyond); });
}

// Sets constants_ and irregular_ of what the node makes.
void Decisions::look_at(const onnx::NodeProto& node) {
  const bool shape = of_shapes().contains(node.op_type()), random = node.op_type().starts_with("Random");
  const bool standard = is_standard_domain(node.domain());
  bool constant = !shape && !random && standard && captured_names(node).empty();
  bool regular = !random;
  for (const auto& name : node.input()) {
    if (name.empty()) continue;
    constant = constant && is_constant(name);
    regular = regular && (shape || is_constant(name) || !irregular_.contains(name));
  }
  if (mixing().contains(node.op_type()) || !standard) {
    for (int k = 0; k < node.input_size(); ++k) {
      const bool bias = k == 2 && (node.op_type() == "Gemm" || node.op_type().starts_with("Conv"));
      if (!bias && mixes(node.input(k))) regular = false;
    }
  }
  magnitudes_.look_at(node);
  cancelling_.look_at(node, [this](const std::string& name) { return is_constant(name); });
  bool step = false;
  for (int k = 0; k < node.input_size(); ++k) step = step || has_step(node, k);
  for (const auto& name : node.output()) {
    if (name.empty()) continue;
    made_by_[name] = &node;
    if (const auto* value = node.op_type() == "Constant" ? attribute_of(node, "value") : nullptr)
      tensors_[name] = &value->t();
    if (constant) constants_[name] = kind_of(node);
    if (!regular && (!step || !standard || narrows(node))) irregular_.insert(name);
  }
  hold_masks(node);
}

Decisions::Kind Decisions::kind_of(const onnx::TensorProto& tensor) {
  if (tensor.external_data_size() > 0 || is_random(tensor)) return Kind::random;
  return is_quantised(tensor) ? Kind::quantised : Kind::plain;
}

// Of what is computed of constants alone: random where one of these is.
Decisions::Kind Decisions::kind_of(const onnx::NodeProto& node) const {
  if (node.op_type() == "Constant") {
    const auto *value = attribute_of(node, "value"), *floats = attribute_of(node, "value_floats");
    if (value != nullptr) return kind_of(value->t());
    return floats != nullptr && is_random(floats->floats()) ? Kind::random : Kind::plain;
  }
  Kind kind = Kind::plain;
  for (const auto& name : node.input()) {
    const auto found = constants_.find(name);
    if (found == constants_.end()) continue;
    const bool scaled = found->second == Kind::quantised && node.op_type() == "DequantizeLinear";
    if (scaled || found->second == Kind::random) return Kind::random;
    if (without_rounding().contains(node.op_type())) kind = std::max(kind, found->second);
  }
  return kind;
}

// A number that may lie on a step by more than chance.
bool Decisions::is_regular(const std::string& name) const {
  return !name.empty() && is_float(name) && !is_constant(name) && !irregular_.contains(name);
}

bool Decisions::mixes(const std::string& name) const {
  const auto found = constants_.find(name);
  return found != constants_.end() && found->second == Kind::random;
}

}  // namespace rlgo::onnx_io
