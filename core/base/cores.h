// Which cores a process runs on.
#pragma once

#include <vector>

namespace rlgo {

// Cores that this thread may run on, in order; empty where the system does not tell.
std::vector<int> own_cores();
// This thread, and processes that it starts, run on these alone. False where the system refuses.
bool keep_to(const std::vector<int>& cores);

}  // namespace rlgo
