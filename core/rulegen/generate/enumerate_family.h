// What is enumerated: the variables and operators of a family, and graphs over them as short lists of steps.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/rulegen/generate/fingerprint.h"

namespace rlgo::rulegen {

// A place where a tensor may stand in a graph without being computed there.
struct Variable {
  std::string name;
  ops::Shape shape;
  char role = 'x';    // kRoles
  int constant = -1;  // 0, 1: a tensor of zeros or ones; kIdentity, kMean; -1: free
};
constexpr int kIdentity = 2;  // 1 where the first two indices are equal: identity matrix, identity kernel of 1x1
constexpr int kMean = 3;      // all elements are 1 by the size of one kernel: convolving with it is average pooling
// Roles: x data, w weights, g weights of a grouped convolution, v vector, s scalar, z constant that stands for data,
// i identity, m averaging kernel.
constexpr std::string_view kRoles = "xwgvszim";
Tiny constant_element(int constant, const TinyShape& shape, int index);

struct Family {
  std::string name;
  std::vector<Variable> variables;
  std::vector<OpConfig> configs;
  int unit = 3;  // extent that a split cuts off where an axis is a multiple of it
  int max_elements = 81;
  // Every permutation of the free variables of equal shape and role; [0] is the identity. permutations[p][v]: what
  // variable v is renamed to.
  std::vector<std::vector<uint8_t>> permutations;
};

// Families: "2d" (matrices), "4d" (convolutions, pools), "transformer" (batched products, normalisations),
// "2d-constant" (ones, the identity), "4d-constant" (identity kernels, averaging kernels), "4d-window" (strides,
// paddings), each whole or with the listed operators only: "4d:conv2d,relu,concat". Several are separated by '+' for
// generate(); this takes one. Throws Error with the nearest name.
Family make_family(std::string_view text);
std::vector<std::string> family_names();

constexpr int kMaxTensors = 26;  // of a graph, variables included
constexpr int kMaxSteps = 6;

// One operator of a graph. Tensors are numbered: the family's variables, then all outputs of all steps.
struct OpStep {
  uint8_t config = 0;
  std::array<uint8_t, 3> operands{};
  bool operator==(const OpStep&) const = default;
};

// A graph with its results in order.
struct Sketch {
  std::vector<OpStep> steps;
  std::vector<uint8_t> outputs;
  bool operator==(const Sketch&) const = default;
};

// Types of the outputs for operands in a family's own shapes (sizes of split and shape of reshape included), or
// nothing where they do not fit. The attributes given back are complete.
struct Typed {
  std::vector<ops::Shape> shapes;
  ops::Attrs attrs;
};
// Output of an operator; nothing where the operands do not fit.
std::optional<Typed> type_step(const Family& family, const OpConfig& config, std::span<const ops::Shape> operands);

// For people and logs: "t0 = matmul x y; t1 = relu t0; out t1".
std::string to_text(const Family& family, const Sketch& sketch);
double cost_of(const Family& family, const Sketch& sketch);

}  // namespace rlgo::rulegen
