// Transformers that normalise before attention and feed-forward layer, in eval mode: ViT-B/16 (Dosovitskiy et al. 2021)
// as torchvision's vit_b_16, and GPT-2 (Radford et al. 2019) as transformers' GPT2Model, without a language model head
// (whose weights are the embedding's). Queries, keys and values are one matmul, then split, as both compute them.
#include <optional>

#include "core/base/error.h"
#include "core/zoo/builder.h"

namespace rlgo::zoo {
namespace {

using ops::Attr;
using ops::Ints;
using ops::Op;

constexpr int64_t kHidden = 768;
constexpr int64_t kHeads = 12;
constexpr int64_t kInner = 3072;  // width of the feed-forward layer
// Sharp attention and short steps along the residual stream keep the tokens apart, so that a wrong rewrite shows.
constexpr double kSharp = 1.5;
constexpr double kStep = 0.4;

// Names of a block's parts in the framework's state dictionary, and what else differs.
struct Style {
  const char *norm1, *in_proj, *out_proj, *norm2, *widen, *narrow;
  const char* gelu;  // attribute `approximate`
  double eps;
};
constexpr Style kVit{"ln_1", "self_attention.in_proj", "self_attention.out_proj", "ln_2", "mlp.0", "mlp.3", "none",
                     1e-6};
constexpr Style kGpt2{"ln_1", "attn.c_attn", "attn.c_proj", "ln_2", "mlp.c_fc", "mlp.c_proj", "tanh", 1e-5};

// x[B,S,H] -> [B,S,H]. `mask` [S,S]: which tokens (columns) a token (row) reads; none: all.
Value attention(Builder& b, const std::string& name, const Style& style, Value x, std::optional<Value> mask) {
  const Value all = b.linear_add(name + style.in_proj, x, 3 * kHidden, kSharp);
  const auto parts = b.op(Op::split, {all}, {{Attr::axis, int64_t{2}}, {Attr::sizes, Ints{kHidden, kHidden, kHidden}}});
  const Value q = b.split_heads(parts, kHeads, {0, 2, 1, 3});
  const Value k = b.split_heads({parts.node, 1}, kHeads, {0, 2, 3, 1});
  const Value v = b.split_heads({parts.node, 2}, kHeads, {0, 2, 1, 3});
  return b.linear_add(name + style.out_proj, b.attention(q, k, v, mask), kHidden, kStep);
}

Value block(Builder& b, const std::string& name, const Style& style, Value x, std::optional<Value> mask) {
  x = b.add(x, attention(b, name, style, b.layer_norm(name + style.norm1, x, style.eps), mask));
  const Value wide = b.linear_add(name + style.widen, b.layer_norm(name + style.norm2, x, style.eps), kInner);
  const Value active = b.op(Op::gelu, {wide}, {{Attr::approximate, std::string(style.gelu)}});
  return b.add(x, b.linear_add(name + style.narrow, active, kHidden, kStep));
}

// [B,S,H]: class token, then one token for each of the picture's patches of 16x16, with their positions.
Value patches(Builder& b, Value picture) {
  constexpr int64_t kPatch = 16;
  const int64_t batch = b.shape(picture)[0];
  const Value grid = b.conv("conv_proj", picture,
                            {.out_channels = kHidden, .kernel = {kPatch, kPatch}, .stride = kPatch, .bias = true});
  const int64_t count = b.shape(grid)[2] * b.shape(grid)[3];
  const Value rows = b.op(Op::reshape, {grid}, {{Attr::shape, Ints{batch, kHidden, count}}});
  const Value tokens = b.op(Op::transpose, {rows}, {{Attr::perm, Ints{0, 2, 1}}});
  Value first = b.weight("class_token", {1, 1, kHidden}, 0.5);
  if (batch > 1) first = b.op(Op::expand, {first}, {{Attr::shape, Ints{batch, 1, kHidden}}});
  const Value positions = b.weight("encoder.pos_embedding", {1, count + 1, kHidden}, 0.5);
  return b.add(b.concat(std::array{first, tokens}, 1), positions);
}

// [S,S], true where the column is not behind the row.
Value causal_mask(Builder& b, int64_t tokens) {
  Ints numbers;
  for (int64_t k = 0; k < tokens; ++k) numbers.push_back(k);
  const auto places = [&](Ints shape) {
    return b.op(Op::literal, {},
                {{Attr::shape, std::move(shape)}, {Attr::to, std::string("i64")}, {Attr::values, numbers}});
  };
  return b.op(Op::less_equal, {places({1, tokens}), places({tokens, 1})});
}

}  // namespace

graph::Graph make_vit_b16(const ZooOptions& options) {
  refuse_option("sequence", options.sequence);
  const int64_t image = option_or("image", options.image, 224, 16, 4096);
  const int64_t layers = option_or("layers", options.layers, 12, 1, 1000);
  if (image % 16 != 0) fail("image must be a multiple of 16, not {}", image);

  Builder b("vit_b16", options);
  Value x = patches(b, b.input("input", ops::DType::f32, {batch_of(options), 3, image, image}));
  for (int64_t k = 0; k < layers; ++k) {
    x = block(b, "encoder.layers.encoder_layer_" + std::to_string(k) + ".", kVit, x, std::nullopt);
  }
  x = b.layer_norm("encoder.ln", x, kVit.eps);
  const Value first = b.op(Op::slice, {x}, {{Attr::axes, Ints{1}}, {Attr::starts, Ints{0}}, {Attr::ends, Ints{1}}});
  const Value row = b.op(Op::reshape, {first}, {{Attr::shape, Ints{b.shape(x)[0], kHidden}}});
  return b.finish("logits", b.linear("heads.head", row, 1000));
}

graph::Graph make_gpt2(const ZooOptions& options) {
  constexpr int64_t kVocabulary = 50257, kPositions = 1024;
  refuse_option("image", options.image);
  const int64_t layers = option_or("layers", options.layers, 12, 1, 1000);
  const int64_t tokens = option_or("sequence", options.sequence, 128, 1, kPositions);

  Builder b("gpt2", options);
  const Value ids = b.input("input_ids", ops::DType::i64, {batch_of(options), tokens});
  const Value words = b.op(Op::gather, {b.weight("wte.weight", {kVocabulary, kHidden}, 1.0), ids});
  const Value positions = b.op(Op::slice, {b.weight("wpe.weight", {kPositions, kHidden}, 0.5)},
                               {{Attr::axes, Ints{0}}, {Attr::starts, Ints{0}}, {Attr::ends, Ints{tokens}}});
  Value x = b.add(words, positions);
  const Value mask = causal_mask(b, tokens);
  for (int64_t k = 0; k < layers; ++k) x = block(b, "h." + std::to_string(k) + ".", kGpt2, x, mask);
  return b.finish("last_hidden_state", b.layer_norm("ln_f", x, kGpt2.eps));
}

}  // namespace rlgo::zoo
