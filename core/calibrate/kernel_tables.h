// Tables in Markdown of how fast single kernels are.
#pragma once

#include <string>
#include <vector>

#include "core/calibrate/kernel_bench.h"

namespace rlgo::calibrate {

// A line for each operator, slowest for the machine first.
std::string operator_table(const std::vector<KernelTime>& times);
// Kernels that take at least `slow` times what the machine needs, by the time that they lose; at most 20 lines.
std::string slow_table(const std::vector<KernelTime>& times, double slow);

}  // namespace rlgo::calibrate
