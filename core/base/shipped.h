// Files that come with rlgo: rules, cost profiles, measurers. Found next to the code, wherever it was put.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace rlgo {

// The first of `places` that exists in a folder above the program or, in Python, above the extension module (build
// tree, installation or package). Throws Error that lists them.
std::filesystem::path shipped_file(const std::vector<std::string>& places);
// A file of configs/: shipped_config("rules/base.rules"). Throws Error that shows where it looked.
std::filesystem::path shipped_config(const std::string& name);

}  // namespace rlgo
