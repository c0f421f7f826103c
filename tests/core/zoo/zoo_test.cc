#include "core/zoo/zoo.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>

#include "core/base/error.h"

namespace rlgo::zoo {
namespace {

std::string error_of(const std::string& name, const ZooOptions& options = {}) {
  try {
    make(name, options);
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

std::map<std::string, int> op_counts(const graph::Graph& graph) {
  std::map<std::string, int> counts;
  for (const graph::NodeId id : graph.order()) ++counts[std::string(ops::name(graph.node(id).op()))];
  return counts;
}

// Multiply-adds of convolutions and matmuls, as the literature counts them.
double giga_macs(const graph::Graph& graph) {
  double flops = 0;
  for (const graph::NodeId id : graph.order()) {
    const auto& node = graph.node(id);
    if (node.op() == ops::Op::conv2d || node.op() == ops::Op::matmul) flops += node.info->work.flops;
  }
  return flops / 2e9;
}

std::string output_type(const graph::Graph& graph) { return ops::to_string(graph.type(graph.outputs()[0].value)); }

TEST(Zoo, ListsAllNames) {
  const std::vector<std::string> expected{"resnet18", "resnet50", "inception_v3", "squeezenet1_1", "bert",
                                          "nasrnn",   "nasnet_a", "resnext50",    "vgg19",         "vit_b16",
                                          "gpt2",     "toy_conv", "toy_mlp",      "toy_attention", "toy_residual"};
  EXPECT_EQ(names(), expected);
}

TEST(Zoo, ListsOfGraphs) {
  EXPECT_EQ(graphs_of("bert,,my.onnx"), (std::vector<std::string>{"bert", "my.onnx"}));
  EXPECT_EQ(graphs_of("zoo").size(), 5u);
  EXPECT_EQ(graphs_of("all,toy_conv").size(), names().size() - 3);  // there are four toys
  EXPECT_THROW(graphs_of(","), Error);
}

TEST(Zoo, EveryGraphIsValidAndReproducible) {
  for (const auto& name : names()) {
    const auto graph = make(name);
    graph.validate();
    EXPECT_EQ(graph.name(), name);
    EXPECT_EQ(graph.outputs().size(), 1u) << name;
    EXPECT_EQ(graph.hash(), make(name).hash()) << name;
    EXPECT_NE(graph.hash(), make(name, {.seed = 1}).hash()) << name;
  }
}

TEST(Zoo, EveryGraphTakesABatch) {
  for (const auto& name : names()) {
    const auto graph = make(name, {.batch = 3});
    EXPECT_EQ(graph.type(graph.outputs()[0].value).shape[0], 3) << name;
    EXPECT_EQ(parameter_count(graph), parameter_count(make(name))) << name;
  }
}

// torchvision's sum of p.numel() over the parameters.
TEST(Zoo, ParameterCountsEqualTorchvision) {
  EXPECT_EQ(parameter_count(make("resnet18")), 11'689'512);
  EXPECT_EQ(parameter_count(make("resnet50")), 25'557'032);
  EXPECT_EQ(parameter_count(make("inception_v3")), 23'834'568);
  EXPECT_EQ(parameter_count(make("squeezenet1_1")), 1'235'496);
  EXPECT_EQ(parameter_count(make("resnext50")), 25'028'904);
  EXPECT_EQ(parameter_count(make("vgg19")), 143'667'240);
  EXPECT_EQ(parameter_count(make("vit_b16")), 86'567'656);
}

// Keras' NASNetMobile: 5,326,716 in all, of which 36,738 are running statistics. With six cells a stage: timm's
// NASNetALarge(stem_size=32, num_features=1056).
TEST(Zoo, NasnetParameterCount) {
  EXPECT_EQ(parameter_count(make("nasnet_a")), 5'326'716 - 36'738);
  EXPECT_EQ(parameter_count(make("nasnet_a", {.layers = 6})), 7'188'490);
}

// transformers' GPT2Model; a block has 7,087,872.
TEST(Zoo, Gpt2ParameterCount) {
  EXPECT_EQ(parameter_count(make("gpt2")), 124'439'808);
  EXPECT_EQ(parameter_count(make("gpt2", {.layers = 2, .sequence = 7})), 124'439'808 - 10 * 7'087'872);
}

// Eight gates of two 512 x 512 matrices in each step, as in TASO's code.
TEST(Zoo, NasrnnParameterCount) {
  EXPECT_EQ(parameter_count(make("nasrnn")), 5 * 8 * 2 * 512 * 512);
  EXPECT_EQ(parameter_count(make("nasrnn", {.sequence = 10})), 10 * 8 * 2 * 512 * 512);
}

// bert-base-uncased has 109,482,240 parameters, of which the pooler has 768 * 768 + 768.
TEST(Zoo, BertParameterCount) {
  EXPECT_EQ(parameter_count(make("bert")), 109'482'240 - (768 * 768 + 768));
  EXPECT_EQ(parameter_count(make("bert", {.layers = 1})), 23'837'184 + 7'087'872);
}

TEST(Zoo, OutputTypes) {
  EXPECT_EQ(output_type(make("resnet18")), "f32[1,1000]");
  EXPECT_EQ(output_type(make("resnet50", {.image = 64})), "f32[1,1000]");
  EXPECT_EQ(output_type(make("inception_v3")), "f32[1,1000]");
  EXPECT_EQ(output_type(make("squeezenet1_1")), "f32[1,1000]");
  EXPECT_EQ(output_type(make("bert")), "f32[1,128,768]");
  EXPECT_EQ(output_type(make("bert", {.batch = 2, .sequence = 512})), "f32[2,512,768]");
  EXPECT_EQ(output_type(make("nasrnn", {.batch = 2, .sequence = 3})), "f32[2,512]");
  EXPECT_EQ(output_type(make("nasnet_a", {.layers = 1, .image = 64})), "f32[1,1000]");
  EXPECT_EQ(output_type(make("resnext50")), "f32[1,1000]");
  EXPECT_EQ(output_type(make("vgg19", {.image = 448})), "f32[1,1000]");
  EXPECT_EQ(output_type(make("vit_b16", {.batch = 2, .image = 32})), "f32[2,1000]");
  EXPECT_EQ(output_type(make("gpt2", {.sequence = 1024})), "f32[1,1024,768]");
  EXPECT_EQ(output_type(make("toy_conv")), "f32[1,8,8,8]");
  EXPECT_EQ(output_type(make("toy_mlp", {.layers = 5})), "f32[1,8]");
  EXPECT_EQ(output_type(make("toy_attention")), "f32[1,8,16]");
  EXPECT_EQ(output_type(make("toy_residual")), "f32[1,10]");
}

// Multiply-adds that torchvision's documentation gives (GFLOPS column), within 1 %.
TEST(Zoo, MultiplyAddsEqualTheLiterature) {
  EXPECT_NEAR(giga_macs(make("resnet18")), 1.814, 0.018);
  EXPECT_NEAR(giga_macs(make("resnet50")), 4.089, 0.041);
  EXPECT_NEAR(giga_macs(make("inception_v3")), 5.713, 0.057);
  EXPECT_NEAR(giga_macs(make("squeezenet1_1")), 0.349, 0.0035);
  // 12 layers x 128 tokens x (7,077,888 weights + 2 x 128 x 768 in attention).
  EXPECT_NEAR(giga_macs(make("bert")), 12 * 128 * (7'077'888.0 + 2 * 128 * 768) / 1e9, 0.01);
  EXPECT_NEAR(giga_macs(make("gpt2")), giga_macs(make("bert")), 1e-6);
  EXPECT_NEAR(giga_macs(make("resnext50")), 4.230, 0.042);
  EXPECT_NEAR(giga_macs(make("vgg19")), 19.632, 0.196);
  EXPECT_NEAR(giga_macs(make("vit_b16")), 17.564, 0.176);
  EXPECT_NEAR(giga_macs(make("nasnet_a")), 0.564, 0.0056);  // table 2 of the paper
}

TEST(Zoo, NodeCountsOfTheOthers) {
  auto vgg = op_counts(make("vgg19"));
  EXPECT_EQ(vgg["conv2d"], 16);
  EXPECT_EQ(vgg["matmul"], 3);
  auto gpt2 = op_counts(make("gpt2"));
  EXPECT_EQ(gpt2["matmul"], 12 * 6);
  EXPECT_EQ(gpt2["where"], 12);
  EXPECT_EQ(gpt2["less_equal"], 1);
  auto nasrnn = op_counts(make("nasrnn"));
  EXPECT_EQ(nasrnn["matmul"], 5 * 16);
  EXPECT_EQ(nasrnn["tanh"], 5 * 8);
  EXPECT_EQ(nasrnn["sigmoid"], 5 * 5);
}

TEST(Zoo, NodeCounts) {
  auto resnet50 = op_counts(make("resnet50"));
  EXPECT_EQ(resnet50["conv2d"], 53);
  EXPECT_EQ(resnet50["batch_norm"], 53);
  EXPECT_EQ(resnet50["relu"], 49);
  EXPECT_EQ(resnet50["add"], 16);
  auto inception = op_counts(make("inception_v3"));
  EXPECT_EQ(inception["conv2d"], 94);
  EXPECT_EQ(inception["concat"], 15);
  EXPECT_EQ(inception["avg_pool"], 9);
  auto squeezenet = op_counts(make("squeezenet1_1"));
  EXPECT_EQ(squeezenet["conv2d"], 26);
  EXPECT_EQ(squeezenet["concat"], 8);
  auto bert = op_counts(make("bert"));
  EXPECT_EQ(bert["matmul"], 12 * 8);
  EXPECT_EQ(bert["layer_norm"], 12 * 2 + 1);
  EXPECT_EQ(bert["softmax"], 12);
  EXPECT_EQ(bert["fill"], 1);
}

// TASO's BERT leaves branches unread: here everything reaches the output.
TEST(Zoo, EveryNodeIsRead) {
  for (const auto& name : names()) {
    const auto graph = make(name);
    for (const graph::NodeId id : graph.order()) {
      EXPECT_TRUE(!graph.node(id).uses.empty() || graph.is_output(id)) << name;
    }
  }
}

TEST(Zoo, WeightsDifferByNameAndHaveTheStatedScale) {
  const auto graph = make("resnet18");
  std::map<uint64_t, std::string> seen;
  for (const graph::NodeId id : graph.order()) {
    const auto& info = *graph.node(id).info;
    if (info.op != ops::Op::weight) continue;
    EXPECT_FALSE(info.name.empty());
    EXPECT_TRUE(seen.emplace(info.blob->content_hash(), info.name).second) << info.name;
    if (info.name != "layer3.0.conv2.weight") continue;
    const std::string bytes = info.blob->load();
    std::vector<float> values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    double squares = 0;
    for (const float v : values) squares += static_cast<double>(v) * v;
    EXPECT_NEAR(squares / static_cast<double>(values.size()), 2.0 / (256 * 9), 2e-5);
  }
}

TEST(Zoo, UnknownNameShowsTheNearest) {
  EXPECT_EQ(error_of("resnet5"),
            "no graph named 'resnet5' (did you mean 'resnet50'?); the zoo has resnet18, resnet50, inception_v3, "
            "squeezenet1_1, bert, nasrnn, nasnet_a, resnext50, vgg19, vit_b16, gpt2, toy_conv, toy_mlp, toy_attention, "
            "toy_residual");
  EXPECT_NE(error_of("").find("no graph named ''"), std::string::npos);
}

TEST(Zoo, OptionsThatDoNotFitAreErrors) {
  EXPECT_EQ(error_of("resnet50", {.layers = 3}), "resnet50: this model has no option 'layers'");
  EXPECT_EQ(error_of("bert", {.sequence = 513}), "bert: sequence must be between 1 and 512, not 513");
  EXPECT_EQ(error_of("bert", {.batch = -1}), "bert: batch must be between 1 and 65536, not -1");
  EXPECT_NE(error_of("inception_v3", {.image = 20}).find("image must be"), std::string::npos);
  EXPECT_EQ(error_of("gpt2", {.sequence = 1025}), "gpt2: sequence must be between 1 and 1024, not 1025");
  EXPECT_EQ(error_of("vgg19", {.image = 256}), "vgg19: image must be a multiple of 224, not 256");
  EXPECT_EQ(error_of("vit_b16", {.image = 40}), "vit_b16: image must be a multiple of 16, not 40");
  EXPECT_EQ(error_of("nasrnn", {.layers = 2}), "nasrnn: this model has no option 'layers'");
  EXPECT_EQ(error_of("nasnet_a", {.image = 33}), "no error");
  EXPECT_EQ(error_of("squeezenet1_1", {.image = 25}), "no error");
  EXPECT_EQ(error_of("inception_v3", {.image = 75}), "no error");
  EXPECT_EQ(error_of("resnet18", {.image = 1}), "no error");
}

}  // namespace
}  // namespace rlgo::zoo
