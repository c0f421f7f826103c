// Results as JSON: the parts that documents of several commands share (docs/json.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/cost/kept.h"
#include "core/rules/rules.h"
#include "core/rules/trace.h"
#include "core/search/table.h"

namespace rlgo::report {

// Members keep the order in which they are written. What is not a number (NaN, infinity) is written as null.
using Json = nlohmann::ordered_json;

// Indented by two, with a final newline. Bytes that are not UTF-8 become U+FFFD.
std::string to_text(const Json& json);
// {"file", "bytes", "sha256"}; null for "" and for what is no file.
Json file_json(const std::filesystem::path& path);
// {"count", "hash"} of the rules that might be applied.
Json rules_json(const rules::RuleSet& rules);
// [{"rule", "location", "proof", "cost_us"}]: rewrites in order. `cost_us`: after each; null where there is none.
Json trace_json(const rules::RuleSet& rules, std::span<const rules::Rewrite> trace, std::span<const double> cost_us);
// An object for each search: members of "searches" of the document "rlgo.search/1".
Json searches_json(std::span<const search::SearchRow> rows, const rules::RuleSet& rules);
// {"share", "operators": [{"op", "count", "share"}]}, shares null where no times are known.
Json kept_json(const cost::KeptOperators& kept);
// Named values of a row, and an object for each row.
using ValueRow = std::vector<std::pair<std::string, std::variant<int64_t, double, std::string>>>;
Json rows_json(std::span<const ValueRow> rows);

}  // namespace rlgo::report
