// Small graphs for tests and first steps: each shows one kind of rewrite.
#include "core/zoo/builder.h"

namespace rlgo::zoo {

// Two convolutions of one input, relu, concat: they can be merged into one.
graph::Graph make_toy_conv(const ZooOptions& options) {
  refuse_option("layers", options.layers);
  refuse_option("sequence", options.sequence);
  const int64_t image = option_or("image", options.image, 8, 1, 4096);
  const Conv three{.out_channels = 4, .kernel = {3, 3}, .pad = {1, 1}};

  Builder b("toy_conv", options);
  const Value x = b.input("input", ops::DType::f32, {batch_of(options), 3, image, image});
  const Value left = b.relu(b.conv("left", x, three));
  const Value right = b.relu(b.conv("right", x, three));
  return b.finish("output", b.concat(std::array{left, right}, 1));
}

// matmul, add, relu for each hidden layer of width 32, then a linear layer with 8 outputs.
graph::Graph make_toy_mlp(const ZooOptions& options) {
  refuse_option("sequence", options.sequence);
  refuse_option("image", options.image);
  const int64_t layers = option_or("layers", options.layers, 2, 1, 1000);

  Builder b("toy_mlp", options);
  Value x = b.input("input", ops::DType::f32, {batch_of(options), 16});
  for (int64_t k = 0; k < layers; ++k) x = b.relu(b.linear_add("hidden." + std::to_string(k), x, 32));
  return b.finish("output", b.linear_add("output", x, 8));
}

// One residual block with batch norms to fold, and a classifier.
graph::Graph make_toy_residual(const ZooOptions& options) {
  refuse_option("layers", options.layers);
  refuse_option("sequence", options.sequence);
  const int64_t image = option_or("image", options.image, 8, 1, 4096);
  const Conv three{.out_channels = 8, .kernel = {3, 3}, .pad = {1, 1}};

  Builder b("toy_residual", options);
  const Value x = b.input("input", ops::DType::f32, {batch_of(options), 3, image, image});
  const Value stem = b.relu(b.batch_norm("stem.bn", b.conv("stem.conv", x, three)));
  Value branch = b.relu(b.batch_norm("block.bn1", b.conv("block.conv1", stem, three)));
  branch = b.batch_norm("block.bn2", b.conv("block.conv2", branch, three));
  const Value sum = b.relu(b.add(branch, stem));
  return b.finish("output", b.linear("fc", b.flatten(b.global_avg_pool(sum)), 10));
}

}  // namespace rlgo::zoo
