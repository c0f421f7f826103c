// Lists of whole numbers that an attribute may be, for a tensor of a given shape. Inside of bounded.h.
#pragma once

#include <vector>

#include "core/ops/op.h"

namespace rlgo::rulegen {

// Every order of so many axes.
std::vector<ops::AttrValue> permutations(size_t rank);

// Every choice of at least one axis, in increasing order.
std::vector<ops::AttrValue> subsets(size_t rank);

// Ways to write extent as a sum of `parts` numbers >= 1.
std::vector<ops::AttrValue> compositions(int64_t extent, size_t parts);

// None, one everywhere, and numbers that differ between sides and axes.
std::vector<ops::AttrValue> paddings(size_t rank);

// The shape as it is, with two neighbours merged, flat, and with a 1 at either end.
std::vector<ops::AttrValue> reshapes(const ops::Shape& from);

// Every way to merge neighbours, each as it is, with a 1 in front, and with one and two behind.
std::vector<ops::AttrValue> all_reshapes(const ops::Shape& from);

// The shape as it is, and with `more` elements where there is one, also with an axis of as many in front.
std::vector<ops::AttrValue> expansions(const ops::Shape& from, int64_t more);

}  // namespace rlgo::rulegen
