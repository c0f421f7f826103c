// What processes of this machine use, as /proc shows it: for rlgo bench scale.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace rlgo::learner {

struct ProcessUse {
  int pid = 0;
  double cpu_s = 0;             // user and system, since its start
  double ready_s = 0;           // in which its main thread could have run, but others had the processors
  uint64_t resident_bytes = 0;  // pages in memory, shared ones included
  uint64_t private_bytes = 0;   // of them, those that no other process has
};

// The ranks of an mpirun (Open MPI) whose command line contains `mark`, by rank. Processes that cannot be read are left
// out. `memory`: whether the sizes are wanted; they take some milliseconds a process.
std::map<int, ProcessUse> ranks_of(const std::string& mark, bool memory);

}  // namespace rlgo::learner
