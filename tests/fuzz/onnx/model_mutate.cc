#include "tests/fuzz/onnx/model_mutate.h"

#include <onnx/onnx_pb.h>

#include <array>

#include "tests/fuzz/mutate.h"
#include "tests/fuzz/onnx/part_mutate.h"

namespace rlgo::fuzz {
namespace {

using onnx::AttributeProto;
using onnx::ModelProto;
using onnx::NodeProto;

constexpr auto kOps = std::to_array<const char*>({"Conv",
                                                  "ConvTranspose",
                                                  "QLinearConv",
                                                  "ConvInteger",
                                                  "MatMul",
                                                  "QLinearMatMul",
                                                  "MatMulInteger",
                                                  "Gemm",
                                                  "Relu",
                                                  "Add",
                                                  "Mul",
                                                  "Div",
                                                  "Mod",
                                                  "Reshape",
                                                  "Squeeze",
                                                  "Unsqueeze",
                                                  "Flatten",
                                                  "Expand",
                                                  "Gather",
                                                  "GatherND",
                                                  "GatherElements",
                                                  "ScatterND",
                                                  "Concat",
                                                  "Split",
                                                  "Transpose",
                                                  "Slice",
                                                  "Range",
                                                  "Where",
                                                  "Cast",
                                                  "Shape",
                                                  "Size",
                                                  "ConstantOfShape",
                                                  "Constant",
                                                  "Tile",
                                                  "Pad",
                                                  "Resize",
                                                  "Upsample",
                                                  "TopK",
                                                  "OneHot",
                                                  "Loop",
                                                  "If",
                                                  "Scan",
                                                  "MaxPool",
                                                  "AveragePool",
                                                  "GlobalAveragePool",
                                                  "LpPool",
                                                  "MaxUnpool",
                                                  "MaxRoiPool",
                                                  "RoiAlign",
                                                  "BatchNormalization",
                                                  "LayerNormalization",
                                                  "InstanceNormalization",
                                                  "GroupNormalization",
                                                  "Softmax",
                                                  "ArgMax",
                                                  "ReduceSum",
                                                  "ReduceProd",
                                                  "CumSum",
                                                  "Einsum",
                                                  "DepthToSpace",
                                                  "SpaceToDepth",
                                                  "LSTM",
                                                  "GRU",
                                                  "RNN",
                                                  "NonMaxSuppression",
                                                  "NonZero",
                                                  "Compress",
                                                  "DFT",
                                                  "STFT",
                                                  "MelWeightMatrix",
                                                  "HannWindow",
                                                  "Attention",
                                                  "RotaryEmbedding",
                                                  "Col2Im",
                                                  "DeformConv",
                                                  "GridSample",
                                                  "AffineGrid",
                                                  "CenterCropPad",
                                                  "SequenceConstruct",
                                                  "SequenceAt",
                                                  "SplitToSequence",
                                                  "ConcatFromSequence",
                                                  "SequenceMap",
                                                  "Optional",
                                                  "OptionalGetElement",
                                                  "StringSplit",
                                                  "Identity",
                                                  "Dropout",
                                                  "Trilu",
                                                  "EyeLike",
                                                  "Unique",
                                                  "ReverseSequence",
                                                  "DequantizeLinear",
                                                  "QuantizeLinear",
                                                  "DynamicQuantizeLinear",
                                                  "Multinomial",
                                                  "RandomNormal",
                                                  "TensorScatter",
                                                  "NegativeLogLikelihoodLoss",
                                                  "SoftmaxCrossEntropyLoss",
                                                  "RegexFullMatch",
                                                  "ImageDecoder"});

NodeProto* any_node(ModelProto& model, Rng& rng) {
  if (model.functions_size() > 0 && one_in(rng, 4)) {
    if (auto* node = any(any(model.mutable_functions(), rng)->mutable_node(), rng)) return node;
  }
  NodeProto* node = any(model.mutable_graph()->mutable_node(), rng);
  for (int depth = 0; node && depth < 3; ++depth) {
    auto* attribute = any(node->mutable_attribute(), rng);
    if (!attribute || !attribute->has_g() || one_in(rng, 3)) break;
    if (auto* inner = any(attribute->mutable_g()->mutable_node(), rng)) node = inner;
  }
  return node;
}

// A name of some value of the main graph.
std::string any_value(const ModelProto& model, Rng& rng) {
  const auto& graph = model.graph();
  switch (rng.below(4)) {
    case 0:
      if (graph.input_size() > 0)
        return graph.input(static_cast<int>(pick(rng, static_cast<size_t>(graph.input_size())))).name();
      break;
    case 1:
      if (graph.initializer_size() > 0)
        return graph.initializer(static_cast<int>(pick(rng, static_cast<size_t>(graph.initializer_size())))).name();
      break;
    default:
      break;
  }
  if (graph.node_size() == 0) return "x";
  const auto& node = graph.node(static_cast<int>(pick(rng, static_cast<size_t>(graph.node_size()))));
  return node.output_size() > 0 ? node.output(0) : "";
}

void change_edges(ModelProto& model, NodeProto& node, Rng& rng) {
  const auto value = one_in(rng, 10) ? std::string() : any_value(model, rng);
  const auto at = [&](int size) { return static_cast<int>(pick(rng, static_cast<size_t>(size))); };
  switch (rng.below(6)) {
    case 0:
      node.add_input(value);
      break;
    case 1:
      if (node.input_size() > 0) node.mutable_input()->RemoveLast();
      break;
    case 2:
    case 3:
      if (node.input_size() > 0) node.set_input(at(node.input_size()), value);
      break;
    case 4:
      node.add_output(one_in(rng, 3) ? value : "extra" + std::to_string(rng.below(100)));
      break;
    default:
      if (node.output_size() > 0) node.mutable_output()->RemoveLast();
  }
}

// A graph input becomes a constant whose numbers lead inference: sizes, axes, repeats.
void make_constant(ModelProto& model, Rng& rng) {
  auto& graph = *model.mutable_graph();
  const auto* input = any(graph.mutable_input(), rng);
  if (!input) return;
  auto* tensor = graph.add_initializer();
  tensor->set_name(input->name());
  const auto count = static_cast<int64_t>(pick(rng, 6));
  if (count > 0 || one_in(rng, 2)) tensor->add_dims(count);
  fill_ints(*tensor, tensor->dims_size() == 0 ? 1 : count, rng);
  for (int k = 0; k < graph.input_size(); ++k) {
    if (graph.input(k).name() == tensor->name()) return graph.mutable_input()->DeleteSubrange(k, 1);
  }
}

void nest(ModelProto& model, Rng& rng) {
  auto& graph = *model.mutable_graph();
  const size_t depth = 1 + pick(rng, one_in(rng, 4) ? 90 : 4);
  for (size_t k = 0; k < depth; ++k) {
    NodeProto node;
    node.set_op_type(one_in(rng, 2) ? "If" : "Loop");
    node.add_input(any_value(model, rng));
    node.add_output("nested" + std::to_string(k));
    for (const char* branch : {"then_branch", "else_branch"}) {
      auto* attribute = node.add_attribute();
      attribute->set_name(node.op_type() == "If" ? branch : "body");
      attribute->set_type(AttributeProto::GRAPH);
      attribute->mutable_g()->set_name("g");
      *attribute->mutable_g()->mutable_node() = graph.node();
      if (graph.output_size() > 0) *attribute->mutable_g()->add_output() = graph.output(0);
      if (node.op_type() == "Loop" || depth > 8) break;
    }
    graph.clear_node();
    *graph.add_node() = std::move(node);
    if (model.ByteSizeLong() > 100000) break;
  }
}

void add_functions(ModelProto& model, Rng& rng) {
  const size_t count = 1 + pick(rng, one_in(rng, 4) ? 40 : 3);
  model.add_opset_import()->set_domain("own");
  model.mutable_opset_import(model.opset_import_size() - 1)->set_version(1);
  for (size_t k = 0; k < count; ++k) {
    auto* function = model.add_functions();
    function->set_domain("own");
    function->set_name("f" + std::to_string(k));
    function->add_input("x");
    function->add_output("y");
    *function->mutable_opset_import() = model.opset_import();
    for (int twice = 0; twice < 2; ++twice) {
      auto* call = function->add_node();
      call->set_domain("own");
      call->set_op_type("f" + std::to_string(one_in(rng, 20) ? rng.below(count) : k + 1 < count ? k + 1 : 1000));
      call->add_input(twice == 0 ? "x" : "t");
      call->add_output(twice == 0 ? "t" : "y");
    }
  }
  if (auto* node = any(model.mutable_graph()->mutable_node(), rng)) {
    node->set_domain("own");
    node->set_op_type("f0");
  }
}

void splice(ModelProto& model, const ModelProto& other, Rng& rng) {
  if (other.graph().node_size() == 0) return;
  NodeProto node = other.graph().node(static_cast<int>(pick(rng, static_cast<size_t>(other.graph().node_size()))));
  for (auto& input : *node.mutable_input()) {
    if (!input.empty()) input = any_value(model, rng);
  }
  const std::string suffix = "_" + std::to_string(rng.below(1000));
  for (auto& output : *node.mutable_output()) output += suffix;
  if (model.graph().output_size() > 0 && node.output_size() > 0 && one_in(rng, 2))
    model.mutable_graph()->mutable_output(0)->set_name(node.output(0));
  *model.mutable_graph()->add_node() = std::move(node);
}

void change_header(ModelProto& model, Rng& rng) {
  switch (rng.below(4)) {
    case 0:
      model.set_ir_version(static_cast<int64_t>(rng.below(14)));
      break;
    case 1:
      if (auto* import = any(model.mutable_opset_import(), rng))
        import->set_version(static_cast<int64_t>(1 + rng.below(26)));
      break;
    case 2:
      if (auto* import = any(model.mutable_opset_import(), rng))
        import->set_domain(one_in(rng, 2) ? "ai.onnx" : "com.microsoft");
      break;
    default:
      if (auto* output = any(model.mutable_graph()->mutable_output(), rng)) output->set_name(any_value(model, rng));
  }
}

void change_node_list(ModelProto& model, Rng& rng) {
  auto& nodes = *model.mutable_graph()->mutable_node();
  if (nodes.empty()) return;
  const auto at = static_cast<int>(pick(rng, static_cast<size_t>(nodes.size())));
  switch (rng.below(3)) {
    case 0:
      nodes.DeleteSubrange(at, 1);
      break;
    case 1:
      nodes.SwapElements(at, static_cast<int>(pick(rng, static_cast<size_t>(nodes.size()))));
      break;
    default: {
      const NodeProto copy = nodes.Get(at);
      *nodes.Add() = copy;
    }
  }
}

}  // namespace

void change_model(ModelProto& model, const ModelProto& other, Rng& rng) {
  NodeProto* node = any_node(model, rng);
  switch (rng.below(16)) {
    case 0:
    case 1:
    case 2:
      if (node) change_attributes(*node, rng);
      break;
    case 3:
      if (node) node->set_op_type(kOps[pick(rng, kOps.size())]);
      break;
    case 4:
    case 5:
      if (node) change_edges(model, *node, rng);
      break;
    case 6:
    case 7:
      if (auto* tensor = any(model.mutable_graph()->mutable_initializer(), rng))
        change_tensor(*tensor, rng);
      else
        make_constant(model, rng);
      break;
    case 8:
    case 9:
      if (auto* input = any(model.mutable_graph()->mutable_input(), rng)) change_type(*input->mutable_type(), rng);
      break;
    case 10:
      if (auto* value = any(
              one_in(rng, 2) ? model.mutable_graph()->mutable_value_info() : model.mutable_graph()->mutable_output(),
              rng))
        change_type(*value->mutable_type(), rng);
      break;
    case 11:
      make_constant(model, rng);
      break;
    case 12:
      one_in(rng, 6) ? nest(model, rng) : splice(model, other, rng);
      break;
    case 13:
      one_in(rng, 6) ? add_functions(model, rng) : splice(model, other, rng);
      break;
    case 14:
      change_header(model, rng);
      break;
    default:
      change_node_list(model, rng);
  }
}

}  // namespace rlgo::fuzz
