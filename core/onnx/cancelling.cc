#include "core/onnx/cancelling.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "core/base/hash.h"
#include "core/onnx/magnitudes.h"
#include "core/onnx/names.h"
#include "core/onnx/proto.h"
#include "core/ops/op.h"

namespace rlgo::onnx_io {
namespace {

using Words = std::unordered_set<std::string_view>;

constexpr size_t kMostTerms = 32;       // of one value; with more it stands for itself
constexpr size_t kMostHeld = 256;       // operators of one sum
constexpr size_t kMostBytes = 1 << 20;  // of a constant that is compared

// Linear in their first operand, and round nothing.
const Words& moving() {
  static const Words kWords{"Identity", "Transpose", "Reshape", "Squeeze", "Unsqueeze", "Flatten",
                            "Slice",    "Expand",    "Gather",  "Tile",    "Dropout"};
  return kWords;
}

const Words& adding_up() {
  static const Words kWords{"ReduceMean", "ReduceSum", "GlobalAveragePool"};
  return kWords;
}

const Words& multiplying() {
  static const Words kWords{"Mul", "Div", "MatMul", "Conv"};
  return kWords;
}

bool is_drawn(const std::string& op) {
  return op.starts_with("Random") || op == "Bernoulli" || op == "Multinomial" || op == "Dropout";
}

}  // namespace

void Cancelling::add(const std::string& name, const onnx::TensorProto& tensor) {
  if (tensor.ByteSizeLong() > kMostBytes || tensor.external_data_size() > 0) return;
  onnx::TensorProto contents = tensor;
  contents.clear_name();
  contents.clear_doc_string();
  keys_[name] = hash_string(contents.SerializeAsString());
}

uint64_t Cancelling::key_of(const std::string& name) const {
  const auto found = keys_.find(name);
  return found == keys_.end() ? hash_string(name) : found->second;
}

// Of the operator with its attributes and inputs from that one on.
uint64_t Cancelling::key_of(const onnx::NodeProto& node, int first_input) const {
  uint64_t key = hash_string(node.op_type());
  for (const auto& attribute : node.attribute()) key = hash_combine(key, hash_string(attribute.SerializeAsString()));
  for (int k = first_input; k < node.input_size(); ++k) key = hash_combine(key, key_of(node.input(k)));
  return key;
}

Cancelling::Form Cancelling::form_of(const std::string& name) const {
  const auto found = forms_.find(name);
  return found == forms_.end() ? Form{{key_of(name), 1.0}} : found->second;
}

void Cancelling::look_at(const onnx::NodeProto& node, const std::function<bool(const std::string&)>& is_constant) {
  const auto& op = node.op_type();
  if (!is_standard_domain(node.domain()) || node.output_size() != 1) return;
  const std::string& made = node.output(0);
  if (!is_drawn(op) && node.ByteSizeLong() <= kMostBytes && captured_names(node).empty()) keys_[made] = key_of(node, 0);
  if (node.input_size() == 0) return;
  Form form;
  bool cancels = false;
  if (op == "Add" || op == "Sub" || op == "Sum") form = sum_of(node, is_constant, cancels);
  if (multiplying().contains(op) && node.input_size() == 2) form = product_of(node);
  if (moving().contains(op) || adding_up().contains(op)) form = mapped(node);
  if (op == "Neg") {
    form = form_of(node.input(0));
    for (auto& [value, factor] : form) factor = -factor;
  }
  if ((form.empty() && !cancels) || form.size() > kMostTerms) return;
  forms_[made] = std::move(form);
  made_by_[made] = &node;
  if (cancels) hold(made);
}

Cancelling::Form Cancelling::sum_of(const onnx::NodeProto& node,
                                    const std::function<bool(const std::string&)>& is_constant, bool& cancels) {
  Form sum;
  for (int k = 0; k < node.input_size(); ++k) {
    if (is_constant(node.input(k))) continue;
    const double sign = k > 0 && node.op_type() == "Sub" ? -1 : 1;
    for (const auto& [value, factor] : form_of(node.input(k))) {
      const auto [place, is_new] = sum.emplace(value, sign * factor);
      if (is_new) continue;
      const double before = place->second;
      place->second += sign * factor;
      if (ops::cancels(std::max(std::abs(before), std::abs(factor)), place->second)) {
        cancels = true;
        sum.erase(place);
      }
    }
  }
  return sum;
}

// Of two values one of which is no sum.
Cancelling::Form Cancelling::product_of(const onnx::NodeProto& node) const {
  const auto& op = node.op_type();
  for (int k = op == "Mul" ? 0 : 1; k < 2 && (op == "Mul" || op == "Div"); ++k) {
    const Magnitude number = magnitudes_.of(node.input(k));
    if (number.least != number.most) continue;
    Form form = form_of(node.input(1 - k));
    for (auto& [value, factor] : form) factor = op == "Mul" ? factor * number.least : factor / number.least;
    return form;
  }
  const Form a = form_of(node.input(0)), b = form_of(node.input(1));
  if (a.size() * b.size() > kMostTerms || (op == "Div" && b.size() != 1)) return {};
  const uint64_t how = key_of(node, 2);
  Form form;
  for (const auto& [x, p] : a) {
    for (const auto& [y, q] : b) {
      const bool swapped = op == "Mul" && y < x;
      form[hash_combine(hash_combine(how, swapped ? y : x), swapped ? x : y)] += op == "Div" ? p / q : p * q;
    }
  }
  return form;
}

// The same operator on each term.
Cancelling::Form Cancelling::mapped(const onnx::NodeProto& node) const {
  if (node.op_type() == "Identity" || node.op_type() == "Dropout") return form_of(node.input(0));
  const uint64_t how = key_of(node, 1);
  Form form;
  for (const auto& [value, factor] : form_of(node.input(0))) form[hash_combine(how, value)] += factor;
  return form;
}

void Cancelling::hold(const std::string& name) {
  std::vector<std::string> waiting{name};
  for (size_t k = 0; k < waiting.size() && k < kMostHeld; ++k) {
    const auto maker = made_by_.find(waiting[k]);
    if (maker == made_by_.end()) continue;
    if (!moving().contains(maker->second->op_type())) held_.insert(waiting[k]);
    for (const auto& input : maker->second->input()) {
      if (std::ranges::find(waiting, input) == waiting.end()) waiting.push_back(input);
    }
  }
}

}  // namespace rlgo::onnx_io
