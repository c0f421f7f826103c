// ResNet (He et al. 2015) and ResNeXt (Xie et al. 2017) in eval mode, as torchvision's resnet18, resnet50 and
// resnext50_32x4d (stride in the 3x3 convolution).
#include "core/zoo/builder.h"

namespace rlgo::zoo {
namespace {

// Mean scale of the last batch norm of a block: small, so that the sum over many blocks does not grow.
constexpr double kBranchGain = 0.3;

struct Stage {
  int64_t width;  // channels of the inner convolutions
  int blocks;
  int64_t stride;  // of the first block
};

struct Plan {
  int64_t expansion;  // 1: two 3x3 convolutions a block; 4: bottleneck
  std::array<Stage, 4> stages;
  int64_t groups = 1;    // of the bottleneck's 3x3 convolution
  int64_t widening = 1;  // channels of the bottleneck's inner convolutions, over the stage's width
};

Value basic_branch(Builder& b, const std::string& name, Value x, int64_t width, int64_t stride) {
  x = b.conv(name + ".conv1", x, {.out_channels = width, .kernel = {3, 3}, .stride = stride, .pad = {1, 1}});
  x = b.relu(b.batch_norm(name + ".bn1", x));
  x = b.conv(name + ".conv2", x, {.out_channels = width, .kernel = {3, 3}, .pad = {1, 1}});
  return b.batch_norm(name + ".bn2", x, 1e-5, kBranchGain);
}

Value bottleneck_branch(Builder& b, const std::string& name, Value x, const Plan& plan, const Stage& stage,
                        int64_t stride) {
  const int64_t inner = stage.width * plan.widening;
  x = b.relu(b.batch_norm(name + ".bn1", b.conv(name + ".conv1", x, {.out_channels = inner})));
  const Conv three{.out_channels = inner, .kernel = {3, 3}, .stride = stride, .pad = {1, 1}, .group = plan.groups};
  x = b.relu(b.batch_norm(name + ".bn2", b.conv(name + ".conv2", x, three)));
  x = b.conv(name + ".conv3", x, {.out_channels = plan.expansion * stage.width});
  return b.batch_norm(name + ".bn3", x, 1e-5, kBranchGain);
}

Value block(Builder& b, const std::string& name, Value x, const Plan& plan, const Stage& stage, int64_t stride) {
  const int64_t channels = stage.width * plan.expansion;
  Value shortcut = x;
  if (stride != 1 || b.shape(x)[1] != channels) {
    shortcut = b.conv(name + ".downsample.0", x, {.out_channels = channels, .stride = stride});
    shortcut = b.batch_norm(name + ".downsample.1", shortcut);
  }
  const Value branch = plan.expansion == 1 ? basic_branch(b, name, x, stage.width, stride)
                                           : bottleneck_branch(b, name, x, plan, stage, stride);
  return b.relu(b.add(branch, shortcut));
}

graph::Graph resnet(const char* name, const Plan& plan, const ZooOptions& options) {
  refuse_option("layers", options.layers);
  refuse_option("sequence", options.sequence);
  const int64_t image = option_or("image", options.image, 224, 1, 4096);

  Builder b(name, options);
  Value x = b.input("input", ops::DType::f32, {batch_of(options), 3, image, image});
  x = b.conv("conv1", x, {.out_channels = 64, .kernel = {7, 7}, .stride = 2, .pad = {3, 3}});
  x = b.relu(b.batch_norm("bn1", x));
  x = b.max_pool(x, {.kernel = 3, .stride = 2, .pad = 1});
  for (size_t s = 0; s < plan.stages.size(); ++s) {
    const Stage& stage = plan.stages[s];
    for (int k = 0; k < stage.blocks; ++k) {
      const std::string block_name = "layer" + std::to_string(s + 1) + "." + std::to_string(k);
      x = block(b, block_name, x, plan, stage, k == 0 ? stage.stride : 1);
    }
  }
  return b.finish("logits", b.linear("fc", b.flatten(b.global_avg_pool(x)), 1000));
}

}  // namespace

graph::Graph make_resnet18(const ZooOptions& options) {
  return resnet("resnet18", {1, {{{64, 2, 1}, {128, 2, 2}, {256, 2, 2}, {512, 2, 2}}}}, options);
}

graph::Graph make_resnet50(const ZooOptions& options) {
  return resnet("resnet50", {4, {{{64, 3, 1}, {128, 4, 2}, {256, 6, 2}, {512, 3, 2}}}}, options);
}

graph::Graph make_resnext50(const ZooOptions& options) {
  const Plan plan{4, {{{64, 3, 1}, {128, 4, 2}, {256, 6, 2}, {512, 3, 2}}}, 32, 2};
  return resnet("resnext50", plan, options);
}

}  // namespace rlgo::zoo
