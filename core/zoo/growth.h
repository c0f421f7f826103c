// Families of graphs of any size: what time and memory of reading, matching and searching are measured on.
#pragma once

#include <string>
#include <vector>

#include "core/graph/graph.h"

namespace rlgo::zoo {

// chain, wide, split, unrolled, blocks.
std::vector<std::string> growth_families();
// A graph of the family with about that many operators; `operators` >= 10. Throws Error on an unknown family.
//   chain     matmul, add, relu, again and again: all of them can be fused
//   wide      products of one input side by side, each with a relu, joined
//   split     the parts of one split, each with a relu, joined in the opposite order
//   unrolled  a recurrent network of two tied weights, joined outputs
//   blocks    residual blocks of two products
graph::Graph make_growth(const std::string& family, int operators);

}  // namespace rlgo::zoo
