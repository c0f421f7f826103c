#include <algorithm>
#include <array>
#include <cstdio>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "core/options/options.h"
#include "launch/commands/command.h"

namespace rlgo::launch {
namespace {

constexpr std::array kCommands = {
    Command{"train", "optimise a graph with a learning agent (the default)", true, run_train},
    Command{"optimise", "make an ONNX model faster in about a minute, and write it where it is", false, run_optimise},
    Command{"compare", "which of two ONNX models is faster, and whether they compute the same", false, run_compare},
    Command{"search", "rewrite graphs by search methods (taso, beam, ...), side by side", false, run_search},
    Command{"evaluate", "play a trained agent in the real environment and in its dream", false, run_evaluate},
    Command{"replay", "apply a trace to its graph again, check it, write the model", false, run_replay},
    Command{"inspect", "summary of a run folder, a rollout store or a model", false, run_inspect},
    Command{"bench", "speed of the environment, the policy and the learner on this machine", false, run_bench},
    Command{"rules", "list, show, check, generate, prove substitutions", false, run_rules},
    Command{"completion", "a script that completes commands and options in bash or zsh", false, run_completion},
    Command{"man", "the manual page", false, run_man},
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

std::span<const Command> commands() { return kCommands; }

const Command& find_command(const std::string& name) {
  std::vector<std::string> known;
  for (const Command& c : kCommands) {
    if (name == c.name || (name == "optimize" && std::string(c.name) == "optimise")) return c;
    known.emplace_back(c.name);
  }
  fail_usage("unknown command '{}'{}; known: {}", name, did_you_mean(name, known), join(known, ", "));
}

}  // namespace rlgo::launch
