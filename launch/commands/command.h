// The subcommands of rlgo. Adding one: a file here, a line in command_list.cc.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace rlgo::comm {
class Comm;
}

namespace rlgo::launch {

struct Context {
  std::vector<std::string> arguments;  // after the subcommand's name
  comm::Comm* comm = nullptr;          // of all ranks; only for commands that run on several
  std::string program;                 // argv[0]
};

struct Command {
  const char* name;
  const char* help;              // one line
  bool parallel;                 // runs on all ranks of an mpirun; others refuse more than one
  int (*run)(Context& context);  // exit status
};

std::span<const Command> commands();
// Throws Error naming the nearest where there is none of this name.
const Command& find_command(const std::string& name);

int run_train(Context& context);
int run_bench(Context& context);
int run_evaluate(Context& context);
int run_inspect(Context& context);
int run_replay(Context& context);
int run_optimise(Context& context);
int run_search(Context& context);
int run_rules(Context& context);

}  // namespace rlgo::launch
