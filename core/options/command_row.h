// Commands with their options, and what is made of them: completion for shells, the manual page.
#pragma once

#include <string>
#include <vector>

#include "core/options/options.h"

namespace rlgo {

struct CommandRow {
  std::string name;   // "rules verify"
  std::string help;   // one line; "" for subcommands of bench
  std::string usage;  // what --help prints above the options
  std::vector<OptionRow> options;
};

// Scripts for a shell that source or autoload them: `rlgo COMMAND --<tab>`, and the values of options that have a
// choice.
std::string bash_completion(const std::vector<CommandRow>& table);
std::string zsh_completion(const std::vector<CommandRow>& table);
// A page for man(1), section 1.
std::string man_page(const std::vector<CommandRow>& table, const std::string& version);

}  // namespace rlgo
