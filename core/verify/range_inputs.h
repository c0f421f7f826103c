// Inputs of magnitudes across the range of their type: where x a c is 90, x (a c) may be infinite.
//
// Each comparison is in the types of the graph, so that halves are rounded after every operator. Near the ends of a
// range a sound rewrite may leave it where the original just does not. So the original also runs in a narrower range,
// and what leaves that is not judged. Of the rest a rewrite must lose nothing: digits are compared elsewhere
// (agreement.h), here only what became infinite, no number or another order of magnitude counts.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/graph/graph.h"
#include "core/verify/numbers.h"

namespace rlgo::verify {

// Set 0 has all decades of each type, and zeros, in every input, element by element; there only what is infinite or no
// number counts, because sums lose small elements next to large ones. In the other sets each input has one magnitude,
// large or small, drawn by its name.
constexpr int kRangeSets = 5;

// Inputs and what a graph makes of them.
struct RangeSet {
  TensorMap inputs;
  TensorMap exact;   // in double precision
  TensorMap native;  // in the graph's types
  TensorMap narrow;  // in the graph's types, with a narrower range
  bool mixed = false;
};

// Nothing where the graph has no floating-point input, leaves the narrower range with all that was tried, or has more
// than four million elements in its outputs. `weights`: contents in double precision that are there already; null:
// none.
std::optional<RangeSet> range_set(const graph::Graph& graph, uint64_t seed, int set, int threads,
                                  std::shared_ptr<WeightStore> weights = {});

// What `after` loses of the outputs `names` of `before`, whose set it is: "output 'y' is inf where the original has
// 90"; "" where it loses nothing. What moves in noisy runs of `before` is not judged.
std::string lost_in_range(const RangeSet& set, const graph::Graph& before, const graph::Graph& after, int threads);

}  // namespace rlgo::verify
