// rlgo rules ...: what the substitutions are, and what is known about them.
#include "launch/commands/rules.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "core/options/options.h"
#include "core/rules/rule_choice.h"
#include "launch/commands/command.h"

namespace rlgo::launch {
namespace {

constexpr std::array kCommands = {
    RulesCommand{"list", "[--rules WORDS] [--groups]", "a table of the rules, or of their sets and tags",
                 run_rules_list},
    RulesCommand{"show", "NAME [--dot | --svg] [--out FILE]", "one rule: text, proof, picture of both sides",
                 run_rules_show},
    RulesCommand{"axioms", "[--dims N] [--rules FILE]", "validate every axiom at all small shapes, exactly",
                 run_rules_axioms},
    RulesCommand{"generate", "--ops SET --max-ops N --out FILE",
                 "enumerate, prune, write as rules and prove substitutions", run_rules_generate},
    RulesCommand{"fires", "FILE... [--graphs LIST] [--out FILE]", "which rules match on models, and how often",
                 run_rules_fires},
    RulesCommand{"check", "[NAME...] [--rules FILE]", "look for counterexamples by evaluation in exact rings",
                 run_rules_check},
    RulesCommand{"verify", "FILE... [--write]", "prove the rules of files; status 0 where all are", run_rules_verify},
    RulesCommand{"import", "FILE --out FILE.rules", "rules of TASO (graph_subst.pb or a text dump) as a rule file",
                 run_rules_import},
    RulesCommand{"cover", "FILE [--rules FILE]", "which rules of others are contained, derived, proved, refuted",
                 run_rules_cover},
    RulesCommand{"soundness", "[--applications N] [--rules FILE]",
                 "apply rules at random places of random graphs, compare exactly", run_rules_soundness},
    RulesCommand{"bench", "[--max-ops N] [--parts LIST]", "speed of generation, proofs, matching, soundness test",
                 run_rules_bench},
};

std::string usage() {
  std::string text = "usage: rlgo rules SUBCOMMAND ...      (rlgo rules SUBCOMMAND --help: its options)\n\n";
  for (const auto& command : kCommands) {
    text += fmt::format("  {:<9} {:<36} {}\n", command.name, command.arguments, command.help);
  }
  return text;
}

}  // namespace

std::span<const RulesCommand> rules_commands() { return kCommands; }

std::optional<std::vector<std::string>> parse_rules_arguments(const char* command, Options& options,
                                                              const std::vector<std::string>& arguments) {
  const auto known =
      std::find_if(kCommands.begin(), kCommands.end(), [&](const auto& c) { return std::string(command) == c.name; });
  RLGO_CHECK(known != kCommands.end());
  return read_command_line(options, arguments,
                           fmt::format("usage: rlgo rules {} {}      {}\n", command, known->arguments, known->help),
                           std::numeric_limits<size_t>::max());
}

std::shared_ptr<const rules::RuleSet> chosen_rules(const std::vector<std::string>& words) {
  auto rules = rules::chosen_or_all(words);
  if (!rules->remark().empty()) std::fprintf(stderr, "%s\n", rules->remark().c_str());
  return rules;
}

void print_line(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

int run_rules(Context& context) {
  if (context.arguments.empty()) fail_usage("rules needs a subcommand\n{}", usage());
  const std::string& name = context.arguments[0];
  if (name == "--help" || name == "--help-all") {
    std::fputs(usage().c_str(), stdout);
    return 0;
  }
  std::vector<std::string> known;
  for (const auto& command : kCommands) {
    if (name == command.name) return command.run({context.arguments.begin() + 1, context.arguments.end()});
    known.emplace_back(command.name);
  }
  fail_usage("rules: unknown subcommand '{}'{}; known: {}", name, did_you_mean(name, known), join(known, ", "));
}

}  // namespace rlgo::launch
