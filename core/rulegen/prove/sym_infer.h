// Shapes of operators over symbolic extents: core/ops/shapes.h, its demands made on Logic.
#pragma once

#include "core/rulegen/prove/budget.h"
#include "core/rulegen/prove/term.h"

namespace rlgo::rulegen::sym {

struct World {
  Pool& pool;
  Logic logic;
  Budget* budget = nullptr;  // of the search; null: no limit
  // (old, new) values of the rule that is proved: where the old ones have values, the new ones are to equal them.
  const std::vector<std::pair<int32_t, int32_t>>* goals = nullptr;
  void spend(int64_t steps) const {
    if (budget) budget->spend(steps);
  }
};

// Output shapes of `op`. misfit: certainly does not fit (or contradicts the assumptions); unknown: cannot be decided,
// or the operator is not one that the prover reads. Axes and permutations must be numbers. All tensors are taken to be
// of one floating-point type.
Fit infer(World& world, ops::Op op, const Params& params, std::span<const Shape> inputs, std::vector<Shape>& outputs);

// Broadcast of two shapes, with its demands.
Fit broadcast(World& world, const Shape& a, const Shape& b, Shape& out);
ExtentId elements(World& world, const Shape& shape);

}  // namespace rlgo::rulegen::sym
