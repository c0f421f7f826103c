#include "launch/shipped.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "core/cost/analytic.h"
#include "core/cost/profile.h"
#include "core/rules/rules.h"

namespace rlgo::launch {
namespace fs = std::filesystem;

fs::path shipped_file(const std::vector<std::string>& places) {
  std::error_code error;
  const fs::path program = code_path();
  for (fs::path folder = program.parent_path(); !folder.empty(); folder = folder.parent_path()) {
    for (const auto& place : places) {
      if (fs::exists(folder / place, error)) return folder / place;
    }
    if (folder == folder.parent_path()) break;
  }
  fail("{} was not found in any folder above {}", join(places, " or "), program.string());
}

std::vector<fs::path> shipped_rules() {
  std::vector<fs::path> files;
  try {
    for (const std::string name : rules::kShippedFiles)
      files.push_back(shipped_file({"configs/rules/" + name, "share/rlgo/configs/rules/" + name}));
  } catch (const Error& e) {
    fail("{}; name the rules with --rules FILE", e.what());
  }
  return files;
}

std::unique_ptr<cost::CostModel> analytic_cost(const std::string& named) {
  fs::path file = named;
  if (named.find_first_of("./") == std::string::npos) {
    try {
      file = shipped_file({"configs/costs/" + named + ".cost", "share/rlgo/configs/costs/" + named + ".cost"});
    } catch (const Error& e) {
      fail_usage("--cost.profile: no profile is named '{}': {}; a file is named with its folder (./{})", named,
                 e.what(), named);
    }
  }
  return std::make_unique<cost::AnalyticCost>(cost::parse_profile(read_file(file), file.string()),
                                              file.stem().string());
}

}  // namespace rlgo::launch
