#include "launch/train/run_report.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/cost/profile.h"
#include "core/cost/table.h"
#include "core/exec/measure.h"
#include "core/exec/measured_cost.h"
#include "core/gpu/runtime.h"
#include "core/rules/rule_choice.h"
#include "launch/revision.h"
#include "launch/target.h"

namespace rlgo::launch {

learner::RunReport run_report(const learner::RunFolder& run, const RunConfig& config, const learner::RunGraph& graph,
                              std::shared_ptr<const rules::RuleSet> rules, cost::CostModel* cost) {
  return {run,
          graph.folder,
          graph.model,
          std::move(rules),
          cost,
          graph.name,
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
  } else if (config.cost.target.is_own()) {
    // Prices of that run only: where the table is another machine's, operators stay without one.
    try {
      auto table = std::make_shared<cost::TableCost>(
          config.cost.target.runtime == "cuda"
              ? gpu::measured_origin(gpu::gpu_for(config.device))
              : exec::measured_origin(exec::resolve_device(config.device), exec::MeasureOptions{config.cost.timing}));
      table->load(folder.costs());
      cost = table;
    } catch (const Error&) {
      cost = nullptr;
    }
  }
  auto graphs = learner::load_graphs(config.model, false);
  learner::make_folders(graphs, folder);
  const auto rules = rules::choose_rules(config.rules);
  for (const auto& graph : graphs)
    atomic_write(graph.folder.report(), learner::run_html(run_report(folder, config, graph, rules, cost.get())));
}

}  // namespace rlgo::launch
