// VGG-19 (Simonyan and Zisserman 2015) in eval mode, as torchvision's vgg19.
#include "core/base/error.h"
#include "core/zoo/builder.h"

namespace rlgo::zoo {
namespace {

constexpr std::array<std::array<int64_t, 2>, 5> kStages{{{64, 2}, {128, 2}, {256, 4}, {512, 4}, {512, 4}}};
constexpr int64_t kPooled = 7;  // height and width that the classifier reads

// Convolutions and pools are numbered as layers of one list: a convolution and its relu are two, a pool is one.
Value features(Builder& b, Value x) {
  int layer = 0;
  for (const auto [channels, convolutions] : kStages) {
    for (int64_t k = 0; k < convolutions; ++k) {
      const Conv three{.out_channels = channels, .kernel = {3, 3}, .pad = {1, 1}, .bias = true};
      x = b.relu(b.conv("features." + std::to_string(layer), x, three));
      layer += 2;
    }
    x = b.max_pool(x, {.kernel = 2, .stride = 2});
    ++layer;
  }
  return x;
}

}  // namespace

graph::Graph make_vgg19(const ZooOptions& options) {
  refuse_option("layers", options.layers);
  refuse_option("sequence", options.sequence);
  const int64_t image = option_or("image", options.image, 224, 224, 4096);
  const int64_t extent = image / 32;  // behind five pools
  if (image % 32 != 0 || extent % kPooled != 0) fail("image must be a multiple of 224, not {}", image);

  Builder b("vgg19", options);
  Value x = features(b, b.input("input", ops::DType::f32, {batch_of(options), 3, image, image}));
  const int64_t window = extent / kPooled;
  if (window > 1) x = b.avg_pool(x, {.kernel = window, .stride = window});
  x = b.relu(b.linear("classifier.0", b.flatten(x), 4096));
  x = b.relu(b.linear("classifier.3", x, 4096));
  return b.finish("logits", b.linear("classifier.6", x, 1000));
}

}  // namespace rlgo::zoo
