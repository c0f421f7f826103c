// From TASO's terms to rules: inside of foreign.h.
#pragma once

#include <utility>

#include "core/rulegen/taso/taso_rules.h"
#include "core/rulegen/taso/taso_term.h"

namespace rlgo::rulegen {

using ForeignPairs = std::vector<std::pair<ForeignTerm, ForeignTerm>>;  // left and right of each output; not empty

// Appends what a rule of TASO says: one rule, or several where its parts have nothing in common.
void say_foreign(int64_t number, const std::string& source, const ForeignPairs& pairs, std::vector<ForeignRule>& rules);

}  // namespace rlgo::rulegen
