#include <array>

#include "core/base/error.h"
#include "core/base/text.h"
#include "launch/commands/command.h"

namespace rlgo::launch {
namespace {

constexpr std::array kCommands = {
    Command{"train", "optimise a graph with a learning agent (the default)", true, run_train},
    Command{"optimise", "make an ONNX model faster in about a minute, and write it where it is", false, run_optimise},
    Command{"search", "rewrite graphs by search methods (taso, beam, ...), side by side", false, run_search},
    Command{"evaluate", "play a trained agent in the real environment and in its dream", false, run_evaluate},
    Command{"replay", "apply a trace to its graph again, check it, write the model", false, run_replay},
    Command{"inspect", "summary of a run folder, a rollout store or a model", false, run_inspect},
    Command{"bench", "speed of the environment, the policy and the learner on this machine", false, run_bench},
    Command{"rules", "list, show, check, generate, prove substitutions", false, run_rules},
};

}  // namespace

std::span<const Command> commands() { return kCommands; }

const Command& find_command(const std::string& name) {
  std::vector<std::string> known;
  for (const Command& c : kCommands) {
    if (name == c.name) return c;
    known.emplace_back(c.name);
  }
  fail("unknown command '{}'{}; known: {}", name, did_you_mean(name, known), join(known, ", "));
}

}  // namespace rlgo::launch
