// Random graphs that contain the left side of a rule: for the type check at loading and for contract tests.
#pragma once

#include <optional>

#include "core/base/rng.h"
#include "core/rules/compiled.h"
#include "core/rules/rules.h"

namespace rlgo::rules {

// A graph whose outputs are all outputs of the replaced nodes (and some inner ones), built around a random instance of
// the left side: random ranks, extents, attributes; variables are inputs or weights. Nothing where the random choice
// did not fit together; whether conditions hold is not asked. Weights have seeded contents.
std::optional<graph::Graph> random_instance(const CompiledRule& rule, Rng& rng);

// Throws Error "FILE:LINE: ..." where in random instances on which all conditions hold the two sides never have equal
// types. Reports nothing about a rule whose conditions chance did not meet.
void check_types(const CompiledRule& rule);

}  // namespace rlgo::rules
