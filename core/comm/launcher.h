// What started this process: mpirun, Slurm's srun, or a person.
#pragma once

#include <functional>
#include <string>

namespace rlgo::comm {

struct Launch {
  bool mpi = false;     // MPI connects the processes
  int rank = 0;         // among all that were started
  int size = 1;         // of these, as far as the launcher reports it
  std::string problem;  // why they would run independently of each other, and what to do; "" where they do not
};

// `variable`: the environment, as std::getenv.
Launch look_at_launcher(const std::function<const char*(const char*)>& variable);

// For a process that MPI states is the only one although the launcher started several: why, and what to do.
std::string why_alone(const Launch& launch);

}  // namespace rlgo::comm
