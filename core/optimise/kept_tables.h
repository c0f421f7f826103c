// What `rlgo optimise` keeps for its next call on this machine: times of operators.
#pragma once

#include <filesystem>

#include "core/base/log.h"
#include "core/cost/table.h"

namespace rlgo::optimise {

// Fills `table` with times of earlier calls from its file in `folder`, and returns that file; "" where `folder` is "".
// A damaged file is reported; the table then starts empty.
std::filesystem::path load_costs(const std::filesystem::path& folder, cost::TableCost& table, const Log& log);
// Nothing where `file` is "". A failure is reported.
void save_costs(const std::filesystem::path& file, const cost::TableCost& table, const Log& log);

}  // namespace rlgo::optimise
