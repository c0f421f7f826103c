// Files that a command line names.
#pragma once

#include <string>
#include <vector>

namespace rlgo {

// Why a file that the command is to write ("--json", "--out", "--report", ...) must not be written: it is one that the
// command reads, or writes otherwise, too. "" where all are apart. `arguments`: of the command, as they were given.
std::string overwritten_file(const std::vector<std::string>& arguments);

// Whether a file holds something that is no JSON document of rlgo. The document of an error does not replace that: it
// may be what a model's weights are read from.
bool holds_other(const std::string& file);

}  // namespace rlgo
