// From TASO's terms to rules: inside of taso_rules.h.
#pragma once

#include <utility>

#include "core/rulegen/taso/taso_rules.h"
#include "core/rulegen/taso/taso_term.h"

namespace rlgo::rulegen {

using TasoPairs = std::vector<std::pair<TasoTerm, TasoTerm>>;  // left and right of each output; not empty

// Appends what a rule of TASO states: one rule, or several where its parts have nothing in common.
void add_taso_rules(int64_t number, const std::string& source, const TasoPairs& pairs, std::vector<TasoRule>& rules);

}  // namespace rlgo::rulegen
