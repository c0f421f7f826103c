// How well the sum of a runtime's group times shows its times of whole models.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/optimise/model.h"
#include "core/optimise/prices.h"
#include "core/report/json.h"
#include "core/rules/rules.h"

namespace rlgo::calibrate {

struct PriceCheckOptions {
  int variants = 8;   // graphs that random rewriting makes of the model
  int repeats = 9;    // paired runs of whole models
  uint64_t seed = 0;  // of the rewriting
};
// Measures the model's groups, and compares their sum with the time of the whole model, and the same for variants of
// it. `prices`: of groups. Reports lines for people; returns a member of "graphs" of the document "rlgo.bench/1".
// Throws Error where a whole model cannot be timed.
report::Json check_prices(const std::string& name, const optimise::LoadedModel& model, const optimise::Prices& prices,
                          const std::shared_ptr<const rules::RuleSet>& rules, const PriceCheckOptions& options,
                          const std::function<void(const std::string&)>& print);

}  // namespace rlgo::calibrate
