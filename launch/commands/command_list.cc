#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "core/options/options.h"
#include "launch/commands/command.h"
#include "launch/training.h"

namespace rlgo::launch {
namespace {

constexpr std::array kCommands = {
    Command{"train", "optimise a graph with a learning agent (the default)", true, true,
            [](Context& c) { return training()->train(c); }},
    Command{"optimise", "make an ONNX model faster in about a minute, and write it where it is", false, false,
            run_optimise},
    Command{"compare", "which of two ONNX models is faster, and whether they compute the same", false, false,
            run_compare},
    Command{"search", "rewrite graphs by search methods (taso, beam, ...), side by side", false, false, run_search},
    Command{"calibrate", "learn prices of operators on this machine, in about a minute", false, false, run_calibrate},
    Command{"evaluate", "play a trained agent in the real environment and in its dream", false, true,
            [](Context& c) { return training()->evaluate(c); }},
    Command{"replay", "apply a trace to its graph again, check it, write the model", false, true,
            [](Context& c) { return training()->replay(c); }},
    Command{"inspect", "summary of a run folder, a rollout store or a model", false, false, run_inspect},
    Command{"bench", "speed of the environment, the policy and the learner on this machine", false, false, run_bench},
    Command{"rules", "list, show, check, generate, prove substitutions", false, false, run_rules},
    Command{"completion", "a script that completes commands and options in bash or zsh", false, false, run_completion},
    Command{"man", "the manual page", false, false, run_man},
};

}  // namespace

int exit_status(const std::exception& error) {
  return dynamic_cast<const UsageError*>(&error) != nullptr ? kUsageStatus : kFailedStatus;
}

bool asks_for_help(const std::vector<std::string>& arguments) {
  return std::ranges::any_of(
      arguments, [](const auto& a) { return a == "--help" || a == "-h" || a == "--help-all" || a == kDescribe; });
}

std::optional<std::vector<std::string>> read_command_line(Options& options, const std::vector<std::string>& arguments,
                                                          const std::string& usage, size_t most_words) {
  if (asks_for_help(arguments)) {
    if (std::ranges::count(arguments, kDescribe) > 0) throw CommandDescription{usage, options.table()};
    const bool all = std::ranges::count(arguments, "--help-all") > 0;
    std::printf("%s%s", usage.c_str(), options.help(all).c_str());
    return std::nullopt;
  }
  auto words = options.parse_command_line(arguments);
  if (words.size() > most_words)
    fail_usage("unexpected '{}'; options begin with --, and --help lists them", words[most_words]);
  if (const auto notice = options.notice(); !notice.empty()) std::fprintf(stderr, "rlgo: note: %s\n", notice.c_str());
  return words;
}

const Training& training_for(const std::string& what) {
  if (training() != nullptr) return *training();
  fail(
      "{}: this build of rlgo has no training (LibTorch, MPI, HDF5); in a checkout of rlgo, `launch/run.sh train "
      "--help` "
      "sets it up",
      what);
}

std::vector<Command> commands() {
  std::vector<Command> found;
  std::ranges::copy_if(kCommands, std::back_inserter(found),
                       [](const Command& c) { return !c.training || training() != nullptr; });
  return found;
}

const Command& find_command(const std::string& name) {
  std::vector<std::string> known;
  for (const Command& c : kCommands) {
    if (name == c.name || (name == "optimize" && std::string(c.name) == "optimise")) {
      if (c.training) training_for("rlgo " + name);
      return c;
    }
    if (!c.training || training() != nullptr) known.emplace_back(c.name);
  }
  fail_usage("unknown command '{}'{}; known: {}", name, did_you_mean(name, known), join(known, ", "));
}

}  // namespace rlgo::launch
