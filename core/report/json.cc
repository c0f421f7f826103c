#include "core/report/json.h"

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/sha256.h"
#include "core/base/text.h"
#include "core/rules/rule_choice.h"

namespace rlgo::report {
namespace fs = std::filesystem;

std::string to_text(const Json& json) {
  return json.dump(2, ' ', false, nlohmann::detail::error_handler_t::replace) + "\n";
}

Json file_json(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return nullptr;
  return {{"file", path.string()}, {"bytes", fs::file_size(path, error)}, {"sha256", sha256_of(path)}};
}

Json rules_json(const rules::RuleSet& rules) { return {{"count", rules.size()}, {"hash", hex(rules.hash())}}; }

Json kept_json(const cost::KeptOperators& kept) {
  const auto fraction = [&](double of) { return kept.timed ? Json(of) : Json(); };
  Json operators = Json::array();
  for (const auto& [type, kind] : kept.kinds)
    operators.push_back({{"op", type}, {"count", kind.count}, {"fraction", fraction(kind.fraction)}});
  return {{"fraction", fraction(kept.fraction())}, {"operators", std::move(operators)}};
}

Json trace_json(const rules::RuleSet& rules, std::span<const rules::Rewrite> trace, std::span<const double> cost_us) {
  Json out = Json::array();
  for (size_t k = 0; k < trace.size(); ++k) {
    out.push_back({{"rule", rules.name(trace[k].rule)},
                   {"location", trace[k].location},
                   {"proof", rules::proof_name(rules.proof(trace[k].rule))},
                   {"cost_us", k < cost_us.size() ? Json(cost_us[k]) : Json()}});
  }
  return out;
}

Json searches_json(std::span<const search::SearchRow> rows, const rules::RuleSet& rules) {
  Json out = Json::array();
  for (const search::SearchRow& row : rows) {
    const auto& c = row.counters;
    Json curve = Json::array();
    for (const auto& point : row.curve)
      curve.push_back({{"seconds", point.seconds}, {"graphs", point.candidates}, {"best_us", point.best_us}});
    out.push_back({{"graph", row.graph},
                   {"method", row.method},
                   {"cost_model", row.cost},
                   {"seed", row.seed},
                   {"threads", row.threads},
                   {"before_us", row.before_us},
                   {"after_us", row.after_us},
                   {"rewrites", trace_json(rules, row.trace, {})},
                   {"nodes", {{"before", row.nodes_before}, {"after", row.nodes_after}}},
                   {"graphs", c.candidates},
                   {"refused", c.refused},
                   {"duplicates", c.duplicates},
                   {"built", c.steps},
                   {"dropped", c.dropped},
                   {"seconds", row.seconds},
                   {"measuring_s", row.measuring_s},
                   {"ended_by", search::name(row.reason)},
                   {"bound_us", row.bound_us > 0 ? Json(row.bound_us) : Json()},
                   {"optimal", row.optimal},
                   {"note", row.note},
                   {"curve", std::move(curve)}});
  }
  return out;
}

Json rows_json(std::span<const ValueRow> rows) {
  Json out = Json::array();
  for (const auto& row : rows) {
    Json& cells = out.emplace_back(Json::object());
    for (const auto& [name, value] : row) std::visit([&, &name = name](const auto& v) { cells[name] = v; }, value);
  }
  return out;
}

}  // namespace rlgo::report
