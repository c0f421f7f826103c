// SqueezeNet 1.1 (Iandola et al. 2016, and the authors' version 1.1), as torchvision's squeezenet1_1 in eval mode.
#include "core/zoo/builder.h"

namespace rlgo::zoo {
namespace {

// Squeeze to `squeeze` channels, then two expansions of `expand` channels side by side.
Value fire(Builder& b, const std::string& name, Value x, int64_t squeeze, int64_t expand) {
  const Value s = b.relu(b.conv(name + ".squeeze", x, {.out_channels = squeeze, .bias = true}));
  const Value narrow = b.relu(b.conv(name + ".expand1x1", s, {.out_channels = expand, .bias = true}));
  const Value wide =
      b.relu(b.conv(name + ".expand3x3", s, {.out_channels = expand, .kernel = {3, 3}, .pad = {1, 1}, .bias = true}));
  return b.concat(std::array{narrow, wide}, 1);
}

}  // namespace

graph::Graph make_squeezenet1_1(const ZooOptions& options) {
  refuse_option("layers", options.layers);
  refuse_option("sequence", options.sequence);
  const int64_t image = option_or("image", options.image, 224, 25, 4096);
  const Pool halve{.kernel = 3, .stride = 2, .ceil_mode = true};

  Builder b("squeezenet1_1", options);
  Value x = b.input("input", ops::DType::f32, {batch_of(options), 3, image, image});
  x = b.relu(b.conv("features.0", x, {.out_channels = 64, .kernel = {3, 3}, .stride = 2, .bias = true}));
  x = b.max_pool(x, halve);
  x = fire(b, "features.3", x, 16, 64);
  x = fire(b, "features.4", x, 16, 64);
  x = b.max_pool(x, halve);
  x = fire(b, "features.6", x, 32, 128);
  x = fire(b, "features.7", x, 32, 128);
  x = b.max_pool(x, halve);
  x = fire(b, "features.9", x, 48, 192);
  x = fire(b, "features.10", x, 48, 192);
  x = fire(b, "features.11", x, 64, 256);
  x = fire(b, "features.12", x, 64, 256);
  x = b.relu(b.conv("classifier.1", x, {.out_channels = 1000, .bias = true}));
  return b.finish("logits", b.flatten(b.global_avg_pool(x)));
}

}  // namespace rlgo::zoo
