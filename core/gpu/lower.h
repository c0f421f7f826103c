// Operators as steps of a GPU: which library call or kernel each is made of.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/gpu/steps.h"
#include "core/graph/graph.h"

namespace rlgo::gpu {

// A tensor, row-major.
struct Operand {
  int buffer = kNone;
  ops::TensorType type;
};

// What operators add their steps to.
class Steps {
 public:
  virtual ~Steps() = default;
  virtual void add(const Step& step) = 0;  // runs behind those that were added before
  // A buffer for a tensor between two steps of one operator.
  virtual Operand temporary(ops::TensorType type) = 0;
};

// One operator on given operands. Inputs are static.
struct NodeCall {
  const graph::NodeInfo& info;
  std::vector<Operand> in, out;
  Steps& steps;

  const ops::Attrs& attrs() const { return info.attrs; }
  // Throws Error: the operator is not there, with the reason.
  [[noreturn]] void refuse(const std::string& why) const;
};

// Adds what computes the node. Outputs without elements need no step. Leaves and reshape have none. Throws Error that
// names an operator, and its types, for which there is no kernel: opaque ones, unsigned integers of more than 8 bits,
// more than kMostAxes axes.
void lower(const NodeCall& call);

// A step without inputs, zeroed.
Step make_step(Kind kind, int out);
// The kernel type of a tensor; NodeCall::refuse where there is none.
Type kernel_type(const NodeCall& call, const ops::TensorType& type);
// A map over operands that broadcast to the output.
Step make_map(const NodeCall& call, Function function, std::span<const Operand> in, const Operand& out,
              std::initializer_list<double> numbers = {});
// The word `act` in place of `x`; nothing for "none".
void add_activation(const NodeCall& call, const Operand& x, const std::string& act);

// The families; each returns whether the operator is one of it.
bool lower_map(const NodeCall& call);
bool lower_move(const NodeCall& call);
bool lower_fold(const NodeCall& call);
bool lower_window(const NodeCall& call);
bool lower_matmul(const NodeCall& call);

// x with `pads` elements of `value` around it (all begins, then all ends; negative: cut off), into `out`.
void add_padded(const NodeCall& call, const Operand& x, const ops::Ints& pads, double value, const Operand& out);
// x broadcast to `out`.
void add_expanded(const NodeCall& call, const Operand& x, const Operand& out);

}  // namespace rlgo::gpu
