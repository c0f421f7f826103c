// Pictures of rules.
#pragma once

#include <string>

#include "core/rules/compiled.h"

namespace rlgo::launch {

// Both sides next to each other, conditions below. Boxes are operators with the attributes that the rule mentions,
// variables are leaves, replaced values stand at the bottom of both sides under the same name.
std::string rule_svg(const rules::CompiledRule& rule);
std::string rule_dot(const rules::CompiledRule& rule);

}  // namespace rlgo::launch
