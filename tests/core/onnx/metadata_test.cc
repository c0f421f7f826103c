// Documentation, metadata, declarations and annotations: what a written model keeps of them, and what is reported.
#include "tests/core/onnx/support.h"

namespace rlgo::onnx_io::test {
namespace {

template <typename Proto>
void note(Proto& of, const std::string& text) {
  of.set_doc_string(text);
  auto* property = of.add_metadata_props();
  property->set_key("k");
  property->set_value(text);
}

// "doc k=v".
template <typename Proto>
std::string notes(const Proto& of) {
  std::string text = of.doc_string();
  for (const auto& entry : of.metadata_props()) text += " " + entry.key() + "=" + entry.value();
  return text;
}

const onnx::TensorProto* initialiser(const onnx::GraphProto& graph, const std::string& name) {
  for (const auto& tensor : graph.initializer()) {
    if (tensor.name() == name) return &tensor;
  }
  for (const auto& node : graph.node()) {
    for (const auto& attribute : node.attribute()) {
      if (const auto* found = initialiser(attribute.g(), name)) return found;
    }
  }
  return nullptr;
}

std::string notes_of_initialiser(const onnx::ModelProto& model, const std::string& name) {
  const auto* found = initialiser(model.graph(), name);
  return found == nullptr ? "gone" : notes(*found);
}

onnx::ValueInfoProto& declare(onnx::ModelProto& model, const std::string& name, std::initializer_list<int64_t> shape) {
  auto& value = *model.mutable_graph()->add_value_info();
  value.set_name(name);
  value.mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
  for (const int64_t extent : shape)
    value.mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(extent);
  return value;
}

TEST(Metadata, InitialisersKeepTheirs) {
  auto model = parse(
      "g (float[2] x, float[2] d) => (float[2] y) <float[2] w = {1, 2}, float[2] u = {3, 4}, float[2] d = {5, 6}> { "
      "a = Mul(x, w) b = Mod<fmod=1>(a, u) y = Add(b, d) }");
  for (auto& tensor : *model.mutable_graph()->mutable_initializer()) note(tensor, tensor.name());
  const auto out = export_proto(import_proto(model));
  for (const char* name : {"w", "u", "d"}) EXPECT_EQ(notes_of_initialiser(out, name), fmt::format("{0} k={0}", name));
}

TEST(Metadata, ThoseOfAConstantStayWithItsNumbers) {
  auto model = parse("g (float[2] x) => (float[2] y) { c = Constant<value = float[2] {1, 2}>() y = Mul(x, c) }");
  note(*model.mutable_graph()->mutable_node(0), "words");
  EXPECT_EQ(notes_of_initialiser(export_proto(import_proto(model)), "c"), "words k=words");
}

TEST(Metadata, ConstantsOfOldFilesKeepTheirs) {
  auto model = parse("g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Mul(x, w) }", 9, 3);
  model.mutable_graph()->mutable_initializer()->Clear();
  auto* node = model.mutable_graph()->add_node();
  *node = parse("g (float[2] x) => (float[2] w) { w = Constant<value = float[2] {1, 2}>() }").graph().node(0);
  note(*node->mutable_attribute(0)->mutable_t(), "old");
  const auto out = export_proto(import_proto(model));
  EXPECT_EQ(op_types(out), "Constant Mul");
  EXPECT_EQ(notes(out.graph().node(0).attribute(0).t()), "old k=old");
}

TEST(Metadata, InBodiesToo) {
  auto model = parse(
      "g (bool c, float[20] x) => (float[20] y) <float a = {1}, float b = {2}> { h = Relu(x) y = If(c) <then_branch = "
      "t () => (float[20] p) { p = Mod<fmod=1>(h, a) }, else_branch = e () => (float[20] q) { s = Add(b, b) "
      "q = Mul(h, s) }> }");
  for (auto& tensor : *model.mutable_graph()->mutable_initializer()) note(tensor, tensor.name());
  EXPECT_EQ(notes_of_initialiser(export_proto(import_proto(model)), "a"), "a k=a");
}

TEST(Metadata, InABranchThatIsTaken) {
  auto model = parse(
      "g (float[2] x) => (float[2] y) <bool[1] c = {1}> { y = If(c) <then_branch = t () => (float[2] p) { "
      "m = Mul(x, w) p = Exp(m) }, else_branch = e () => (float[2] q) { q = Exp(x) }> }");
  auto* branch = model.mutable_graph()->mutable_node(0)->mutable_attribute(0)->mutable_g();
  auto* tensor = branch->add_initializer();
  *tensor = parse("g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Mul(x, w) }").graph().initializer(0);
  note(*tensor, "inside");
  auto& value = *branch->add_value_info();
  value = declare(model, "m", {2});
  note(value, "product");
  model.mutable_graph()->clear_value_info();
  const auto out = export_proto(import_proto(model));
  EXPECT_EQ(notes_of_initialiser(out, "w/y"), "inside k=inside");
  ASSERT_EQ(out.graph().value_info_size(), 1);
  EXPECT_EQ(out.graph().value_info(0).name(), "m/y");
  EXPECT_EQ(notes(out.graph().value_info(0)), "product k=product");
}

TEST(Metadata, OfAnotherContentIsNotTakenOver) {
  auto model = parse(
      "g (float[2] x) => (float[2] y, float[2] z) <float[2] w = {1, 2}, float[2] v = {1, 2}> { y = Mul(x, w) "
      "z = Add(x, v) }");
  note(*model.mutable_graph()->mutable_initializer(1), "twin");
  const auto read = import_proto(model);
  ASSERT_EQ(read.report.changes.size(), 1U);
  EXPECT_EQ(to_text(read.report.changes[0]), "merged initialiser 'v': the same as 'w'");
  EXPECT_EQ(notes_of_initialiser(export_proto(read), "w"), "");
}

TEST(Declarations, OfValuesThatAreThereAreKept) {
  auto model =
      parse("g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { a = Mul(x, w) b = Identity(a) y = Exp(b) }");
  for (const char* name : {"a", "b", "w", "nowhere"}) note(declare(model, name, {2}), name);
  const auto out = export_proto(import_proto(model));
  ASSERT_EQ(out.graph().value_info_size(), 2);
  EXPECT_EQ(out.graph().value_info(0).SerializeAsString(), model.graph().value_info(0).SerializeAsString());
  EXPECT_EQ(out.graph().value_info(1).SerializeAsString(), model.graph().value_info(2).SerializeAsString());
}

TEST(Declarations, WrongShapesAreLeftOutTheRestStays) {
  auto model = parse("g (float[2] x) => (float[2] y) { a = Relu(x) b = Neg(a) y = Exp(b) }");
  note(declare(model, "a", {7}), "words");
  declare(model, "b", {2}).mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::DOUBLE);
  const auto out = export_proto(import_proto(model));
  ASSERT_EQ(out.graph().value_info_size(), 1);
  EXPECT_EQ(notes(out.graph().value_info(0)), "words k=words");
  EXPECT_FALSE(out.graph().value_info(0).type().tensor_type().has_shape());
}

TEST(Declarations, OpenDimensionsKeepTheirNamesAndFixedOnesHaveNoShape) {
  auto model = parse("g (float[n,2] x) => (float[n,2] y) { a = Relu(x) y = Exp(a) }");
  auto& value = declare(model, "a", {1, 2});
  value.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_param("n");
  note(value, "words");
  const auto kept = [&](const ImportOptions& options) {
    return export_proto(import_proto(model, options)).graph().value_info(0);
  };
  EXPECT_EQ(kept({.sample_open = true}).type().tensor_type().shape().dim(0).dim_param(), "n");
  EXPECT_EQ(notes(kept({.dims = {{"n", 4}}})), "words k=words");
  EXPECT_FALSE(kept({.dims = {{"n", 4}}}).type().tensor_type().has_shape());
}

TEST(Declarations, OfTheSampleSizeAreNoFacts) {
  auto model = parse("g (float[n,2] x) => (float[n,2] y) { a = Relu(x) y = Exp(a) }");
  declare(model, "a", {3, 2});
  const auto out = export_proto(import_proto(model, {.sample_open = true, .samples = {{"n", 3}}}));
  EXPECT_FALSE(out.graph().value_info(0).type().tensor_type().has_shape());
}

TEST(Annotations, OfValuesThatAreGoneAreCounted) {
  auto model = parse(
      "g (float[2] x) => (float[2] y) <float s = {0.5}, float t = {0.25}> { a = Relu(x) b = Identity(a) y = Exp(b) }");
  for (const auto& [tensor, scale] : {std::pair("a", "s"), std::pair("b", "t")}) {
    auto* annotation = model.mutable_graph()->add_quantization_annotation();
    annotation->set_tensor_name(tensor);
    auto* entry = annotation->add_quant_parameter_tensor_names();
    entry->set_key("SCALE_TENSOR");
    entry->set_value(scale);
  }
  const Folder folder;
  const auto read = import_proto(model);
  EXPECT_EQ(export_model(*read.skeleton, read.graph, {}, folder / "out.onnx").annotations, 1);
  const auto out = load(folder / "out.onnx");
  ASSERT_EQ(out.graph().quantization_annotation_size(), 1);
  EXPECT_EQ(out.graph().quantization_annotation(0).tensor_name(), "a");
  EXPECT_NE(notes_of_initialiser(out, "s"), "gone");
}

TEST(TrainingInfo, IsLeftOutAndReported) {
  auto model = parse("g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Mul(x, w) }");
  *model.add_training_info()->mutable_algorithm() = parse("step () => (float[2] v) { v = Neg(w) }").graph();
  const auto read = import_proto(model);
  ASSERT_EQ(read.report.changes.size(), 1U);
  EXPECT_EQ(to_text(read.report.changes[0]), "left out training_info 'step': a written model is for inference");
  EXPECT_NE(read.report.summary().find("1 left out (training_info 1)"), std::string::npos);
  EXPECT_EQ(export_proto(read).training_info_size(), 0);
}

}  // namespace
}  // namespace rlgo::onnx_io::test
