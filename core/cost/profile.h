// Cost profiles: the constants of the analytic cost model in a file, so that the same search runs under another
// machine's prices. The shipped ones are in configs/costs; docs/costs.md states what each holds for.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "core/cost/analytic.h"

namespace rlgo::cost {

// Throws Error that names the first constant that is not finite or out of its range.
void check(const AnalyticOptions& options);

// Reads "key = value" lines, [sections], # comments. A key that is missing keeps the value of profile cpu. Throws Error
// that names the file and the key that is unknown, given twice, no number, or out of range.
AnalyticOptions parse_profile(const std::string& text, const std::string& file_name);
// A file that parse_profile reads back exactly. `source`: lines of the comment at its head, where the numbers are from.
std::string to_text(const AnalyticOptions& options, const std::string& source);

// The constants of a profile: the name of a shipped one (configs/costs), or a file. Throws Error where there is none,
// or its file is wrong.
AnalyticOptions named_profile(const std::string& profile);
// The formula under it.
std::unique_ptr<CostModel> analytic_cost(const std::string& profile);

// The constants fitted to what a runtime takes on a CPU (`rlgo bench profile`), to estimate what is not timed yet:
// "onnxruntime", "libtorch". Those of profile cpu for any other.
AnalyticOptions fitted_to(const std::string& runtime);

}  // namespace rlgo::cost
