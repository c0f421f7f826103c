#include "core/onnx/quantised.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "core/base/error.h"
#include "core/onnx/external_data.h"
#include "core/onnx/proto.h"
#include "core/onnx/quantised_graph.h"
#include "core/onnx/validate.h"

namespace rlgo::onnx_io {
namespace {

constexpr auto kRewrites = std::to_array<std::string_view>(
    {"dead-quantised", "quantised-moves", "clip-behind-quantise", "u8-activations", "s8-weights-conv",
     "u8-weights-conv", "s8-weights-matmul", "u8-weights-matmul", "s8-weights-conv-integer", "u8-weights-conv-integer",
     "s8-weights-matmul-integer", "u8-weights-matmul-integer"});
constexpr std::string_view kWeights = "-weights-";
// Instructions of 16 bits add two products of u8 by s8: beyond this sum of two weights' magnitudes they saturate.
constexpr int kMostPair = 128;
constexpr int64_t kExternalBytes = int64_t{1} << 30;

bool is_quantised(const onnx::NodeProto& node) {
  return node.op_type() == "QuantizeLinear" || node.op_type() == "DequantizeLinear" ||
         node.op_type() == "MatMulInteger" || node.op_type() == "ConvInteger" || node.op_type() == "QGemm" ||
         node.op_type().starts_with("QLinear");
}

bool has_own_operators(const onnx::ModelProto& model) {
  return std::ranges::any_of(model.functions(), [](const auto& f) { return is_standard_domain(f.domain()); });
}

void make(QuantisedGraph& graph, std::string_view name) {
  if (const auto at = name.find(kWeights); at != std::string_view::npos)
    return flip_weights(graph, name.starts_with("s8") ? ops::DType::i8 : ops::DType::u8,
                        name.substr(at + kWeights.size()));
  if (name == "u8-activations") return flip_activations(graph);
  if (name == "clip-behind-quantise") return clip_behind(graph);
  remove_dead(graph, name == "quantised-moves");
}

// Whether two of a tensor's numbers can saturate where their products are added in 16 bits.
bool can_saturate(const onnx::TensorProto& tensor) {
  if (tensor.data_type() != onnx::TensorProto::INT8 || tensor.dims_size() < 2) return false;
  int largest = 0, second = 0;
  for (const char byte : copy_bytes(tensor)) {
    const int magnitude = std::abs(static_cast<int>(static_cast<signed char>(byte)));
    second = std::max(second, std::min(magnitude, largest));
    largest = std::max(largest, magnitude);
  }
  return largest + second > kMostPair;
}

// The distance of two numbers that `value` can hold; 0 where it is not known.
double step_of(const QuantisedGraph& graph, std::string value) {
  for (const auto* node = graph.maker(value); node != nullptr; node = graph.maker(value)) {
    if (const auto by = graph.quantisation(*node))
      return is_standard_op(*node, "QuantizeLinear") ? 1 : *std::ranges::min_element(by->scales);
    if (node->op_type().starts_with("QLinear")) return 1;
    constexpr std::string_view kSame[] = {"Reshape",   "Transpose", "Flatten", "Squeeze",
                                          "Unsqueeze", "Slice",     "Identity"};
    if (std::ranges::find(kSame, node->op_type()) == std::end(kSame)) return 0;
    value = input_of(*node, 0);
  }
  return 0;
}

}  // namespace

std::span<const std::string_view> quantised_rewrites() { return kRewrites; }

bool changes_rounding(std::string_view rewrite) { return rewrite == "clip-behind-quantise"; }

std::vector<Change> rewrite_quantised(onnx::ModelProto& model, const std::set<std::string>& names) {
  if (names.empty() || has_own_operators(model)) return {};
  QuantisedGraph graph(model, model.graph());
  for (const auto name : kRewrites)
    if (names.contains(std::string(name))) make(graph, name);
  graph.finish();
  return std::move(graph.changes);
}

QuantisedReport look_at_quantised(const onnx::ModelProto& model) {
  QuantisedReport report;
  if (has_own_operators(model) || std::ranges::none_of(model.graph().node(), is_quantised)) return report;
  const auto without_weights = [&] {
    onnx::ModelProto copy;
    *copy.mutable_opset_import() = model.opset_import();
    *copy.mutable_graph()->mutable_node() = model.graph().node();
    *copy.mutable_graph()->mutable_input() = model.graph().input();
    *copy.mutable_graph()->mutable_output() = model.graph().output();
    return copy;
  };
  for (const auto rewrite : kRewrites) {
    const std::string name(rewrite);
    onnx::ModelProto copy = without_weights();
    QuantisedGraph graph(copy, model.graph());
    make(graph, rewrite);
    const auto made = std::ranges::count(graph.changes, name, &Change::detail);
    if (made == 0) continue;
    report.matches[name] = static_cast<int>(made);
    // Activations of u8 meet the weights that are there.
    const auto& read = rewrite == "u8-activations" ? model.graph() : copy.graph();
    if (std::ranges::any_of(read.initializer(), can_saturate)) report.saturating.insert(name);
  }
  onnx::ModelProto copy = without_weights();
  const QuantisedGraph graph(copy, model.graph());
  for (const auto& output : model.graph().output()) report.steps[output.name()] = step_of(graph, output.name());
  return report;
}

void write_requantised(const std::filesystem::path& path, const std::set<std::string>& names,
                       const std::filesystem::path& out) {
  onnx::ModelProto model;
  load_proto(path, model);
  normalise_domains(model);
  load_external_data(model, path);
  rewrite_quantised(model, names);
  validate_model(model);
  if (static_cast<int64_t>(model.ByteSizeLong()) > kExternalBytes) store_external_data(model, out);
  save_proto(model, out);
}

}  // namespace rlgo::onnx_io
