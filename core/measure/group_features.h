// What a group of operators looks like to a learned price.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/cost/analytic.h"
#include "core/graph/graph.h"

namespace rlgo::measure {

// By name, sorted; what is not named is 0. Sizes (elements, bytes, extents) are natural logarithms of 1 + size, prices
// those of us.
//
//   count:OP, share:OP      operators of this kind, and their fraction of the price by formula
//   price, flops, bytes     of all operators; read, constants, written: bytes that cross the group's border
//   members, scalars, rows, inner   operators; operands of elementwise ones that are repeated: single numbers, along
//                           all but the last axis, along it
//   head:OP, head_price     the most expensive operator, which the features below describe
//   float32, rank, elements, inputs
//   out0, in0, second0 ...  extents of its result and its first two inputs, from the last axis to the fourth last
//   groups, depthwise, stride, dilation, efficiency   convolutions (efficiency: AnalyticCost's, its logarithm)
//   shared, efficiency      matrix products; 1: one right factor for all batches
//   axes, axis, last_axis   reductions, softmax, concat, ...; 1: the last axis is one of them, or stays the last one
using GroupFeatures = std::vector<std::pair<std::string, double>>;
// `members`: a group of `graph` (partition.h); one at least costs something (cost::is_free).
GroupFeatures group_features(const graph::Graph& graph, std::span<const graph::NodeId> members,
                             cost::AnalyticCost& formula);

}  // namespace rlgo::measure
