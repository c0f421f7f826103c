// The program: finds the subcommand, sets up ranks and signals, turns errors into an exit status.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <string>

#include "core/base/destination.h"
#include "core/base/error.h"
#include "core/base/usage.h"
#include "core/comm/comm.h"
#include "core/comm/launcher.h"
#include "core/options/places.h"
#include "launch/commands/command.h"
#include "launch/output.h"
#include "launch/revision.h"
#include "launch/signals.h"
#include "launch/training.h"

namespace {

using rlgo::launch::Command;
using rlgo::launch::training;

std::string usage() {
  std::string text =
      "rlgo makes deep-learning models run faster and shows that they still compute the same.\n\n"
      "usage: rlgo [command] [options]          one process\n";
  if (training() != nullptr) text += "       mpirun -np N rlgo [command] ...   rank 0 learns, the others act\n";
  text += "\ncommands:\n";
  for (const Command& c : rlgo::launch::commands())
    text += fmt::format("  {:<10} {}{}\n", c.name, c.help, c.parallel || training() == nullptr ? "" : " (one process)");
  return text + "\nrlgo --version prints the version; rlgo COMMAND --help shows a command's options.\n";
}

int run(int argc, char** argv, std::unique_ptr<rlgo::comm::Comm>& comm) {
  rlgo::launch::Context context;
  context.program = argc > 0 ? argv[0] : "rlgo";
  context.arguments.assign(argv + 1, argv + argc);
  std::string name = "train";
  const bool bare = context.arguments.empty() || context.arguments[0].starts_with("-");
  const bool wants_usage =
      training() == nullptr && bare && (context.arguments.empty() || rlgo::launch::asks_for_help(context.arguments));
  if (wants_usage || (!bare && context.arguments[0] == "help")) {
    std::fputs(usage().c_str(), stdout);
    return 0;
  }
  if (!context.arguments.empty() && context.arguments[0] == "--version") {
    std::printf("rlgo %s (%s)\n", rlgo::launch::kVersion, rlgo::launch::kRevision);
    return 0;
  }
  if (!bare) {
    name = context.arguments[0];
    context.arguments.erase(context.arguments.begin());
  }
  const Command& command = rlgo::launch::find_command(name);
  if (rlgo::launch::asks_for_help(context.arguments)) {
    const bool all = std::ranges::count(context.arguments, "--help-all") > 0;
    if (name == "train") std::fputs((usage() + "\noptions of train:\n").c_str(), stdout);
    // What stands in front of all options names a subcommand: `rlgo rules verify --help`.
    const auto first = std::find_if(context.arguments.begin(), context.arguments.end(),
                                    [](const std::string& word) { return word.starts_with("-"); });
    context.arguments.erase(first, context.arguments.end());
    context.arguments.emplace_back(all ? "--help-all" : "--help");
    return command.run(context);
  }
  const auto launch = rlgo::comm::look_at_launcher(std::getenv);
  if (!launch.problem.empty() && launch.rank > 0) return 1;  // one of them reports it
  if (!launch.problem.empty()) rlgo::fail("{}", launch.problem);
  // Models are tried in a child process (core/base/isolate.h): networks that register memory must allow a fork.
  for (const char* variable : {"RDMAV_FORK_SAFE", "IBV_FORK_SAFE"}) ::setenv(variable, "1", 0);
  comm = launch.mpi ? rlgo::launch::training_for("mpirun").mpi(&argc, &argv) : rlgo::comm::self_comm();
  if (comm->size() < launch.size && comm->size() == 1) rlgo::fail("{}", why_alone(launch));
  if (!command.parallel && comm->rank() > 0) return 1;  // rank 0 reports
  if (!command.parallel && comm->size() > 1)
    rlgo::fail_usage("'rlgo {}' runs in one process; start it without mpirun", name);
  if (const std::string why = rlgo::overwritten_file(context.arguments); !why.empty()) rlgo::fail("{}", why);
  rlgo::launch::install_signal_handlers();
  context.comm = comm.get();
  return command.run(context);
}

std::string explain(const std::exception& error, int argc, char** argv) {
  if (dynamic_cast<const std::bad_alloc*>(&error) == nullptr) return error.what();
  return fmt::format("not enough memory for 'rlgo{}'; free some, or use a machine with more",
                     argc > 1 ? std::string(" ") + argv[1] : "");
}

// How long the others are waited for at the end. Actors are done long before rank 0, which measures what was found.
// After an error nobody is worth waiting for.
double patience_s(const rlgo::comm::Comm& comm, int status) {
  if (status == 0) return comm.rank() == 0 ? 30 : 24 * 3600;
  return status == rlgo::launch::kRestartStatus ? 5 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  rlgo::keep_standard_streams();
  // One thread for the network unless stated otherwise: passes are small, and ranks and other programs share the
  // machine.
  if (training() != nullptr && std::getenv("OMP_NUM_THREADS") == nullptr) training()->set_threads(1);
  std::unique_ptr<rlgo::comm::Comm> comm;
  int status = 0;
  try {
    status = run(argc, argv, comm);
  } catch (const std::exception& e) {
    const int rank = comm ? comm->rank() : 0;
    const std::string what = explain(e, argc, argv);
    if (rank > 0) {
      std::fprintf(stderr, "rlgo: rank %d: error: %s\n", rank, what.c_str());
    } else {
      std::fprintf(stderr, "rlgo: error: %s\n", what.c_str());
    }
    status = rlgo::launch::exit_status(e);
    if (rank == 0) rlgo::launch::document_error({argv + 1, argv + argc}, status, what);
  }
  if (!rlgo::flush_standard_streams() && status == 0) status = 1;
  if (comm) comm->close(patience_s(*comm, status), status);
  // After an error a GPU's kernels may wait for a rank that is gone, and the end of CUDA for these.
  if (status != 0) std::_Exit(status);
  return 0;
}
