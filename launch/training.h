// What only a build with training has (LibTorch, MPI, HDF5). launch/train/training.cc has it; where these are left out
// launch/without_training.cc takes its place.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "core/comm/comm.h"
#include "core/optimise/optimise.h"
#include "core/optimise/target.h"
#include "core/report/description.h"
#include "launch/commands/command.h"

namespace rlgo::launch {

struct Training {
  int (*train)(Context&);  // commands; exit status
  int (*evaluate)(Context&);
  int (*replay)(Context&);
  int (*bench)(Context&);  // without a word behind it
  int (*bench_scale)(Context&);
  // A run folder or rollouts. The other two change what lies there: see the options of rlgo inspect.
  report::Description (*describe)(const std::filesystem::path& path);
  std::string (*write_report)(const std::filesystem::path& run);  // the file
  std::string (*compact)(const std::filesystem::path& rollouts);

  decltype(optimise::OptimiseParts::train) search;              // of method "train"
  optimise::RuntimeOptions::Start libtorch, cuda;               // targets
  std::unique_ptr<comm::Comm> (*mpi)(int* argc, char*** argv);  // see comm::mpi_comm
  void (*set_threads)(int);                                     // of LibTorch
};

// Null in a build without.
const Training* training();
// The same; throws Error where there is none: `what` needs it.
const Training& training_for(const std::string& what);

}  // namespace rlgo::launch
