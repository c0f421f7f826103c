// Runs in which a rank dies or hangs: not GoogleTest cases, since they need a job of their own (faults.sh).
#pragma once

#include <string>

#include "core/comm/comm.h"

namespace rlgo::test {

// "killed": the last rank kills itself while it plays. "hung": it stops answering for ever. Rank 0 learns on without
// it. Returns the exit status.
int play_fault(comm::Comm& comm, const std::string& fault);

}  // namespace rlgo::test
