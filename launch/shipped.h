// Files that come with rlgo: rules, cost profiles, measurers. Found beside the code, wherever it was put.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/cost/cost.h"

namespace rlgo::launch {

// The first of `places` that exists in a folder above the program or, in Python, above the extension module (build
// tree, installation or package). Throws Error that lists them.
std::filesystem::path shipped_file(const std::vector<std::string>& places);
// The files of the default set (rules::kShippedFiles), in configs/rules. Throws Error that tells where it looked.
std::vector<std::filesystem::path> shipped_rules();
// The formula under a cost profile: the name of a shipped one (configs/costs), or a file. Throws Error where there is
// none, or its file is wrong.
std::unique_ptr<cost::CostModel> analytic_cost(const std::string& profile);

}  // namespace rlgo::launch
