// Runs in which a rank or its environment fails: not GoogleTest cases, since they need a job of their own (faults.sh).
#pragma once

#include <string>

#include "core/comm/mpi/mpi_comm.h"

namespace rlgo::test {

// What the last rank does after a while: "killed" kills itself, "hung" stops answering for ever, "hangs" has an
// environment whose step never ends, "throws" one that throws now and then, "nan" one that returns numbers that are
// none. Rank 0 learns on, without the rank or without the episodes. Returns the exit status.
int play_fault(comm::Comm& comm, const std::string& fault);

}  // namespace rlgo::test
