// Whole models under each setting of a runtime's own switches: levels of graph optimisation, threads.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "core/measure/measurer.h"

namespace rlgo::measure {

// Asks a measurer that states it can (docs/measurer-protocol.md); nothing where it cannot, or fails. Ends after about
// `seconds`: settings that were not reached have no times.
std::vector<cost::SwitchTiming> measure_switches(Measurer& measurer, std::span<const std::filesystem::path> models,
                                                 double seconds);
// Reads an answer. Throws Error where it is none for so many models.
std::vector<cost::SwitchTiming> read_switches(std::string_view answer, size_t models);

}  // namespace rlgo::measure
