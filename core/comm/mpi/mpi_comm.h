// The ranks of a run over MPI.
#pragma once

#include <memory>

#include "core/comm/comm.h"

namespace rlgo::comm {

// The ranks that mpirun started. One per process. Requires that no other part of the program initialises MPI.
//
// The end: close() waits in a non-blocking barrier for at most max_s seconds. Where all ranks come, MPI_Finalize
// follows. Where some do not, MPI_Finalize is tried as well: under `mpirun --enable-recovery` it returns although ranks
// died (Open MPI 4.1: measured), but not where a rank lives and hangs. So a watchdog calls MPI_Abort with `status`
// after another max_s seconds, which ends the job; on rank 0, whose results are stored by then, it is a little quicker
// than on the others. A rank above 0 that ends with another status than 0 and that nobody follows into the barrier
// leaves without either: the others continue (under --enable-recovery). Errors of single messages (a peer that is gone)
// are not fatal: the message is dropped, as to any dead rank.
std::unique_ptr<Comm> mpi_comm(int* argc, char*** argv);

}  // namespace rlgo::comm
