// SIGINT, SIGTERM and SIGUSR1 (which mpirun passes on to all ranks) ask for a clean end; a second SIGINT or SIGTERM
// ends at once. SIGINT is a person who has seen enough: what a run found so far is its result. SIGTERM and SIGUSR1 are
// a batch system that takes the machine away: a run stores its state and asks to be started again (docs/clusters.md).
#pragma once

#include <csignal>

namespace rlgo::launch {

// Installs the handlers; call once, early, before MPI (which must not replace them) and again after it.
void install_signal_handlers();
// The number of the signal that asked for the end, 0 for none.
int stop_signal();
inline bool signalled() { return stop_signal() != 0; }
// Whether that signal was a batch system's.
bool restart_wanted();

// As long as it lives a SIGINT ends the program at once: for what writes nothing, such as reading a model.
class EndAtInterrupt {
 public:
  EndAtInterrupt();
  ~EndAtInterrupt();
  EndAtInterrupt(const EndAtInterrupt&) = delete;
  EndAtInterrupt& operator=(const EndAtInterrupt&) = delete;

 private:
  struct sigaction before_;
};

}  // namespace rlgo::launch
