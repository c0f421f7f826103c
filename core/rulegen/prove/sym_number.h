// Numbers on the left side of a rule. A number matches a constant of any shape whose elements all are that number, so
// its shape is gone through like that of a variable; but a number that is not larger than the operand next to it may be
// taken for a scalar (axioms G-fill-shape), the right side cannot see it (it has no name), and the case with a scalar
// demands less. Such cases are proved with that one.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "core/rulegen/prove/sym_rule.h"

namespace rlgo::rulegen::sym {

// The axiom by which this case is proved with another one: some number has a shape and is not larger than what stands
// next to it. Nothing where there is no such number.
std::optional<std::string> covered_number(const rules::CompiledRule& rule, const EGraph& graph, const Pool& pool,
                                          const Binding& binding);

// Where both sides are operators on single elements over one tensor and numbers, the new value has the tensor's shape,
// so the old one has it too, and no number is larger than the tensor: every case is proved with that where all numbers
// are scalars. The axioms for it; nothing where the rule is not of this form.
std::optional<std::set<std::string>> only_scalars(const rules::CompiledRule& rule);

}  // namespace rlgo::rulegen::sym
