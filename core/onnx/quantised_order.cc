// The order of QuantizeLinear (Q), DequantizeLinear (DQ) and what stands between them.
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "core/onnx/quantised_graph.h"

namespace rlgo::onnx_io {
namespace {

constexpr auto kMoves =
    std::to_array<std::string_view>({"Concat", "DepthToSpace", "Expand", "Flatten", "Gather", "Reshape", "Slice",
                                     "SpaceToDepth", "Squeeze", "Tile", "Transpose", "Unsqueeze"});
constexpr int kIntegersOpset = 12;  // MaxPool and Clip on integers
constexpr int kPadInputsOpset = 11;

bool is_byte(ops::DType type) { return type == ops::DType::u8 || type == ops::DType::i8; }

bool is_text(const onnx::NodeProto& node, std::string_view attribute, std::string_view word,
             std::string_view otherwise) {
  const auto* found = attribute_of(node, attribute);
  return (found == nullptr ? otherwise : std::string_view(found->s())) == word;
}

// Whether the operator does the same to integers as to the real numbers that they stand for, where all of these have
// one scale and zero point: it moves elements, or takes the largest of some.
bool commutes(const QuantisedGraph& graph, const onnx::NodeProto& node) {
  if (!node.domain().empty() || node.output_size() == 0) return false;
  if (std::ranges::find(kMoves, node.op_type()) != kMoves.end()) return true;
  if (node.op_type() == "MaxPool") return graph.opset() >= kIntegersOpset && node.output_size() == 1;
  if (node.op_type() == "Resize")
    return graph.opset() >= kPadInputsOpset && is_text(node, "mode", "nearest", "nearest") &&
           !is_text(node, "coordinate_transformation_mode", "tf_crop_and_resize", "half_pixel");
  if (node.op_type() != "Pad" || graph.opset() < kPadInputsOpset) return false;
  if (!is_text(node, "mode", "constant", "constant") || input_of(node, 2).empty()) return true;
  const auto value = graph.numbers(input_of(node, 2));
  return value && value->floats.size() == 1 && value->floats[0] == 0;
}

int moved_inputs(const onnx::NodeProto& node) { return node.op_type() == "Concat" ? node.input_size() : 1; }

// The same operator on integers: 0, which Pad fills in, is the zero point there.
void pad_with_zero(QuantisedGraph& graph, onnx::NodeProto& node, const Quantisation& by) {
  if (node.op_type() != "Pad" || !is_text(node, "mode", "constant", "constant")) return;
  while (node.input_size() < 3) node.add_input("");
  node.set_input(2, graph.add_scalar(node.output(0) + "_zero", by.type, by.zeros[0]));
}

// M(DQ(q)) becomes DQ(M(q)).
bool move_before(QuantisedGraph& graph, onnx::NodeProto& node) {
  if (!commutes(graph, node)) return false;
  std::optional<Quantisation> by;
  const onnx::NodeProto* dequantise = nullptr;
  for (int k = 0; k < moved_inputs(node); ++k) {
    const auto* maker = graph.maker(node.input(k));
    if (maker == nullptr || !is_standard_op(*maker, "DequantizeLinear")) return false;
    const auto here = graph.quantisation(*maker);
    if (here && node.op_type() == "MaxPool" && !is_byte(here->type)) return false;
    if (!here || !here->per_tensor() || (by && *by != *here) || graph.constant(maker->input(0)) != nullptr)
      return false;
    by = here;
    dequantise = maker;
  }
  graph.note(node, "quantised-moves");
  const std::string moved = graph.fresh(node.output(0));
  auto& on_integers = *graph.add_copy(node, moved);
  for (int k = 0; k < moved_inputs(node); ++k) on_integers.set_input(k, graph.maker(node.input(k))->input(0));
  pad_with_zero(graph, on_integers, *by);
  const std::string output = node.output(0);
  node = *dequantise;
  node.clear_name();
  node.set_input(0, moved);
  node.set_output(0, output);
  return true;
}

// Q(M(x)) becomes M(Q(x)).
bool move_behind(QuantisedGraph& graph, onnx::NodeProto& quantise) {
  const auto by = graph.quantisation(quantise);
  const auto* move = graph.maker(quantise.input(0));
  if (!by || !by->per_tensor() || move == nullptr || !commutes(graph, *move)) return false;
  if (move->op_type() == "MaxPool" && !is_byte(by->type)) return false;
  if (!graph.is_inner(move->output(0)) || graph.readers(move->output(0)).size() != 1) return false;
  const auto is_computed = [&](const std::string& value) {
    const auto* maker = graph.maker(value);
    return maker != nullptr && graph.constant(value) == nullptr && !is_standard_op(*maker, "DequantizeLinear");
  };
  for (int k = 0; k < moved_inputs(*move); ++k)
    if (!is_computed(move->input(k))) return false;
  graph.note(*move, "quantised-moves");
  const std::string output = quantise.output(0);
  onnx::NodeProto on_integers = *move;
  on_integers.set_output(0, output);
  for (int k = 0; k < moved_inputs(*move); ++k) {
    const std::string name = graph.fresh(move->input(k));
    graph.add_copy(quantise, name)->set_input(0, move->input(k));
    on_integers.set_input(k, name);
  }
  pad_with_zero(graph, on_integers, *by);
  quantise = on_integers;
  return true;
}

struct Bounds {
  float low = -std::numeric_limits<float>::infinity(), high = std::numeric_limits<float>::infinity();
};

// Of a Relu, or of a Clip of constants in f32.
std::optional<Bounds> bounds_of(const QuantisedGraph& graph, const onnx::NodeProto& node) {
  Bounds found;
  if (is_standard_op(node, "Relu")) {
    found.low = 0;
    return found;
  }
  if (!is_standard_op(node, "Clip")) return std::nullopt;
  if (const auto* low = attribute_of(node, "min")) found.low = low->f();
  if (const auto* high = attribute_of(node, "max")) found.high = high->f();
  for (int k = 1; k < node.input_size(); ++k) {
    if (node.input(k).empty()) continue;
    const auto bound = graph.numbers(node.input(k));
    if (!bound || bound->type.dtype != ops::DType::f32 || bound->floats.size() != 1) return std::nullopt;
    (k == 1 ? found.low : found.high) = static_cast<float>(bound->floats[0]);
  }
  return found.low <= found.high ? std::optional(found) : std::nullopt;
}

// Q is monotone: a bound beyond which all numbers become the least or largest integer does nothing in front of it.
bool is_dead(const Bounds& bounds, const Quantisation& by) {
  for (size_t k = 0; k < by.scales.size(); ++k)
    if (by.quantised(bounds.low, k) != by.least() || by.quantised(bounds.high, k) != by.most()) return false;
  return true;
}

// What stands in front of Q does nothing: a Relu or Clip, or DQ of the same integers. As for the latter, (q - zero) *
// scale / scale is within q's 16 bits * 2^-22 of q - zero, which rounds to it.
bool bypass(QuantisedGraph& graph, onnx::NodeProto& quantise) {
  const auto by = graph.quantisation(quantise);
  auto* before = graph.maker(quantise.input(0));
  if (!by || before == nullptr) return false;
  if (is_standard_op(*before, "DequantizeLinear") && graph.quantisation(*before) == by) {
    if (!graph.is_inner(quantise.output(0)) || graph.readers(quantise.output(0)).empty()) return false;
    graph.note(quantise, "dead-quantised");
    graph.redirect(quantise.output(0), before->input(0));
    return true;
  }
  const auto bounds = bounds_of(graph, *before);
  if (!bounds || !is_dead(*bounds, *by)) return false;
  graph.note(*before, "dead-quantised");
  quantise.set_input(0, before->input(0));
  return true;
}

// A Relu or Clip behind DQ that all results of DQ pass unchanged.
bool bypass_behind(QuantisedGraph& graph, onnx::NodeProto& node) {
  const auto bounds = bounds_of(graph, node);
  const auto* before = bounds ? graph.maker(node.input(0)) : nullptr;
  if (before == nullptr || !is_standard_op(*before, "DequantizeLinear")) return false;
  const auto by = graph.quantisation(*before);
  if (!by || !graph.is_inner(node.output(0)) || graph.readers(node.output(0)).empty()) return false;
  for (size_t k = 0; k < by->scales.size(); ++k) {
    const auto scale = static_cast<float>(by->scales[k]);
    if (static_cast<float>(by->least() - by->zeros[k]) * scale < bounds->low ||
        static_cast<float>(by->most() - by->zeros[k]) * scale > bounds->high)
      return false;
  }
  graph.note(node, "dead-quantised");
  graph.redirect(node.output(0), node.input(0));
  return true;
}

}  // namespace

void remove_dead(QuantisedGraph& graph, bool with_moves) {
  for (bool again = true; std::exchange(again, false);) {
    for (auto* node : graph.nodes()) {
      if (node->op_type().empty()) continue;  // taken out since
      const bool quantises = is_standard_op(*node, "QuantizeLinear");
      bool changed = quantises ? bypass(graph, *node) : bypass_behind(graph, *node);
      if (!changed && with_moves) changed = quantises ? move_behind(graph, *node) : move_before(graph, *node);
      if (!changed) continue;
      graph.settle();
      again = true;
    }
  }
}

void clip_behind(QuantisedGraph& graph) {
  for (auto* quantise : graph.nodes()) {
    const auto by = graph.opset() >= kIntegersOpset ? graph.quantisation(*quantise) : std::nullopt;
    if (!by || !by->per_tensor() || !is_standard_op(*quantise, "QuantizeLinear")) continue;
    if (!is_byte(by->type)) continue;
    const auto* clip = graph.maker(quantise->input(0));
    const auto bounds = clip == nullptr ? std::nullopt : bounds_of(graph, *clip);
    if (!bounds || is_dead(*bounds, *by) || graph.readers(clip->output(0)).size() != 1 ||
        !graph.is_inner(clip->output(0)))
      continue;
    graph.note(*clip, "clip-behind-quantise");
    const std::string output = quantise->output(0), before = graph.fresh(output);
    graph.add_copy(*quantise, before)->set_input(0, clip->input(0));
    quantise->Clear();
    quantise->set_op_type("Clip");
    quantise->add_output(output);
    quantise->add_input(before);
    quantise->add_input(graph.add_scalar(output + "_low", by->type, by->quantised(bounds->low, 0)));
    quantise->add_input(graph.add_scalar(output + "_high", by->type, by->quantised(bounds->high, 0)));
    graph.settle();
  }
}

}  // namespace rlgo::onnx_io
