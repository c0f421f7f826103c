// Every command with its options, as the commands themselves declare them: what completion and the man page are made
// of.
#pragma once

#include <string>
#include <vector>

#include "core/options/command_row.h"

namespace rlgo::launch {

// In the order of `rlgo help`, subcommands behind their command.
std::vector<CommandRow> command_table();

}  // namespace rlgo::launch
