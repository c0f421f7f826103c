// Tables of rules for people (rlgo rules list).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/rules/rules.h"

namespace rlgo::rules {

// The sets and tags that --rules knows, with how many rules of each are proved.
std::string groups_to_text();

// Name, proof, tags and operators of each rule with one of `tags` (none: of each), and a summary. `fires`: in how many
// places each applies; empty: no such column.
std::string list_to_text(const RuleSet& rules, std::span<const std::string> tags, std::span<const int64_t> fires);

}  // namespace rlgo::rules
