// The rules that rlgo ships, as tests load them (from the repository's root).
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "core/rules/rules.h"

namespace rlgo::rules {

inline std::shared_ptr<const RuleSet> shipped_rules() {
  std::vector<std::filesystem::path> files;
  for (const char* name : kShippedFiles) files.push_back(std::filesystem::path("configs/rules") / name);
  return RuleSet::load(files);
}

}  // namespace rlgo::rules
