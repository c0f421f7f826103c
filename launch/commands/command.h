// The subcommands of rlgo. Adding one: a file here, a line in command_list.cc.
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "core/options/options.h"

namespace rlgo::comm {
class Comm;
}

namespace rlgo::launch {

// Exit statuses of every command; what else one ends with, its --help states (docs/cli.md).
constexpr int kFailedStatus = 1;  // bad input, or the work failed
constexpr int kUsageStatus = 2;   // the command line is wrong, whatever files there are (UsageError)
// A run that stored its state and wants to be started again with --resume: too few actors were left, a learner died, or
// a batch system asked for the machine (sysexits' EX_TEMPFAIL).
constexpr int kRestartStatus = 75;
int exit_status(const std::exception& error);

struct Context {
  std::vector<std::string> arguments;  // after the subcommand's name
  comm::Comm* comm = nullptr;          // of all ranks; only for commands that run on several
  std::string program;                 // argv[0]
};

struct Command {
  const char* name;
  const char* help;              // one line
  bool parallel;                 // runs on all ranks of an mpirun; others refuse more than one
  bool training;                 // needs a build with training
  int (*run)(Context& context);  // exit status
};

// Begins a command. Where help is asked for prints `usage` and the command's options (--help) or all that it takes
// (--help-all), and returns nothing. Else reads the command line, warns on standard error of options by their old
// names, and returns the words that are no options; throws Error where there are more than `most_words` of them.
std::optional<std::vector<std::string>> read_command_line(Options& options, const std::vector<std::string>& arguments,
                                                          const std::string& usage, size_t most_words = 0);

// A command that finds this among its arguments throws CommandDescription in place of --help's text.
inline constexpr const char* kDescribe = "--describe-options";
struct CommandDescription {
  std::string usage;
  std::vector<OptionRow> options;
};

bool asks_for_help(const std::vector<std::string>& arguments);  // --help or -h

std::vector<Command> commands();  // those of this build, in the order of --help
// Throws Error naming the nearest where there is none of this name, or stating that this build does not have it.
const Command& find_command(const std::string& name);

int run_bench(Context& context);  // the subcommands; exit status
int run_inspect(Context& context);
int run_optimise(Context& context);
int run_compare(Context& context);
int run_calibrate(Context& context);
int run_search(Context& context);
int run_rules(Context& context);
int run_completion(Context& context);
int run_man(Context& context);

// The words that may follow `rlgo bench`, in the order of its help.
struct BenchPart {
  const char* name;
  const char* help;              // one line
  int (*run)(Context& context);  // arguments after the word; exit status
  bool training = false;         // needs a build with training
};
std::vector<BenchPart> bench_parts();  // those of this build
std::string bench_usage();             // the head of its help

}  // namespace rlgo::launch
