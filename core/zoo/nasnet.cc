// NASNet-A (4 @ 1056) for pictures of 224 (Zoph et al. 2018, "mobile") in eval mode, as TensorFlow's and Keras'
// NASNetMobile; names of weights as in timm's nasnet. Padding is TensorFlow's SAME: the odd pixel is below and right.
#include <optional>

#include "core/zoo/builder.h"

namespace rlgo::zoo {
namespace {

using ops::Attr;
using ops::Ints;
using ops::Op;

constexpr int64_t kStemChannels = 32;
constexpr int64_t kChannels = 1056 / 24;  // of a branch of the first cells
constexpr double kEps = 1e-3;
// Two separable convolutions without relu in between, and sums of two branches: keeps the second moment near 1.
constexpr double kMiddleGain = 0.6, kBranchGain = 0.35;

struct Padding {
  int64_t before = 0, more_behind = 0;
};
// SAME, for outputs of ceil(extent / stride).
Padding same(int64_t extent, int64_t kernel, int64_t stride) {
  const int64_t out = (extent + stride - 1) / stride;
  const int64_t total = std::max<int64_t>(0, (out - 1) * stride + kernel - extent);
  return {total / 2, total % 2};
}

Pool pool3(Builder& b, Value x, int64_t stride) {
  const Padding padding = same(b.shape(x)[2], 3, stride);
  return {.kernel = 3, .stride = stride, .pad = padding.before, .more_pad = padding.more_behind};
}
Value max_pool(Builder& b, Value x, int64_t stride) { return b.max_pool(x, pool3(b, x, stride)); }
Value avg_pool(Builder& b, Value x, int64_t stride) { return b.avg_pool(x, pool3(b, x, stride), false); }

// Depthwise, then 1x1.
Value separable(Builder& b, const std::string& name, Value x, int64_t channels, int64_t kernel, int64_t stride) {
  const int64_t from = b.shape(x)[1];
  const Padding padding = same(b.shape(x)[2], kernel, stride);
  x = b.conv(name + ".depthwise_conv2d", x,
             {.out_channels = from,
              .kernel = {kernel, kernel},
              .stride = stride,
              .pad = {padding.before, padding.before},
              .group = from,
              .more_pad = {padding.more_behind, padding.more_behind}});
  return b.conv(name + ".pointwise_conv2d", x, {.out_channels = channels});
}

// Two separable convolutions; the first one changes the channels where x comes from the stem's convolution.
Value branch(Builder& b, const std::string& name, Value x, int64_t channels, int64_t kernel, int64_t stride = 1) {
  const int64_t middle = b.shape(x)[1] == kStemChannels ? channels : b.shape(x)[1];
  x = separable(b, name + ".separable_1", b.relu(x), middle, kernel, stride);
  x = b.relu(b.batch_norm(name + ".bn_sep_1", x, kEps, kMiddleGain));
  x = separable(b, name + ".separable_2", x, channels, kernel, 1);
  return b.batch_norm(name + ".bn_sep_2", x, kEps, kBranchGain);
}

Value squeeze(Builder& b, const std::string& name, Value x, int64_t channels) {
  return b.batch_norm(name + ".bn", b.conv(name + ".conv", b.relu(x), {.out_channels = channels}), kEps);
}

// Half the height and width: every other pixel from the first on, and from the second on, side by side.
Value halve(Builder& b, const std::string& name, Value x, int64_t channels) {
  x = b.relu(x);
  const Pool every_other{.kernel = 1, .stride = 2};
  const Value first = b.conv(name + ".path_1.conv", b.avg_pool(x, every_other, false), {.out_channels = channels / 2});
  const int64_t extent = b.shape(x)[2];
  const Value padded = b.op(Op::pad, {x}, {{Attr::pads, Ints{0, 0, 0, 0, 0, 0, 1, 1}}, {Attr::value, 0.0}});
  const Value shifted =
      b.op(Op::slice, {padded},
           {{Attr::axes, Ints{2, 3}}, {Attr::starts, Ints{1, 1}}, {Attr::ends, Ints{extent + 1, extent + 1}}});
  const Value second =
      b.conv(name + ".path_2.conv", b.avg_pool(shifted, every_other, false), {.out_channels = channels / 2});
  return b.batch_norm(name + ".final_path_bn", b.concat(std::array{first, second}, 1), kEps);
}

// `current` and `previous` have the cell's channels.
Value normal_cell(Builder& b, const std::string& name, Value current, Value previous, int64_t channels) {
  const auto separable_branch = [&](const char* which, Value x, int64_t kernel) {
    return branch(b, name + ".comb_iter_" + which, x, channels, kernel);
  };
  const Value first = b.add(separable_branch("0_left", current, 5), separable_branch("0_right", previous, 3));
  const Value second = b.add(separable_branch("1_left", previous, 5), separable_branch("1_right", previous, 3));
  const Value third = b.add(avg_pool(b, current, 1), previous);
  const Value pooled = avg_pool(b, previous, 1);
  const Value fourth = b.add(pooled, pooled);
  const Value fifth = b.add(separable_branch("4_left", current, 3), current);
  return b.concat(std::array{previous, first, second, third, fourth, fifth}, 1);
}

// Halves height and width. `current` has the cell's channels; `wide` too, or those of the stem's convolution.
Value reduction_cell(Builder& b, const std::string& name, Value current, Value wide, int64_t channels) {
  const auto separable_branch = [&](const char* which, Value x, int64_t kernel, int64_t stride) {
    return branch(b, name + ".comb_iter_" + which, x, channels, kernel, stride);
  };
  const Value first = b.add(separable_branch("0_left", current, 5, 2), separable_branch("0_right", wide, 7, 2));
  const Value second = b.add(max_pool(b, current, 2), separable_branch("1_right", wide, 7, 2));
  const Value third = b.add(avg_pool(b, current, 2), separable_branch("2_right", wide, 5, 2));
  const Value fourth = b.add(avg_pool(b, first, 1), second);
  const Value fifth = b.add(separable_branch("4_left", first, 3, 1), max_pool(b, current, 2));
  return b.concat(std::array{second, third, fourth, fifth}, 1);
}

// What the next cell reads: the output of the last cell and of the one before.
struct Cells {
  Value last, before;
  void push(Value next) {
    before = last;
    last = next;
  }
};

Cells stem(Builder& b, Value input) {
  Value x = b.conv("conv0.conv", input, {.out_channels = kStemChannels, .kernel = {3, 3}, .stride = 2});
  x = b.batch_norm("conv0.bn", x, kEps);
  Cells cells;
  const Value narrow = squeeze(b, "cell_stem_0.conv_1x1", x, kChannels / 4);
  cells.push(reduction_cell(b, "cell_stem_0", narrow, x, kChannels / 4));
  const Value current = squeeze(b, "cell_stem_1.conv_1x1", cells.last, kChannels / 2);
  cells.push(reduction_cell(b, "cell_stem_1", current, halve(b, "cell_stem_1", x, kChannels / 2), kChannels / 2));
  return cells;
}

// A cell that reads `cells`, whose `before` may be twice as high and wide.
Value cell(Builder& b, const std::string& name, const Cells& cells, int64_t channels, bool reduces) {
  const Value current = squeeze(b, name + ".conv_1x1", cells.last, channels);
  const bool halves = b.shape(cells.before)[2] != b.shape(cells.last)[2];
  const Value previous =
      halves ? halve(b, name, cells.before, channels) : squeeze(b, name + ".conv_prev_1x1", cells.before, channels);
  return (reduces ? reduction_cell : normal_cell)(b, name, current, previous, channels);
}

}  // namespace

graph::Graph make_nasnet_a(const ZooOptions& options) {
  refuse_option("sequence", options.sequence);
  const int64_t image = option_or("image", options.image, 224, 33, 4096);
  const int64_t cells_per_stage = option_or("layers", options.layers, 4, 1, 100);

  Builder b("nasnet_a", options);
  Cells cells = stem(b, b.input("input", ops::DType::f32, {batch_of(options), 3, image, image}));
  int64_t number = 0;
  for (int stage = 0; stage < 3; ++stage) {
    const int64_t channels = kChannels << stage;
    // The cell behind a reduction reads what the reduction read, not what it left out.
    std::optional<Value> skipped;
    if (stage > 0) {
      skipped = cells.before;
      cells.push(cell(b, "reduction_cell_" + std::to_string(stage - 1), cells, channels, true));
    }
    for (int64_t k = 0; k < cells_per_stage; ++k) {
      const Cells read = k == 0 && skipped ? Cells{cells.last, *skipped} : cells;
      const Value next = cell(b, "cell_" + std::to_string(number++), read, channels, false);
      cells.push(next);
    }
  }
  return b.finish("logits", b.linear("last_linear", b.flatten(b.global_avg_pool(b.relu(cells.last))), 1000));
}

}  // namespace rlgo::zoo
