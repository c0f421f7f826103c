// What an export keeps, the forms it writes for each opset, and what it does when it cannot.
#include "tests/core/onnx/support.h"

namespace rlgo::onnx_io::test {
namespace {

using graph::Value;
using ops::Attr;
using ops::DType;
using ops::Op;
using ops::TensorType;

// A graph of one input x of that shape; `make` gives the output y.
template <typename Make>
graph::Graph graph_of(ops::Shape shape, const Make& make) {
  graph::Editor editor("g");
  const Value x = editor.add_input("x", TensorType(DType::f32, shape));
  editor.add_output("y", make(editor, x));
  return *editor.finish();
}

onnx::ModelProto written(const graph::Graph& graph, int opset = 17, const Folded& folded = {}) {
  const Folder folder;
  export_graph(graph, folded, folder / "g.onnx", opset);
  return load(folder / "g.onnx");
}

std::string written_ops(const graph::Graph& graph, int opset) { return op_types(written(graph, opset)); }

std::shared_ptr<const graph::Blob> numbers(ops::Shape shape, const std::vector<float>& values) {
  return graph::Blob::bytes(TensorType(DType::f32, shape),
                            std::string(reinterpret_cast<const char*>(values.data()), values.size() * 4));
}

TEST(Export, KeepsWhatIsNotInTheGraph) {
  auto proto =
      parse("g (float[2] x, float[3] unused) => (float[2] y) { [first] a = Relu(x) [last] y = Exp(a) }", 16, 7);
  for (auto& node : *proto.mutable_graph()->mutable_node()) node.clear_domain();
  proto.set_producer_name("somebody");
  proto.set_doc_string("words");
  proto.mutable_graph()->mutable_node(0)->set_doc_string("about it");
  auto* property = proto.add_metadata_props();
  property->set_key("k");
  property->set_value("v");
  const auto out = export_proto(import_proto(proto));
  EXPECT_EQ(out.SerializeAsString(), proto.SerializeAsString());
}

TEST(Export, KeepsNamesOfInitialisersAndDropsUnreadOnes) {
  const auto out = export_proto(import_text(
      "g (float[2] x) => (float[2] y) <float[2] w = {1.0, 2.0}, float[2] dead = {3.0, 4.0}> { y = Mul(x, w) }"));
  ASSERT_EQ(out.graph().initializer_size(), 1);
  EXPECT_EQ(out.graph().initializer(0).name(), "w");
}

TEST(Export, OldModelsKeepTheirInitialisersAsInputs) {
  auto proto =
      parse("g (float[2] x, float[2] w, float[2] dead) => (float[2] y) { a = Mul(x, w) y = Clip<max=1.0>(a) }", 9, 3);
  for (const char* name : {"w", "dead"}) {
    auto* tensor = proto.mutable_graph()->add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(onnx::TensorProto::FLOAT);
    tensor->add_dims(2);
    tensor->set_raw_data("12345678");
  }
  const auto out = export_proto(import_proto(proto));
  EXPECT_EQ(out.graph().input_size(), 3);
  EXPECT_EQ(out.graph().initializer_size(), 2);
}

// ir_version 3 would want a new initialiser among the inputs.
TEST(Export, NewConstantsOfOldModelsAreOperators) {
  const auto out =
      export_proto(import_proto(parse("g (float[2,3] x) => (float[6,1] y) { y = Flatten<axis=2>(x) }", 9, 3)));
  EXPECT_EQ(op_types(out), "Constant Reshape");
  EXPECT_EQ(out.graph().initializer_size(), 0);
}

// Before opset 9 Constant makes floats alone.
TEST(Export, IntegersOfOldFilesAreCast) {
  const auto before = import_proto(parse("g (float[2,3] x) => (float[6,1] y) { y = Flatten<axis=2>(x) }", 8, 3));
  const auto out = export_proto(before);
  EXPECT_EQ(op_types(out), "Constant Cast Reshape");
  EXPECT_EQ(import_proto(out).graph.hash(), before.graph.hash());
}

TEST(Export, InputsAndConstantsAsOutputs) {
  const auto out =
      export_proto(import_text("g (float[2] x) => (float[2] x, float[2] y, float[2] z, float[2] w) <float[2] w = {1.0, "
                               "2.0}> { y = Identity(x) z = Identity(w) }"));
  EXPECT_EQ(op_types(out), "Identity Identity Identity");
  std::vector<std::string> names;
  for (const auto& output : out.graph().output()) names.push_back(output.name());
  EXPECT_EQ(names, (std::vector<std::string>{"x", "y", "z", "w"}));
}

TEST(Export, OneValueAsTwoOutputs) {
  const auto out =
      export_proto(import_text("g (float[2] x) => (float[2] y, float[2] z) { y = Relu(x) z = Identity(y) }"));
  EXPECT_EQ(op_types(out), "Relu Identity");
}

TEST(Export, OneOutputListedTwice) {
  const auto out = export_proto(import_text("g (float[2] x) => (float[2] y, float[2] y) { y = Relu(x) }"));
  EXPECT_EQ(op_types(out), "Relu");
  EXPECT_EQ(out.graph().output_size(), 2);
}

TEST(Export, NewNamesAvoidThoseOfTheFile) {
  auto model = import_text("g (float[2] x) => (float[2] y) { relu_2 = Exp(x) y = Neg(relu_2) }");
  graph::Editor editor(model.graph);
  const Value exp = editor.node(model.graph.outputs()[0].value.node).inputs[0];
  const Value x{model.graph.inputs()[0], 0};
  const Value tanh = editor.op(Op::tanh, {editor.op(Op::relu, {x})});
  editor.replace(exp, tanh);
  model.graph = *editor.finish();
  std::set<std::string> names;
  const auto out = export_proto(model);
  for (const auto& node : out.graph().node()) EXPECT_TRUE(names.insert(node.output(0)).second);
  EXPECT_FALSE(names.contains("relu_2"));
}

// Runtimes know norms by the power only.
TEST(Export, SquaresThatRlgoMadeInFrontOfMeansArePowers) {
  const auto squared = [](const char* text) {
    auto model = import_text(text);
    graph::Editor editor(model.graph);
    for (graph::NodeId id : model.graph.order()) {
      if (model.graph.node(id).op() != Op::pow) continue;
      const Value x = editor.node(id).inputs[0];
      editor.replace({id, 0}, editor.op(Op::mul, {x, x}));
    }
    model.graph = *editor.finish();
    return op_types(export_proto(model));
  };
  EXPECT_EQ(
      squared("g (float[2,3] x) => (float[2,1] y) <float two = {2.0}> { p = Pow(x, two) y = ReduceMean<axes=[1]>(p) }"),
      "Pow ReduceMean");
  EXPECT_EQ(squared("g (float[2,3] x) => (float[2,3] y) <float two = {2.0}> { p = Pow(x, two) y = Neg(p) }"),
            "Mul Neg");
  EXPECT_EQ(squared("g (float[2,3] x) => (float[2,1] y) { p = Mul(x, x) y = ReduceMean<axes=[1]>(p) }"),
            "Mul ReduceMean");
}

TEST(Export, WeightsSeenThroughTransposesStayAsTheyWere) {
  const auto out =
      export_proto(import_text("g (float[1,2] x) => (float[1,3] y) <float[3,2] w = {1.0,2.0,3.0,4.0,5.0,6.0}, float[3] "
                               "b = {0.0,1.0,2.0}> { y = Gemm<transB=1>(x, w, b) }"));
  EXPECT_EQ(op_types(out), "Gemm");
  EXPECT_EQ(out.graph().node(0).input(1), "w");
}

TEST(Export, FoldedValuesBecomeInitialisers) {
  graph::NodeId sum = graph::kNoNode;
  const auto graph = graph_of({2}, [&](graph::Editor& editor, Value x) {
    const Value w = editor.add_weight("w", numbers({2}, {1, 2})), v = editor.add_weight("v", numbers({2}, {3, 4}));
    const Value added = editor.op(Op::add, {w, v});
    sum = added.node;
    return editor.op(Op::mul, {x, added});
  });
  EXPECT_EQ(written_ops(graph, 17), "Add Mul");
  const auto folded = written(graph, 17, {{sum, {numbers({2}, {4, 6})}}});
  EXPECT_EQ(op_types(folded), "Mul");
  ASSERT_EQ(folded.graph().initializer_size(), 1);
  EXPECT_EQ(folded.graph().initializer(0).raw_data(), numbers({2}, {4, 6})->load());
}

TEST(Export, CountsWhatWasWorkedOutFromWeightsAlone) {
  const Folder folder;
  graph::NodeId root = graph::kNoNode;
  const auto graph = graph_of({2}, [&](graph::Editor& editor, Value x) {
    const Value w = editor.add_weight("w", numbers({2}, {1, 2})), v = editor.add_weight("v", numbers({2}, {3, 4}));
    const Value deep = editor.op(Op::sqrt, {editor.op(Op::add, {w, v})});
    root = deep.node;
    return editor.op(Op::mul, {editor.op(Op::add, {x, w}), deep});
  });
  const auto report = export_graph(graph, {{root, {numbers({2}, {2, 2.5F})}}}, folder / "m.onnx");
  EXPECT_EQ(report.folded_operators, 2);
  EXPECT_EQ(report.folded_weights, 1);
  EXPECT_EQ(export_graph(graph, {}, folder / "m.onnx").folded_operators, 0);  // written as operators
}

TEST(Export, SeededWeightsOfZooGraphs) {
  const auto graph = graph_of({2, 3}, [](graph::Editor& editor, Value x) {
    return editor.op(Op::matmul,
                     {x, editor.add_weight("w", graph::Blob::seeded(TensorType(DType::f32, {3, 4}), 7, 0.1))});
  });
  const auto out = written(graph);
  EXPECT_EQ(out.producer_name(), "rlgo");
  EXPECT_EQ(out.graph().initializer(0).raw_data().size(), 48U);
}

TEST(Opsets, ActivationsBehindFusedOperators) {
  const auto conv = [](const std::string& act) {
    return graph_of({1, 2, 4, 4}, [&](graph::Editor& editor, Value x) {
      const Value w = editor.add_weight("w", graph::Blob::seeded(TensorType(DType::f32, {3, 2, 1, 1}), 1, 0.1));
      return editor.op(Op::conv2d, {x, w}, {{Attr::act, act}});
    });
  };
  EXPECT_EQ(written_ops(conv("relu"), 17), "Conv Relu");
  EXPECT_EQ(written_ops(conv("hard_swish"), 17), "Conv HardSwish");
  EXPECT_EQ(written_ops(conv("hard_swish"), 13), "Conv HardSigmoid Mul");
  EXPECT_EQ(written_ops(conv("gelu"), 20), "Conv Gelu");
  EXPECT_EQ(written_ops(conv("gelu"), 17), "Conv Div Erf Add Mul Mul");
}

TEST(Opsets, MatmulWithBias) {
  const auto matmul = [](ops::Shape x_shape, ops::Shape bias) {
    return graph_of(x_shape, [&](graph::Editor& editor, Value x) {
      const Value w = editor.add_weight("w", graph::Blob::seeded(TensorType(DType::f32, {3, 4}), 1, 0.1));
      const Value b = editor.add_weight("b", graph::Blob::seeded(TensorType(DType::f32, bias), 2, 0.1));
      return editor.op(Op::matmul, {x, w, b}, {{Attr::act, std::string("relu")}});
    });
  };
  EXPECT_EQ(written_ops(matmul({2, 3}, {4}), 17), "Gemm Relu");
  EXPECT_EQ(written_ops(matmul({2, 3}, {2, 1}), 9), "Gemm Relu");
  EXPECT_EQ(written_ops(matmul({5, 2, 3}, {4}), 17), "MatMul Add Relu");
}

TEST(Opsets, LayerNormalisationSoftmaxAndTanhGelu) {
  const auto norm = graph_of({2, 3}, [](graph::Editor& editor, Value x) {
    return editor.op(Op::layer_norm, {x, editor.add_weight("s", numbers({3}, {1, 2, 3}))}, {{Attr::axis, int64_t{1}}});
  });
  EXPECT_EQ(written_ops(norm, 17), "LayerNormalization");
  EXPECT_EQ(written_ops(norm, 16), "ReduceMean Sub Pow ReduceMean Add Sqrt Div Mul");
  const auto softmax = graph_of({2, 3}, [](graph::Editor& editor, Value x) {
    return editor.op(Op::softmax, {x}, {{Attr::axis, int64_t{0}}});
  });
  EXPECT_EQ(written_ops(softmax, 13), "Softmax");
  EXPECT_EQ(written_ops(softmax, 12), "Transpose Softmax Transpose");
  const auto gelu = graph_of({2}, [](graph::Editor& editor, Value x) {
    return editor.op(Op::gelu, {x}, {{Attr::approximate, std::string("tanh")}});
  });
  EXPECT_EQ(written_ops(gelu, 8), "Mul Mul Mul Add Mul Tanh Mul Add Mul");
}

// Each passes the full check of its opset, or the export throws.
TEST(Opsets, AttributesBecomeInputs) {
  const auto graph = graph_of({2, 8}, [](graph::Editor& editor, Value x) {
    const Value clip = editor.op(Op::clip, {x}, {{Attr::min, 0.0}, {Attr::max, 6.0}});
    const Value padded = editor.op(Op::pad, {clip}, {{Attr::pads, ops::Ints{0, 1, 0, 1}}, {Attr::value, 2.0}});
    const Value sliced = editor.op(
        Op::slice, {padded}, {{Attr::axes, ops::Ints{1}}, {Attr::starts, ops::Ints{1}}, {Attr::ends, ops::Ints{9}}});
    const Value half = editor.op(Op::split, {sliced}, {{Attr::axis, int64_t{1}}, {Attr::sizes, ops::Ints{4, 4}}});
    const Value mean = editor.op(Op::reduce_mean, {{half.node, 1}}, {{Attr::axes, ops::Ints{1}}});
    const Value sum = editor.op(Op::reduce_sum, {mean}, {{Attr::axes, ops::Ints{0}}});
    return editor.op(Op::reshape, {sum}, {{Attr::shape, ops::Ints{1}}});
  });
  for (const int opset : {7, 9, 10, 11, 12, 13, 17, 18, 21, 24, 25, 26}) {
    EXPECT_EQ(written_ops(graph, opset), "Clip Pad Slice Split ReduceMean ReduceSum Reshape") << opset;
  }
}

// Clip's own bounds are the largest numbers of the type: infinities would not pass.
TEST(Opsets, InfiniteBoundsAreWritten) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const auto graph = graph_of({2}, [&](graph::Editor& editor, Value x) {
    return editor.op(Op::clip, {x}, {{Attr::min, 0.5}, {Attr::max, kInf}});
  });
  const auto inputs = written(graph, 17);
  ASSERT_EQ(inputs.graph().node(0).input_size(), 3);
  const auto attributes = written(graph, 8);
  ASSERT_EQ(attributes.graph().node(0).attribute_size(), 2);
  EXPECT_EQ(attributes.graph().node(0).attribute(1).f(), kInf);
}

TEST(Opsets, WhatAnOpsetCannotExpressIsAnError) {
  const auto graph = graph_of({2, 3}, [](graph::Editor& editor, Value x) {
    return editor.op(Op::min, {x, editor.add_weight("w", numbers({3}, {1, 2, 3}))});
  });
  EXPECT_THROW(written(graph, 7), Error);
  EXPECT_EQ(written_ops(graph, 8), "Min");
  EXPECT_THROW(written(graph, 6), Error);
}

TEST(Opsets, FillsAreNumbersOrOperators) {
  const auto fill = [](int64_t count) {
    return graph_of({count}, [&](graph::Editor& editor, Value x) {
      return editor.op(Op::mul, {x, editor.op(Op::fill, {}, {{Attr::shape, ops::Ints{count}}, {Attr::value, 2.0}})});
    });
  };
  EXPECT_EQ(written_ops(fill(4), 17), "Mul");
  EXPECT_EQ(written_ops(fill(4000), 17), "ConstantOfShape Mul");
}

TEST(Opsets, LiteralsAreNumbers) {
  const auto graph = graph_of({2}, [](graph::Editor& editor, Value x) {
    return editor.op(Op::mul,
                     {x, editor.op(Op::literal, {}, {{Attr::shape, ops::Ints{2}}, {Attr::values, ops::Ints{-5, 24}}})});
  });
  EXPECT_EQ(written_ops(graph, 17), "Mul");
}

TEST(Opsets, EmptyReshapes) {
  const auto graph = graph_of({0, 4}, [](graph::Editor& editor, Value x) {
    return editor.op(Op::reshape, {x}, {{Attr::shape, ops::Ints{2, 0}}});
  });
  EXPECT_EQ(written_ops(graph, 14), "Reshape");
  EXPECT_EQ(written_ops(graph, 13), "Identity");
}

TEST(ExternalData, LargeModelsKeepWeightsBesideThem) {
  const Folder folder;
  const auto graph = graph_of({1, 300}, [](graph::Editor& editor, Value x) {
    return editor.op(Op::matmul,
                     {x, editor.add_weight("w", graph::Blob::seeded(TensorType(DType::f32, {300, 2}), 7, 0.1))});
  });
  export_graph(graph, {}, folder / "g.onnx", 17, {.external_above_bytes = 1000});
  EXPECT_EQ(folder.files(), 2);
  EXPECT_LT(fs::file_size(folder / "g.onnx"), 1000U);
  EXPECT_EQ(import_model(folder / "g.onnx").graph.size(), 3U);
}

// 1e-40 is no normalised f32; 16 numbers make a weight, fewer may be a guard such as x / (y + 1e-40).
TEST(Denormals, BecomeZeroAndAreCounted) {
  const Folder folder;
  std::vector<float> numbers(16, 1.0F);
  numbers[3] = 1e-40F;
  numbers[4] = -1e-40F;
  const auto graph_with = [&](size_t count) {
    const std::string bytes(reinterpret_cast<const char*>(numbers.data()), count * sizeof(float));
    const TensorType type(DType::f32, {static_cast<int64_t>(count)});
    return graph_of(type.shape, [&](graph::Editor& editor, Value x) {
      return editor.op(Op::mul, {x, editor.add_weight("w", graph::Blob::bytes(type, bytes))});
    });
  };
  const auto report = export_graph(graph_with(16), {}, folder / "m.onnx");
  EXPECT_EQ(report.denormals, 2);
  EXPECT_EQ(report.denormal_tensors, 1);
  EXPECT_EQ(export_graph(graph_with(16), {}, folder / "m.onnx").denormals, 2);
  EXPECT_EQ(export_graph(graph_with(15), {}, folder / "m.onnx").denormals, 0);
  EXPECT_EQ(export_graph(graph_with(16), {}, folder / "kept.onnx", 17, {.flush_denormals = false}).denormals, 0);
}

TEST(Failure, WritesNothing) {
  const Folder folder;
  // A weight whose contents are not here.
  const auto model = import_text("g (float[2] x) => (float[2] y) <float[2] w = {1.0, 2.0}> { y = Mul(x, w) }", 17,
                                 {.keep_weights = false});
  EXPECT_THROW(export_model(*model.skeleton, model.graph, {}, folder / "m.onnx"), Error);
  EXPECT_EQ(folder.files(), 0);
}

TEST(Failure, CheckerStopsWrongModels) {
  const Folder folder;
  // Relu takes bf16 since opset 13.
  graph::Editor editor("g");
  const Value x = editor.add_input("x", TensorType(DType::bf16, {2}));
  editor.add_output("y", editor.op(Op::relu, {x}));
  EXPECT_THROW(export_graph(*editor.finish(), {}, folder / "m.onnx", 12), Error);
  EXPECT_EQ(folder.files(), 0);
}

// The file declares 7 elements where 6 come out, and ONNX cannot see it: the model still runs, and is still exported.
TEST(Failure, WrongDeclarationsOfTheFileAreNotOurs) {
  const auto model = import_text(
      "g (float[2,3] x) => (float[7] y) <int64[1] one = {1}, int64[1] six = {6}, bool[1] b = {1}> { s = Where(b, six, "
      "one) y = Reshape(x, s) }");
  EXPECT_EQ(op_types(export_proto(model)), "Reshape");
}

TEST(Failure, FolderThatIsNotThere) {
  const Folder folder;
  const auto graph = graph_of({2}, [](graph::Editor& editor, Value x) { return editor.op(Op::relu, {x}); });
  EXPECT_THROW(export_graph(graph, {}, folder / "none/m.onnx"), Error);
}

}  // namespace
}  // namespace rlgo::onnx_io::test
