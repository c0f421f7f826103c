// Graphs around the left side of a rule that share no assumption with the prover or with core/rules/instance.h: every
// element type, ranks 0 to 6, extents from 0, open items in reshapes (-1, -2), pads, strides, dilations and output
// paddings that are drawn independently of each other and of the kernel, any slope and bound, infinite numbers. An
// operator is kept where the graph accepts it (shape inference), whether a rule should match is left to the matcher.
#pragma once

#include <optional>

#include "core/base/rng.h"
#include "core/rules/compiled.h"
#include "core/rules/rules.h"

namespace rlgo::rulegen {

// Nothing where the draws did not fit together.
std::optional<graph::Graph> wild_instance(const rules::CompiledRule& rule, Rng& rng);

}  // namespace rlgo::rulegen
