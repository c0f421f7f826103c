#include "core/base/removed.h"

#include <algorithm>
#include <array>

namespace rlgo {
namespace {

constexpr std::string_view kLast = "438c83b";
constexpr std::string_view kLastLearned = "50f90c9";
constexpr std::string_view kLearned =
    "a learned cost of whole models was not faster than the usual search (results/learned.md)";
constexpr std::string_view kAgents = "a trained agent did not improve a search (results/agents.md)";

constexpr auto kRemoved = std::to_array<Removed>({
    {"policy", kAgents, kLast, ""},
    {"policy-taso", kAgents, kLast, ""},
    {"policy-anneal", kAgents, kLast, ""},
    {"policy-plan", kAgents, kLast, ""},
    {"auto", kAgents, kLast, ""},
    {"imitate", kAgents, kLast, ""},
    {"agent-run", kAgents, kLast, ""},
    {"agent.file", kAgents, kLast, ""},
    {"children", kAgents, kLast, ""},
    {"search.children", kAgents, kLast, ""},
    {"walks", kAgents, kLast, ""},
    {"search.walks", kAgents, kLast, ""},
    {"ranked-moves", kAgents, kLast, ""},
    {"search.ranked-moves", kAgents, kLast, ""},
    {"simulations", kAgents, kLast, ""},
    {"search.simulations", kAgents, kLast, ""},
    {"considered", kAgents, kLast, ""},
    {"search.considered", kAgents, kLast, ""},
    {"ppo.advantage", "V-trace did not differ from GAE (docs/learners.md)", kLast, "gae"},
    {"onnx.attribute-numbers", "the file alone bounds lists in attributes (docs/limits.md)", kLast, "1048576"},
    {"learned", kLearned, kLastLearned, ""},
    {"learned.data", kLearned, kLastLearned, ""},
    {"learned.graphs", kLearned, kLastLearned, ""},
    {"learned.choice", kLearned, kLastLearned, ""},
    {"route", "Z3 alone proved fewer rules, 90 times slower (results/rules.md)", kLast, "egraph"},
});

}  // namespace

const Removed* find_removed(std::string_view name) {
  const auto* at = std::ranges::find(kRemoved, name, &Removed::name);
  return at == kRemoved.end() ? nullptr : at;
}

}  // namespace rlgo
