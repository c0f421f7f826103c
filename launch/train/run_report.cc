#include "launch/train/run_report.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/cost/profile.h"
#include "core/cost/table.h"
#include "core/exec/measure.h"
#include "core/exec/measured_cost.h"
#include "core/rules/rule_choice.h"
#include "launch/model.h"
#include "launch/revision.h"
#include "launch/target.h"

namespace rlgo::launch {

learner::RunReport run_report(const learner::RunFolder& folder, const RunConfig& config,
                              const optimise::LoadedModel& model, std::shared_ptr<const rules::RuleSet> rules,
                              cost::CostModel* cost) {
  return {folder,
          model,
          std::move(rules),
          cost,
          config.model.graph,
          name_of(config.cost.kind, kCostKinds),
          config.cost.target.runtime,
          config.cost.timing.threads,
          config.env.max_locations,
          fmt::format("{} ({})", kVersion, kRevision)};
}

void write_run_report(const learner::RunFolder& folder) {
  RunConfig config;
  Options options;
  declare(options, config);
  options.parse_config(learner::run_options(folder.path), folder.config().string(), Source::resumed);
  std::shared_ptr<cost::CostModel> cost;
  if (config.cost.kind == CostKind::analytic) {
    cost = cost::analytic_cost(config.cost.profile);
  } else if (config.cost.target.runtime == "libtorch") {
    // Prices of that run only: where the table is another machine's, operators stay without one.
    auto table = std::make_shared<cost::TableCost>(
        exec::measured_origin(exec::resolve_device(config.device), exec::MeasureOptions{config.cost.timing}));
    try {
      table->load(folder.costs());
      cost = table;
    } catch (const Error&) {
      cost = nullptr;
    }
  }
  const LoadedModel model = load_model(config.model, false);
  atomic_write(folder.report(),
               learner::run_html(run_report(folder, config, model, rules::choose_rules(config.rules), cost.get())));
}

}  // namespace rlgo::launch
