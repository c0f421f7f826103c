// Damaged, hostile and invalid files: one clear Error each, that names the file and the place.
#include "tests/core/onnx/support.h"

namespace rlgo::onnx_io::test {
namespace {

using testing::internal::CaptureStderr;
using testing::internal::GetCapturedStderr;

constexpr const char* kGood = "g (float[2] x) => (float[2] y) <float[2] w = {1.0, 2.0}> { y = Mul(x, w) }";

void expect_error(const onnx::ModelProto& model, const std::string& part) {
  CaptureStderr();
  const std::string message = import_error(model);
  EXPECT_EQ(GetCapturedStderr(), "");
  EXPECT_NE(message.find(part), std::string::npos) << message;
  EXPECT_NE(message.find("m.onnx"), std::string::npos) << message;
}

TEST(BadFile, MissingFolderEmptyAndForeign) {
  const Folder folder;
  EXPECT_NE(import_error(folder / "none.onnx").find("none.onnx: no such file"), std::string::npos);
  fs::create_directory(folder / "d.onnx");
  EXPECT_NE(import_error(folder / "d.onnx").find("is a folder"), std::string::npos);
  atomic_write(folder / "e.onnx", std::string_view());
  EXPECT_NE(import_error(folder / "e.onnx").find("is empty"), std::string::npos);
  CaptureStderr();
  atomic_write(folder / "t.onnx", std::string_view("# this is a text file\nwith two lines\n"));
  EXPECT_NE(import_error(folder / "t.onnx").find("not an ONNX model"), std::string::npos);
  atomic_write(folder / "z.onnx", std::string_view("\0\0\0\0\0\0", 6));
  EXPECT_NE(import_error(folder / "z.onnx").find("not an ONNX model"), std::string::npos);
  EXPECT_EQ(GetCapturedStderr(), "");
}

TEST(BadFile, EveryTruncationFailsOrIsAModel) {
  const Folder folder;
  const std::string bytes = parse(kGood).SerializeAsString();
  CaptureStderr();
  int errors = 0;
  for (size_t size = 1; size < bytes.size(); ++size) {
    atomic_write(folder / "m.onnx", std::string_view(bytes).substr(0, size));
    try {
      import_model(folder / "m.onnx");
    } catch (const Error&) {
      ++errors;
    }
  }
  EXPECT_EQ(GetCapturedStderr(), "");
  EXPECT_GT(errors, static_cast<int>(bytes.size()) - 10);
}

// Every byte of a small model set to a few other values: an Error or a model, never a crash.
TEST(BadFile, FlippedBytes) {
  const Folder folder;
  const std::string bytes =
      parse("g (float[2] x) => (float[1] y) <int64[1] s = {0}, int64[1] e = {1}> { a = Slice(x, s, e) y = Relu(a) }")
          .SerializeAsString();
  CaptureStderr();
  int done = 0;
  for (size_t at = 0; at < bytes.size(); at += 3) {
    for (const int flip : {0x01, 0x80}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ flip);
      std::ofstream(folder / "m.onnx", std::ios::binary) << damaged;
      try {
        import_model(folder / "m.onnx");
      } catch (const Error&) {
      }
      ++done;
    }
  }
  GetCapturedStderr();
  EXPECT_GT(done, 50);
}

TEST(BadModel, Versions) {
  auto model = parse(kGood);
  model.set_ir_version(99);
  expect_error(model, "ir_version 99 is not supported");
  model.set_ir_version(0);
  expect_error(model, "ir_version 0 is not supported");
  expect_error(parse(kGood, 999), "opset 999 is not supported");
  model = parse(kGood);
  model.clear_opset_import();
  expect_error(model, "opset_import is missing");
}

TEST(BadModel, UnknownOperatorAndAttribute) {
  expect_error(parse("g (float[2] x) => (float[2] y) { [n] y = Reluu(x) }"),
               "node 'n' (Reluu): opset 17 of ONNX has no such operator");
  expect_error(parse("g (float[2] x) => (float[2] y) { y = ATen(x) }"), "no such operator");
  expect_error(parse("g (float[2] x) => (float[2] y) { y = Relu<speed=2>(x) }"), "speed");
}

TEST(BadModel, Names) {
  expect_error(parse("g (float[2] x) => (float[2] y) { y = Relu(nowhere) }"),
               "node (Relu) that makes 'y': its input 'nowhere' is not defined");
  expect_error(parse("g (float[2] x) => (float[2] z) { y = Relu(x) }"), "graph output 'z' is not defined");
  expect_error(parse("g (float[2] x) => (float[2] y) { [one] y = Relu(x) [two] y = Exp(x) }"),
               "node 'two' (Exp): its output 'y' is already defined");
  expect_error(parse("g (float[2] x, float[2] x) => (float[2] y) { y = Relu(x) }"), "two graph inputs are named 'x'");
  expect_error(parse("g (float[2] x) => (float[2] y) { y = If(c) <then_branch = t () => (float[2] p) { p = Relu(x) }, "
                     "else_branch = e () => (float[2] q) { q = Exp(x) }> }"),
               "'c' is not defined");
}

TEST(BadModel, ControlCharactersInNamesDoNotReachTheTerminal) {
  auto model = parse(kGood);
  model.mutable_graph()->mutable_node(0)->set_input(0, "a\x1b[31m\n");
  expect_error(model, "its input 'a?[31m?' is not defined");
}

TEST(BadModel, Cycle) {
  expect_error(parse("g (float[2] x) => (float[2] y) { [n] a = Add(x, b) b = Relu(a) y = Exp(b) }"),
               "node 'n' (Add): lies on a cycle");
}

TEST(BadModel, UnsortedNodesAreSorted) {
  EXPECT_EQ(ops_of(import_text("g (float[2] x) => (float[2] y) { y = Exp(b) b = Relu(x) }")),
            "%1 = relu(%0) : f32[2]\n%2 = exp(%1) : f32[2]\n");
}

TEST(BadModel, TypesThatDoNotFitMakeOpaqueOperators) {
  const auto model = import_text("g (float[2] x, float[3] b) => (float[2] y) { y = Add(x, b) }");
  EXPECT_EQ(model.report.opaque.at("Add"), 1);
  ASSERT_EQ(model.report.notes.size(), 1U);
  EXPECT_NE(model.report.notes[0].find("contradict"), std::string::npos);
}

TEST(BadModel, ShapesThatAreDeclaredWronglyAreLeftOut) {
  const auto model = import_text("g (float[2] x) => (float[1, 2] y) <float[7] a> { a = Exp(x) y = Relu(a) }");
  EXPECT_EQ(ops_of(model), "%1 = exp(%0) : f32[2]\n%2 = relu(%1) : f32[2]\n");
  ASSERT_EQ(model.report.notes.size(), 1U);
  EXPECT_NE(model.report.notes[0].find("declares other shapes"), std::string::npos);
}

onnx::ModelProto with_initialiser(std::initializer_list<int64_t> dims, size_t bytes) {
  auto model = parse("g (float[2] x) => (float[2] y) { y = Mul(x, w) }");
  auto* tensor = model.mutable_graph()->add_initializer();
  tensor->set_name("w");
  tensor->set_data_type(onnx::TensorProto::FLOAT);
  for (int64_t extent : dims) tensor->add_dims(extent);
  tensor->set_raw_data(std::string(bytes, '\0'));
  return model;
}

TEST(BadSize, Initialisers) {
  expect_error(with_initialiser({3}, 8), "tensor 'w': 8 bytes of data, but its shape f32[3] needs 12");
  expect_error(with_initialiser({-2}, 8), "tensor 'w': dimension -2 is negative");
  expect_error(with_initialiser({int64_t{1} << 62, int64_t{1} << 62}, 8), "absurdly large");
  expect_error(with_initialiser({0, int64_t{1} << 62, int64_t{1} << 62}, 0), "absurdly large");
  auto model = with_initialiser({2}, 0);
  model.mutable_graph()->mutable_initializer(0)->clear_raw_data();
  model.mutable_graph()->mutable_initializer(0)->add_float_data(1.0F);
  expect_error(model, "tensor 'w': 4 bytes of data");
}

// ONNX's own inference would crash or ask for gigabytes here.
TEST(BadModel, AttributesThatLeadInferenceAstray) {
  const auto is_kept = [](const std::string& body, int opset) {
    const auto model = import_text(body, opset);
    return model.report.known == 0 && model.skeleton != nullptr && !model.report.notes.empty();
  };
  EXPECT_TRUE(
      is_kept("g (float[3,4] x, float[4] s) => (float[3,4] y, float[3,1] m) { y, m = "
              "LayerNormalization<axis=2147483648>(x, s) }",
              17));
  EXPECT_TRUE(
      is_kept("g (float[6] x) => (float[3] y, float[3] z) { y, z = Split<num_outputs=4611686018427387904>(x) }", 18));
  EXPECT_TRUE(
      is_kept("g (float[1,1,4,4] x) => (float[1,1,4,4] y) { y = MaxPool<kernel_shape=[1,1], strides=[0,0]>(x) }", 17));
  EXPECT_TRUE(
      is_kept("g (float[1,4,8] x) => (float[1,4,8] y) { y = Attention<q_num_heads=2, kv_num_heads=0>(x, x, x) }", 23));
}

TEST(BadModel, LeftOutRequiredInputs) {
  EXPECT_EQ(import_text("g (float[2] x) => (float[2] y) { y = Sum(x, , x) }").report.opaque.at("Sum"), 1);
}

TEST(BadSize, Inputs) {
  expect_error(parse("g (float[1000000,1000000,1000000,1000000] x) => (float[2] y) { y = Relu(x) }"),
               "'x': its shape is absurdly large, more than 274877906944 elements (--onnx.elements)");
  auto model = parse(kGood);
  model.mutable_graph()
      ->mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(0)
      ->set_dim_value(-2);
  expect_error(model, "graph input 'x': dimension 0 is -2");
}

TEST(BadSize, TerabytesFromAShape) {
  expect_error(parse("g (float[1] x) => (float[h,w,d] y) <int64[3] s = {100000,100000,1000}> { [big] f = "
                     "ConstantOfShape(s) y = Mul(f, x) }"),
               "node 'big' (ConstantOfShape): makes a tensor of absurd size");
  expect_error(
      parse("g (float[1] x) => (float[h,w,d] y) <int64[3] s = {100000,100000,1000}> { [big] y = Expand(x, s) }"),
      "node 'big' (Expand)");
  expect_error(parse("g (float[1,1] x) => (float[h,w] y) <int64[2] s = {4611686018427387904,4611686018427387904}> { "
                     "[big] y = Tile(x, s) }"),
               "node 'big' (Tile)");
}

TEST(BadSize, GigabytesFromAShapeAreNotMade) {
  const auto model = import_text(
      "g (float[1] x) => (float[h,w] y) <int64[2] s = {100000,1000000}> { f = ConstantOfShape(s) y = Mul(f, x) }");
  EXPECT_EQ(model.report.opaque.at("ConstantOfShape"), 1);
}

onnx::ModelProto with_external(const std::string& location, int64_t offset, int64_t length) {
  auto model = with_initialiser({2}, 0);
  auto* tensor = model.mutable_graph()->mutable_initializer(0);
  tensor->clear_raw_data();
  tensor->set_data_location(onnx::TensorProto::EXTERNAL);
  const auto note = [&](const char* key, const std::string& value) {
    auto* entry = tensor->add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  };
  note("location", location);
  if (offset != 0) note("offset", std::to_string(offset));
  if (length != 0) note("length", std::to_string(length));
  return model;
}

TEST(ExternalData, IsReadFromItsPlace) {
  const Folder folder;
  const float values[3] = {7, 1, 2};
  std::ofstream(folder / "w.bin", std::ios::binary).write(reinterpret_cast<const char*>(values), sizeof(values));
  save(with_external("w.bin", 4, 8), folder / "m.onnx");
  const auto model = import_model(folder / "m.onnx");
  for (graph::NodeId id : model.graph.order()) {
    const auto& info = *model.graph.node(id).info;
    if (info.op == ops::Op::weight) {
      EXPECT_EQ(info.blob->load(), std::string(reinterpret_cast<const char*>(values + 1), 8));
    }
  }
}

TEST(ExternalData, OutsideTheFolderIsRefused) {
  const Folder folder;
  fs::create_directory(folder / "model");
  std::ofstream(folder / "secret.bin") << "12345678";
  fs::create_symlink(folder / "secret.bin", folder / "model/link.bin");
  const std::vector<std::string> locations{"../secret.bin", (folder / "secret.bin").string(), "link.bin",
                                           "a/../../secret.bin"};
  for (const auto& location : locations) {
    save(with_external(location, 0, 8), folder / "model/m.onnx");
    EXPECT_NE(import_error(folder / "model/m.onnx").find("outside the model's folder"), std::string::npos) << location;
  }
}

TEST(ExternalData, MissingShortOrStrange) {
  const Folder folder;
  std::ofstream(folder / "w.bin") << "1234567";
  const auto error = [&](const onnx::ModelProto& model) {
    save(model, folder / "m.onnx");
    return import_error(folder / "m.onnx");
  };
  EXPECT_NE(error(with_external("none.bin", 0, 8)).find("none.bin is missing"), std::string::npos);
  EXPECT_NE(error(with_external("w.bin", 0, 8)).find("has 7 bytes, but 8 bytes at offset 0 are needed"),
            std::string::npos);
  EXPECT_NE(error(with_external("w.bin", 0, 4)).find("4 bytes of external data, but its shape needs 8"),
            std::string::npos);
  EXPECT_NE(error(with_external("w.bin", 9223372036854775807, 8)).find("at offset 9223372036854775807"),
            std::string::npos);
  EXPECT_NE(error(with_external("w.bin", -4, 8)).find("offset '-4'"), std::string::npos);
  EXPECT_NE(error(with_external("", 0, 8)).find("without a location"), std::string::npos);
}

TEST(BadNesting, DeepSubgraphsAreRefused) {
  auto model = parse("g (bool c, float[2] x) => (float[2] y) { y = Relu(x) }");
  onnx::GraphProto inner = parse("g () => (float[2] p) { p = Relu(x) }").graph();
  for (int depth = 0; depth < 60; ++depth) {
    onnx::GraphProto outer;
    outer.set_name("g");
    auto* node = outer.add_node();
    node->set_op_type("If");
    node->add_input("c");
    node->add_output("p" + std::to_string(depth));
    for (const char* branch : {"then_branch", "else_branch"}) {
      auto* attribute = node->add_attribute();
      attribute->set_name(branch);
      attribute->set_type(onnx::AttributeProto::GRAPH);
      if (branch[0] == 't') *attribute->mutable_g() = inner;
    }
    inner.Swap(&outer);
  }
  *model.mutable_graph()->mutable_node() = inner.node();
  expect_error(model, "nested too deeply");
}

TEST(BadNesting, RecursiveFunctionsAreRefused) {
  onnx::ModelProto model;
  const std::string text =
      "<ir_version: 8, opset_import: [\"\" : 17, \"f\" : 1]> g (float[2] x) => (float[2] y) { y = f.a(x) } "
      "<domain: \"f\", opset_import: [\"\" : 17, \"f\" : 1]> a (v) => (r) { r = f.b(v) } "
      "<domain: \"f\", opset_import: [\"\" : 17, \"f\" : 1]> b (v) => (r) { r = f.a(v) }";
  ASSERT_TRUE(onnx::OnnxParser::Parse(model, text.c_str()).IsOK());
  expect_error(model, "calls itself");
}

// 40 functions that call the one before twice: 2^40 operators.
TEST(BadNesting, ExplodingFunctionsAreRefused) {
  std::string text =
      "<ir_version: 8, opset_import: [\"\" : 17, \"f\" : 1]> g (float[2] x) => (float[2] y) { y = f.a40(x) } ";
  for (int k = 1; k <= 40; ++k) {
    const std::string callee = k == 1 ? "Relu" : "f.a" + std::to_string(k - 1);
    text +=
        fmt::format("<domain: \"f\", opset_import: [\"\" : 17, \"f\" : 1]> a{} (v) => (r) {{ s = {}(v) r = {}(s) }} ",
                    k, callee, callee);
  }
  onnx::ModelProto model;
  ASSERT_TRUE(onnx::OnnxParser::Parse(model, text.c_str()).IsOK());
  expect_error(model, "more than 1000000 operators (--onnx.nodes)");
  model.mutable_graph()->mutable_node(0)->set_op_type("a3");  // nobody calls the large ones any more
  EXPECT_EQ(import_proto(model).report.opaque.at("f.a3"), 1);
}

// 1.1 million numbers and as many words: the file is the limit.
TEST(Limits, AttributesMayHaveAsManyItemsAsTheFileHolds) {
  auto model = parse("g (float[2] x) => (float[2] y) { y = Relu(x) }");
  auto& node = *model.mutable_graph()->mutable_node(0);
  node.set_domain("other");
  model.add_opset_import()->set_domain("other");
  model.mutable_opset_import(1)->set_version(1);
  auto* list = node.add_attribute();
  list->set_name("ids");
  list->set_type(onnx::AttributeProto::INTS);
  list->mutable_ints()->Resize(1'100'000, 7);
  list = node.add_attribute();
  list->set_name("modes");
  list->set_type(onnx::AttributeProto::STRINGS);
  for (int k = 0; k < 1'100'000; ++k) list->add_strings("L");
  EXPECT_EQ(export_proto(import_proto(model)).graph().node(0).attribute(0).ints_size(), 1'100'000);
}

}  // namespace
}  // namespace rlgo::onnx_io::test
