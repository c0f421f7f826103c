// How much a run asks of a device.
#pragma once

#include <functional>

namespace rlgo::exec {

// Runs it once. LibTorch's operators that it calls, those within others included: at least the kernels that a GPU is
// given, but for the few of an operator's own that have several.
int count_operators(const std::function<void()>& run);

}  // namespace rlgo::exec
