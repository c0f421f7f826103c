// BERT base encoder (Devlin et al. 2018) in eval mode, and a toy encoder of the same layers. No attention mask: every
// token is read. The wiring is that of the paper; TASO's and TENSAT's examples leave the attention branches dead.
#include "core/base/error.h"
#include "core/zoo/builder.h"

namespace rlgo::zoo {
namespace {

using ops::Attr;
using ops::Ints;
using ops::Op;

struct EncoderSize {
  int64_t hidden;  // H
  int64_t heads;
  int64_t inner;  // width of the feed-forward layer
};

constexpr EncoderSize kBase{768, 12, 3072};
constexpr int64_t kVocabulary = 30522;
constexpr int64_t kPositions = 512;
constexpr int64_t kTokenTypes = 2;
constexpr double kEps = 1e-12;
// With gain 1 throughout, random layers make all tokens alike and attention uniform, so that a wrong rewrite of the
// attention would hardly show. Sharp attention and short steps along the residual stream keep the tokens apart.
constexpr double kSharp = 2.0;  // of queries and keys
constexpr double kStep = 0.4;   // of what is added to the residual stream

// x[B,S,H] -> [B,S,H].
Value self_attention(Builder& b, const std::string& name, Value x, const EncoderSize& size) {
  const auto part = [&](const char* which, double gain, Ints perm) {
    return b.split_heads(b.linear_add(name + ".self." + which, x, size.hidden, gain), size.heads, std::move(perm));
  };
  const Value q = part("query", kSharp, {0, 2, 1, 3});
  const Value k = part("key", kSharp, {0, 2, 3, 1});
  return b.attention(q, k, part("value", 1.0, {0, 2, 1, 3}));
}

Value encoder_layer(Builder& b, const std::string& name, Value x, const EncoderSize& size) {
  const Value mixed = self_attention(b, name + ".attention", x, size);
  const Value projected = b.linear_add(name + ".attention.output.dense", mixed, size.hidden, kStep);
  x = b.layer_norm(name + ".attention.output.LayerNorm", b.add(projected, x), kEps);
  const Value inner = b.op(Op::gelu, {b.linear_add(name + ".intermediate.dense", x, size.inner)});
  const Value outer = b.linear_add(name + ".output.dense", inner, size.hidden, kStep);
  return b.layer_norm(name + ".output.LayerNorm", b.add(outer, x), kEps);
}

Value encoder(Builder& b, Value x, int64_t layers, const EncoderSize& size) {
  for (int64_t k = 0; k < layers; ++k) x = encoder_layer(b, "encoder.layer." + std::to_string(k), x, size);
  return x;
}

// Rows [0, count) of a table.
Value first_rows(Builder& b, Value table, int64_t count) {
  return b.op(Op::slice, {table}, {{Attr::axes, Ints{0}}, {Attr::starts, Ints{0}}, {Attr::ends, Ints{count}}});
}

// ids[B,S] -> [B,S,H]: word, position and (for token type 0) type embeddings, normalised.
Value embeddings(Builder& b, Value ids, int64_t hidden) {
  const int64_t tokens = b.shape(ids)[1];
  const Value words =
      b.op(Op::gather, {b.weight("embeddings.word_embeddings.weight", {kVocabulary, hidden}, 1.0), ids});
  const Value types = b.weight("embeddings.token_type_embeddings.weight", {kTokenTypes, hidden}, 0.5);
  const Value positions = b.weight("embeddings.position_embeddings.weight", {kPositions, hidden}, 0.5);
  const Value typed = b.add(words, first_rows(b, types, 1));
  return b.layer_norm("embeddings.LayerNorm", b.add(typed, first_rows(b, positions, tokens)), kEps);
}

}  // namespace

graph::Graph make_bert(const ZooOptions& options) {
  refuse_option("image", options.image);
  const int64_t layers = option_or("layers", options.layers, 12, 1, 1000);
  const int64_t tokens = option_or("sequence", options.sequence, 128, 1, kPositions);

  Builder b("bert", options);
  const Value ids = b.input("input_ids", ops::DType::i64, {batch_of(options), tokens});
  return b.finish("last_hidden_state", encoder(b, embeddings(b, ids, kBase.hidden), layers, kBase));
}

graph::Graph make_toy_attention(const ZooOptions& options) {
  refuse_option("image", options.image);
  const int64_t layers = option_or("layers", options.layers, 1, 1, 1000);
  const int64_t tokens = option_or("sequence", options.sequence, 8, 1, 4096);

  Builder b("toy_attention", options);
  const Value x = b.input("input", ops::DType::f32, {batch_of(options), tokens, 16});
  return b.finish("last_hidden_state", encoder(b, x, layers, {16, 2, 32}));
}

}  // namespace rlgo::zoo
