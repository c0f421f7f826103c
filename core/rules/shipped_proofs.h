// Which proofs are rlgo's own: those in the rule files that it ships (configs/rules), as they were when it was built.
// What any other file states of its proofs, or a shipped one that was edited since, is a claim, and not believed.
#pragma once

#include <string_view>
#include <vector>

#include "core/rules/ast.h"

namespace rlgo::rules {

// The texts of configs/rules/*.rules at build time, in the order of their names; written by
// launch/cmake/shipped_texts.cmake.
std::vector<std::string_view> shipped_texts();
// Whether a text is one of these, byte for byte.
bool is_shipped_text(std::string_view text);
// Whether a shipped file has this rule with this proof line. Comments, spacing and the file do not matter.
bool is_shipped_rule(const RuleText& rule);

}  // namespace rlgo::rules
