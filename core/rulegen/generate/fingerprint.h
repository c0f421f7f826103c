// The generator's own evaluator: the operators that it enumerates, over the prime field, on tensors of a few elements.
// It exists for speed (no attribute maps, no allocation); what the operators mean is stated by
// core/rulegen/semantics/eval.h, and a test compares the two.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/ops/op.h"
#include "core/rulegen/semantics/prime.h"

namespace rlgo::rulegen {

// A number as its image in F_p, which decides equality, and approximately, which decides the order (relu, max).
struct Tiny {
  uint64_t field = 0;
  double real = 0;
};
inline Tiny operator+(const Tiny& a, const Tiny& b) { return {prime_add(a.field, b.field), a.real + b.real}; }
inline Tiny operator*(const Tiny& a, const Tiny& b) { return {prime_mul(a.field, b.field), a.real * b.real}; }

// Up to four extents, outermost first.
struct TinyShape {
  uint8_t rank = 0;
  std::array<uint8_t, 4> dim{};
  int elements() const {  // product of the extents
    int n = 1;
    for (int d = 0; d < rank; ++d) n *= dim[d];
    return n;
  }
  bool operator==(const TinyShape&) const = default;
};
TinyShape tiny_shape(const ops::Shape& shape);  // rank 4 at most

// Activations without laws other than tanh(0) = gelu(0) = 0 and the order that sigmoid and tanh keep.
enum class Act : uint8_t { none, relu, sigmoid, tanh, gelu };

// One operator with its attributes fixed, but for split's sizes and reshape's shape, which depend on the operand.
struct OpConfig {
  ops::Op op = ops::Op::add;
  ops::Attrs attrs;
  std::string label;  // unique in a family: "conv2d-3x3-relu"
  int arity = 1;
  int outputs = 1;
  bool commutative = false;
  std::vector<std::string> signatures;  // roles of operands and outputs: "xw>x"
  double cost = 1;                      // rough price, for choosing representatives and macros
  int axis = 0;                         // concat, split, reduce_*, softmax, layer_norm; < 0 counts from the end
  Act act = Act::none;
  int group = 1;
  std::array<int, 2> kernel{1, 1}, strides{1, 1};
  std::array<int, 4> pads{};  // top, left, bottom, right
  bool count_pads = false;
  bool depthwise = false;  // conv2d: as many groups as channels
  std::vector<int> perm;
};

struct TinyView {  // of a tensor that someone else holds
  const Tiny* data = nullptr;
  TinyShape shape;
};

// Writes the outputs of one operator, whose shapes are given. Operands fit (see core/ops).
void evaluate_tiny(const OpConfig& config, std::span<const TinyView> in, std::span<const TinyShape> shapes,
                   std::span<Tiny* const> out);

// Depends on shape and field elements.
uint64_t value_hash(const Tiny* data, const TinyShape& shape);

// Element number `index` of a random tensor; `negative` of 256 are below zero.
Tiny random_tiny(uint64_t stream, uint64_t index, int negative = 128);

}  // namespace rlgo::rulegen
