// The subcommands of `rlgo rules`. Adding one: a file rules_NAME.cc here, a line in rules.cc.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/options/options.h"
#include "core/rules/rules.h"

namespace rlgo::launch {

struct RulesCommand {
  const char* name;
  const char* arguments;                                  // "NAME [--dot | --svg]"
  const char* help;                                       // one line
  int (*run)(const std::vector<std::string>& arguments);  // what follows the name; exit status
};

std::span<const RulesCommand> rules_commands();  // in the order of --help

// Parses the arguments of a subcommand and returns those that are no options; with --help among them prints usage and
// options, and returns nothing.
std::optional<std::vector<std::string>> parse_rules_arguments(const char* command, Options& options,
                                                              const std::vector<std::string>& arguments);

// rules::chosen_or_all(), with a note on standard error where files claim proofs that are not rlgo's.
std::shared_ptr<const rules::RuleSet> chosen_rules(const std::vector<std::string>& words);

// To standard output, at once.
void print_line(const std::string& line);

int run_rules_list(const std::vector<std::string>& arguments);  // `rlgo rules WORD`; exit status
int run_rules_show(const std::vector<std::string>& arguments);
int run_rules_axioms(const std::vector<std::string>& arguments);
int run_rules_soundness(const std::vector<std::string>& arguments);
int run_rules_check(const std::vector<std::string>& arguments);
int run_rules_generate(const std::vector<std::string>& arguments);
int run_rules_fires(const std::vector<std::string>& arguments);
int run_rules_verify(const std::vector<std::string>& arguments);
int run_rules_import(const std::vector<std::string>& arguments);
int run_rules_cover(const std::vector<std::string>& arguments);
int run_rules_bench(const std::vector<std::string>& arguments);

}  // namespace rlgo::launch
