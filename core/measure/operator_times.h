// Times of a model's operators in one run, by the runtime's own account.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "core/measure/measurer.h"

namespace rlgo::measure {

// Asks a measurer that states it can (docs/measurers.md); nothing where it cannot, or fails.
std::vector<cost::OperatorTime> ask_operator_times(Measurer& measurer, const std::filesystem::path& model);
// Reads an answer. Throws Error where it is none.
std::vector<cost::OperatorTime> read_operator_times(std::string_view answer);

}  // namespace rlgo::measure
