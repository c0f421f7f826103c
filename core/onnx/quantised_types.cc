// u8 in place of s8 and back: q and its zero point move by 128, so q - zero, which is all that an operator sees, stays.
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/onnx/proto.h"
#include "core/onnx/quantised_graph.h"

namespace rlgo::onnx_io {
namespace {

constexpr int kNoSlot = -1;

// A value that an operator reads, and its zero point.
struct Slot {
  int value = kNoSlot, zero = kNoSlot;
};
struct Kernel {
  std::string_view op, domain;
  Slot first, second;            // activations; the second may be weights
  int result = kNoSlot;          // the zero point of the result, where it is quantised
  std::string_view family = {};  // of weights in `second`
};
constexpr std::string_view kContrib = "com.microsoft";
constexpr auto kKernels = std::to_array<Kernel>({
    {"QuantizeLinear", "", {}, {}, 2},
    {"DequantizeLinear", "", {0, 2}, {}},
    {"QLinearConv", "", {0, 2}, {3, 5}, 7, "conv"},
    {"QLinearMatMul", "", {0, 2}, {3, 5}, 7, "matmul"},
    {"ConvInteger", "", {0, 2}, {1, 3}, kNoSlot, "conv-integer"},
    {"MatMulInteger", "", {0, 2}, {1, 3}, kNoSlot, "matmul-integer"},
    {"QGemm", kContrib, {0, 2}, {3, 5}, 8, "matmul"},
    {"QLinearAdd", kContrib, {0, 2}, {3, 5}, 7},
    {"QLinearMul", kContrib, {0, 2}, {3, 5}, 7},
    {"QLinearAveragePool", kContrib, {0, 2}, {}, 4},
    {"QLinearGlobalAveragePool", kContrib, {0, 2}, {}, 4},
    {"QLinearLeakyRelu", kContrib, {0, 2}, {}, 4},
    {"QLinearSigmoid", kContrib, {0, 2}, {}, 4},
    {"QLinearSoftmax", kContrib, {0, 2}, {}, 4},
    {"QLinearReduceMean", kContrib, {0, 2}, {}, 4},
    {"QLinearWhere", kContrib, {1, 3}, {4, 6}, 8},
    {"QLinearConcat", kContrib, {}, {}, 1},
});
// Operators whose result holds elements of their inputs, in the same order.
constexpr auto kMoves =
    std::to_array<std::string_view>({"Concat", "DepthToSpace", "Expand", "Flatten", "Gather", "MaxPool", "Reshape",
                                     "Slice", "SpaceToDepth", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze"});

const Kernel* kernel_of(const onnx::NodeProto& node) {
  const auto is = [&](const Kernel& kernel) {
    if (node.op_type() != kernel.op) return false;
    return kernel.domain.empty() ? is_standard_domain(node.domain()) : node.domain() == kernel.domain;
  };
  const auto found = std::ranges::find_if(kKernels, is);
  return found == kKernels.end() ? nullptr : &*found;
}

std::vector<Slot> slots_of(const onnx::NodeProto& node, const Kernel& kernel) {
  std::vector<Slot> slots;
  for (const Slot slot : {kernel.first, kernel.second})
    if (slot.value != kNoSlot) slots.push_back(slot);
  if (kernel.op == "QLinearConcat")
    for (int k = 2; k + 2 < node.input_size(); k += 3) slots.push_back({k, k + 2});
  return slots;
}

bool is_move(const onnx::NodeProto& node) {
  return is_standard_domain(node.domain()) && std::ranges::find(kMoves, node.op_type()) != kMoves.end();
}

bool moves_input(const onnx::NodeProto& node, int k) { return k == 0 || node.op_type() == "Concat"; }

ops::DType other_type(ops::DType type) { return type == ops::DType::u8 ? ops::DType::i8 : ops::DType::u8; }

ops::DType type_of_constant(const QuantisedGraph& graph, const std::string& value) {
  const auto* tensor = graph.constant(value);
  return tensor == nullptr ? ops::DType::other : dtype_of(tensor->data_type());
}

// Constants with their top bit flipped, each made once.
class Flipper {
 public:
  explicit Flipper(QuantisedGraph& graph) : graph_(graph) {}
  std::string flipped(const std::string& value) {
    std::string& name = made_[value];
    if (!name.empty()) return name;
    const auto& tensor = *graph_.constant(value);
    std::string bytes = copy_bytes(tensor);
    for (char& byte : bytes) byte = static_cast<char>(static_cast<unsigned char>(byte) ^ 0x80U);
    const std::vector<int64_t> dims(tensor.dims().begin(), tensor.dims().end());
    return name = graph_.add(value, other_type(dtype_of(tensor.data_type())), dims, std::move(bytes));
  }
  // The zero point of input `at` in type `to`. One that is left out is 0, and has the shape of the scale in front of it
  // (that of one number where there is none).
  void flip_zero(onnx::NodeProto& node, int at, ops::DType to) {
    while (node.input_size() <= at) node.add_input("");
    std::string zero = node.input(at);
    if (!zero.empty()) return node.set_input(at, flipped(zero));
    std::vector<int64_t> dims;
    int64_t count = 1;
    const auto* scale = node.op_type().ends_with("Integer") ? nullptr : graph_.constant(node.input(at - 1));
    if (scale != nullptr) {
      dims.assign(scale->dims().begin(), scale->dims().end());
      for (const int64_t extent : dims) count *= extent;
    }
    node.set_input(at, graph_.add(node.output(0) + "_zero", to, dims, std::string(static_cast<size_t>(count), '\x80')));
  }

 private:
  QuantisedGraph& graph_;
  std::map<std::string, std::string> made_;
};

// The family of kernels that read a dequantised constant as weights, directly or moved; "" where something else does.
std::string_view family_of(const QuantisedGraph& graph, const std::string& value) {
  std::string_view family;
  if (!graph.is_inner(value)) return {};
  for (const auto& [node, input] : graph.readers(value)) {
    std::string_view here;
    if (input == 1 && (is_standard_op(*node, "Conv") || is_standard_op(*node, "ConvTranspose")))
      here = "conv";
    else if (input == 1 && (is_standard_op(*node, "MatMul") || is_standard_op(*node, "Gemm")))
      here = "matmul";
    else if (input == 0 && is_move(*node) && node->output_size() == 1)
      here = family_of(graph, node->output(0));
    if (here.empty() || (!family.empty() && here != family)) return {};
    family = here;
  }
  return family;
}

// Where a node of the family has constant weights; none where it has none.
Slot weights_of(const QuantisedGraph& graph, const onnx::NodeProto& node, std::string_view family) {
  const Kernel* kernel = kernel_of(node);
  if (kernel == nullptr) return {};
  if (is_standard_op(node, "DequantizeLinear"))
    return graph.quantisation(node) && family_of(graph, node.output(0)) == family ? kernel->first : Slot{};
  return kernel->family == family ? kernel->second : Slot{};
}

// Values of s8 that have to change their type together: those of one operator on integers, and what moves carry them
// to.
class Activations {
 public:
  explicit Activations(QuantisedGraph& graph) : graph_(graph) {
    for (auto* node : graph_.nodes()) {
      if (const Kernel* kernel = kernel_of(*node))
        join_kernel(*node, *kernel);
      else if (is_move(*node))
        join_move(*node);
      else
        block_all(*node);
    }
  }

  void flip() {
    Flipper flipper(graph_);
    for (auto* node : graph_.nodes()) {
      const Kernel* kernel = kernel_of(*node);
      const std::string value = kernel != nullptr ? a_value(*node, *kernel) : node->output(0);
      if (!flips(value)) continue;
      for (const auto& output : node->output()) graph_.forget_type(output);
      if (kernel == nullptr) {
        for (int k = 0; k < node->input_size(); ++k)
          if (moves_input(*node, k) && graph_.constant(node->input(k)) != nullptr)
            node->set_input(k, flipper.flipped(node->input(k)));
        continue;
      }
      graph_.note(*node, "u8-activations");
      for (const Slot slot : slots_of(*node, *kernel)) flip_slot(*node, *kernel, slot, flipper);
      if (kernel->result != kNoSlot && has_result(*node, *kernel))
        flipper.flip_zero(*node, kernel->result, ops::DType::u8);
      for (auto& attribute : *node->mutable_attribute())
        if (attribute.name() == "output_dtype" && attribute.i() == onnx::TensorProto::INT8)
          attribute.set_i(onnx::TensorProto::UINT8);
    }
  }

 private:
  struct Group {
    bool blocked = false, signed_seen = false;
  };
  static bool has_result(const onnx::NodeProto& node, const Kernel& kernel) {
    return kernel.op != "QGemm" || !input_of(node, kernel.result).empty();
  }
  // Weights stay as they are.
  bool is_weights(const onnx::NodeProto& node, const Kernel& kernel, Slot slot) const {
    return slot.value == kernel.second.value && !kernel.family.empty() &&
           graph_.constant(input_of(node, slot.value)) != nullptr;
  }
  void flip_slot(onnx::NodeProto& node, const Kernel& kernel, Slot slot, Flipper& flipper) {
    if (is_weights(node, kernel, slot)) return;
    const std::string value = node.input(slot.value);
    if (graph_.constant(value) != nullptr) node.set_input(slot.value, flipper.flipped(value));
    flipper.flip_zero(node, slot.zero, ops::DType::u8);
  }

  std::string& leader(const std::string& value) {
    auto [place, is_new] = leaders_.try_emplace(value, value);
    if (is_new) groups_[value].blocked = !graph_.is_inner(value) || graph_.is_input(value);
    std::string* at = &place->second;
    while (*at != leaders_.at(*at)) at = &leaders_.at(*at);
    return *at;
  }
  void join(const std::string& a, const std::string& b) {
    const std::string to = leader(a), from = leader(b);
    if (to == from) return;
    leaders_[from] = to;
    groups_[to].blocked |= groups_[from].blocked;
    groups_[to].signed_seen |= groups_[from].signed_seen;
  }
  Group& group(const std::string& value) { return groups_[leader(value)]; }
  bool flips(const std::string& value) {
    if (value.empty() || graph_.constant(value) != nullptr) return false;
    const Group& found = group(value);
    return found.signed_seen && !found.blocked;
  }
  void block_all(const onnx::NodeProto& node) {
    for (const auto& name : node.input()) group(name).blocked = true;
    for (const auto& name : node.output()) group(name).blocked = true;
  }

  // A value of the kernel that is no constant: its result, else what it reads.
  std::string a_value(const onnx::NodeProto& node, const Kernel& kernel) const {
    if (kernel.result != kNoSlot && has_result(node, kernel)) return node.output(0);
    for (const Slot slot : slots_of(node, kernel))
      if (graph_.constant(input_of(node, slot.value)) == nullptr) return input_of(node, slot.value);
    return {};
  }
  void see_zero(const std::string& value, const std::string& zero, bool may_lack) {
    Group& found = group(value);
    if (zero.empty() && may_lack) return;
    const auto type = type_of_constant(graph_, zero);
    (type == ops::DType::i8 ? found.signed_seen : found.blocked) = true;
  }
  void join_kernel(const onnx::NodeProto& node, const Kernel& kernel) {
    const std::string all = a_value(node, kernel);
    if (all.empty()) return;
    for (const Slot slot : slots_of(node, kernel)) {
      if (is_weights(node, kernel, slot)) continue;
      if (graph_.constant(input_of(node, slot.value)) == nullptr) join(all, input_of(node, slot.value));
      see_zero(all, input_of(node, slot.zero), kernel.op != "QuantizeLinear");
    }
    if (kernel.result != kNoSlot && has_result(node, kernel)) see_zero(all, input_of(node, kernel.result), false);
    if (is_standard_op(node, "DequantizeLinear") && !graph_.quantisation(node)) group(all).blocked = true;
    if (is_standard_op(node, "QuantizeLinear") && !graph_.quantisation(node)) group(all).blocked = true;
  }
  void join_move(const onnx::NodeProto& node) {
    for (const auto& output : node.output()) join(node.output(0), output);
    for (int k = 0; k < node.input_size(); ++k) {
      const std::string& name = node.input(k);
      if (!moves_input(node, k)) continue;
      if (graph_.constant(name) == nullptr)
        join(node.output(0), name);
      else if (type_of_constant(graph_, name) != ops::DType::i8)
        group(node.output(0)).blocked = true;
    }
  }

  QuantisedGraph& graph_;
  std::map<std::string, std::string> leaders_;
  std::map<std::string, Group> groups_;
};

}  // namespace

void flip_weights(QuantisedGraph& graph, ops::DType to, std::string_view family) {
  Flipper flipper(graph);
  const std::string name = fmt::format("{}-weights-{}", to == ops::DType::i8 ? "s8" : "u8", family);
  for (auto* node : graph.nodes()) {
    const Slot slot = weights_of(graph, *node, family);
    if (slot.value == kNoSlot) continue;
    const std::string weights = input_of(*node, slot.value), zero = input_of(*node, slot.zero);
    const auto from = other_type(to);
    if (type_of_constant(graph, weights) != from) continue;
    if (!zero.empty() && type_of_constant(graph, zero) != from) continue;
    // No runtime multiplies s8 by u8.
    if (slot.value != 0 && to == ops::DType::u8 && type_of_constant(graph, input_of(*node, 2)) == ops::DType::i8)
      continue;
    graph.note(*node, name);
    node->set_input(slot.value, flipper.flipped(weights));
    flipper.flip_zero(*node, slot.zero, to);
  }
  graph.settle();
}

void flip_activations(QuantisedGraph& graph) {
  Activations(graph).flip();
  graph.settle();
}

}  // namespace rlgo::onnx_io
