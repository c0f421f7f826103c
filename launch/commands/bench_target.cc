#include "launch/commands/bench.h"

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/usage.h"
#include "core/optimise/price_check.h"
#include "core/rules/rule_choice.h"
#include "core/rules/rules.h"
#include "launch/model.h"
#include "launch/run_parts.h"
#include "launch/signals.h"
#include "launch/target.h"

namespace rlgo::launch {
Json bench_target(const Output& output, const RunConfig& config, const std::vector<std::string>& graphs, int variants) {
  if (config.cost.kind == CostKind::analytic)
    fail_usage("bench --target compares measured costs; it does not go with --cost analytic");
  install_signal_handlers();
  const auto runtime = start_runtime(config, Log(LogOptions()), signalled);
  output.say(fmt::format("{} on {}, {} thread{}\n", runtime->name(), runtime->device(), runtime->threads(),
                         runtime->threads() == 1 ? "" : "s"));
  Json out = Json::array();
  const auto rules = rules::choose_rules(config.rules);
  for (const auto& name : graphs) {
    ModelOptions one = config.model;
    one.graph = name;
    out.push_back(optimise::check_prices(name, load_model(one, true), make_prices(config, runtime), rules,
                                         {variants, config.check.repeats, config.seed},
                                         [&](const std::string& text) { output.say(text); }));
  }
  return out;
}

}  // namespace rlgo::launch
