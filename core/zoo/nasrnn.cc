// The recurrent cell that neural architecture search found (Zoph and Le 2017), unrolled, as TASO's paper and code
// measure it (examples/nasrnn.py there): 512 units, batch 1, weights of their own in each step. One difference: the
// first state is an input of the graph. TASO makes it a weight but prices what is computed with it; rlgo folds what is
// computed with weights alone.
#include <cmath>

#include "core/zoo/builder.h"

namespace rlgo::zoo {
namespace {

using ops::Op;

constexpr int64_t kHidden = 512;
constexpr int kGates = 8;
constexpr double kGain = 2;  // the cell squashes its state again and again

// x W + h U: without a bias.
Value gate(Builder& b, const std::string& name, Value x, Value h) {
  const double scale = kGain / std::sqrt(static_cast<double>(kHidden));
  const Value w = b.weight(name + ".input.weight", {kHidden, kHidden}, scale);
  const Value u = b.weight(name + ".state.weight", {kHidden, kHidden}, scale);
  return b.add(b.op(Op::matmul, {x, w}), b.op(Op::matmul, {h, u}));
}

// The next state; x and h are [B,512].
Value cell(Builder& b, const std::string& name, Value x, Value h) {
  std::array<Value, kGates> t;
  for (int k = 0; k < kGates; ++k) t[k] = gate(b, name + ".gate" + std::to_string(k), x, h);
  const auto tanh = [&](Value v) { return b.op(Op::tanh, {v}); };
  const auto sigmoid = [&](Value v) { return b.op(Op::sigmoid, {v}); };
  const auto mul = [&](Value v, Value w) { return b.op(Op::mul, {v, w}); };
  const Value first = b.add(b.relu(t[0]), sigmoid(t[3]));
  const Value second = b.add(sigmoid(t[1]), tanh(t[2]));
  const Value third = mul(sigmoid(t[4]), tanh(t[5]));
  const Value fourth = mul(sigmoid(t[6]), b.relu(t[7]));
  const Value fifth = b.add(sigmoid(second), tanh(third));
  const Value sixth = mul(tanh(first), tanh(fourth));
  return tanh(mul(tanh(fifth), tanh(sixth)));
}

}  // namespace

graph::Graph make_nasrnn(const ZooOptions& options) {
  refuse_option("layers", options.layers);
  refuse_option("image", options.image);
  const int64_t steps = option_or("sequence", options.sequence, 5, 1, 1000);

  Builder b("nasrnn", options);
  const ops::Shape shape{batch_of(options), kHidden};
  Value h = b.input("state", ops::DType::f32, shape);
  for (int64_t k = 0; k < steps; ++k) {
    const std::string number = std::to_string(k);
    h = cell(b, "step" + number, b.input("input" + number, ops::DType::f32, shape), h);
  }
  return b.finish("next_state", h);
}

}  // namespace rlgo::zoo
