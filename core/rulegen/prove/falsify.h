// Counterexamples of rules, whatever a proof states: exactly, at random shapes and at all small ones. Inside of
// prove.h.
#pragma once

#include "core/rulegen/prove/prove.h"

namespace rlgo::rulegen {

// Applies the rule at random shapes (check_rule) and, where nothing was derived and nothing differs there, at small
// shapes and tensors of up to five axes too (check_bounded). Where the sides differ `proof` becomes refuted, its reason
// the graphs; what was derived and could not be looked at becomes unknown. Sets check_ms.
void falsify(const rules::CompiledRule& rule, const ProveOptions& options, Proof& proof);

}  // namespace rlgo::rulegen
