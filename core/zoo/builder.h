// Helper of the zoo: layers with seeded weights, so that a model reads like its paper.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>

#include "core/graph/editor.h"
#include "core/zoo/zoo.h"

namespace rlgo::zoo {

using graph::Value;

// kernel and pad are [height, width].
struct Conv {
  int64_t out_channels = 0;
  std::array<int64_t, 2> kernel{1, 1};
  int64_t stride = 1;
  std::array<int64_t, 2> pad{0, 0};  // above and left
  bool bias = false;
  int64_t group = 1;
  std::array<int64_t, 2> more_pad{0, 0};  // below and right, beyond `pad`
};

struct Pool {
  int64_t kernel = 2;
  int64_t stride = 1;
  int64_t pad = 0;  // on all sides
  bool ceil_mode = false;
  int64_t more_pad = 0;  // below and right, beyond `pad`
};

// Names of weights are those of the framework's state dictionary ("layer1.0.conv1.weight"). Weights are drawn so that
// activations keep a second moment of about 1 through any depth: convolutions after He et al. 2015 (for an input that
// went through relu), matmuls with 1/sqrt(inputs), running statistics of batch norms near those of their input.
class Builder {
 public:
  Builder(std::string graph_name, const ZooOptions& options) : seed_(options.seed), editor_(std::move(graph_name)) {}

  Value input(std::string name, ops::DType dtype, ops::Shape shape);  // an input of the graph
  // Normal(mean, scale), seeded by (seed, name).
  Value weight(const std::string& name, ops::Shape shape, double scale, double mean = 0.0);

  // x[N,C,H,W] -> [N,O,H',W']; weights NAME.weight [O,C,kh,kw] and NAME.bias [O].
  Value conv(const std::string& name, Value x, const Conv& conv);
  // `gain` is the mean of NAME.weight: the factor on the activations' standard deviation.
  Value batch_norm(const std::string& name, Value x, double eps = 1e-5, double gain = kNormGain);
  Value max_pool(Value x, const Pool& pool);
  Value avg_pool(Value x, const Pool& pool, bool count_padding = true);
  Value global_avg_pool(Value x);  // [N,C,H,W] -> [N,C,1,1]
  Value flatten(Value x);          // [N,C,H,W] -> [N,C*H*W]
  Value relu(Value x);
  Value add(Value a, Value b);
  Value concat(std::span<const Value> parts, int64_t axis);
  // x[..,I] -> [..,O] as one matmul with bias (how classifiers are exported); weights NAME.weight [I,O], NAME.bias [O].
  Value linear(const std::string& name, Value x, int64_t outputs);
  // The same as matmul and add (how transformers are exported). `gain`: factor on the output's standard deviation.
  Value linear_add(const std::string& name, Value x, int64_t outputs, double gain = 1.0);
  // Over the last axis.
  Value layer_norm(const std::string& name, Value x, double eps);
  // [B,S,H] -> [B,heads,S,H/heads] with perm {0,2,1,3}; [B,heads,H/heads,S] with {0,2,3,1}.
  Value split_heads(Value x, int64_t heads, ops::Ints perm);
  // Softmax(Q K^T / sqrt(d)) V over all heads; q and v [B,heads,S,d], k [B,heads,d,S] -> [B,S,heads*d]. `mask` [S,S]:
  // which tokens (columns) a token (row) reads; none: all.
  Value attention(Value q, Value k, Value v, std::optional<Value> mask = {});
  Value op(ops::Op op, std::initializer_list<Value> inputs, const ops::Attrs& attrs = {}, std::string name = {}) {
    return editor_.op(op, inputs, attrs, std::move(name));
  }

  const ops::Shape& shape(Value x) const { return editor_.type(x).shape; }
  // The finished graph with one output. The builder is empty afterwards.
  graph::Graph finish(const std::string& output_name, Value output);

 private:
  // Undoes the mean growth of 1/sqrt(variance) of the running variances drawn by batch_norm().
  static constexpr double kNormGain = 0.93;
  uint64_t seed_;
  graph::Editor editor_;
};

// `given`, or `standard` where that is 0. Throws Error where it is outside [least, most].
int64_t option_or(const char* option, int64_t given, int64_t standard, int64_t least, int64_t most);
// Throws Error where the option is set: the model has no such dimension.
void refuse_option(const char* option, int64_t given);
// Checks options.batch and gives it.
int64_t batch_of(const ZooOptions& options);

}  // namespace rlgo::zoo
