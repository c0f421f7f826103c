// SIGINT, SIGTERM and SIGUSR1 (which mpirun passes on to all ranks) ask for a clean end; a second one ends at once.
#pragma once

namespace rlgo::launch {

// Installs the handlers; call once, early, before MPI (which must not replace them) and again after it.
void install_signal_handlers();
// The number of the signal that asked for the end, 0 for none.
int stop_signal();

}  // namespace rlgo::launch
