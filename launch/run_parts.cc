#include "launch/run_parts.h"

#include "core/base/error.h"
#include "core/base/usage.h"
#include "core/cost/profile.h"
#include "core/env/playground.h"
#include "launch/revision.h"
#include "launch/target.h"
#include "launch/train/algorithm_factory.h"

namespace rlgo::launch {

learner::TimerOf timer_of(const RunConfig& config) {
  if (config.env.reward != env::Reward::measured) return [](const LoadedModel&) { return optimise::WholeTimer(); };
  return [runtime = start_runtime(config), repeats = config.cost.timing.repeats](const LoadedModel& model) {
    const auto write = [](const auto& of, const auto& graph, const auto& path) { export_model(of, graph, path); };
    return optimise::whole_timer(runtime, model, repeats, write);
  };
}

std::unique_ptr<mdp::BatchEnv> make_envs(const RunConfig& config, const LoadedModel& model,
                                         const std::shared_ptr<const rules::RuleSet>& rules,
                                         const std::shared_ptr<cost::CostModel>& cost, int count) {
  return env::make_envs({{model.graph, nullptr, timer_of(config)(model)}}, rules, cost, config.env, count);
}

replay::StoreHeader store_header(const RunConfig& config, mdp::ObservationSpec spec, const rules::RuleSet& rules) {
  replay::StoreHeader header{std::move(spec),
                             config.seed,
                             config.model.graph,
                             kRevision,
                             fmt::format("{:016x}", rules.hash()),
                             name_of(config.env.reward, env::kRewards)};
  header.spec.latent_features = latent_features(config);  // are let through, and left out of the store
  header.spec.location_latents = location_latents(config);
  return header;
}

optimise::Prices make_prices(const RunConfig& config, std::shared_ptr<cost::Runtime> runtime) {
  optimise::Prices prices;
  prices.runtime = runtime ? std::move(runtime) : start_runtime(config);
  if (config.cost.kind == CostKind::analytic) {
    if (!config.cost.table.empty())
      fail_usage("--cost.table is a table of measured costs; it does not go with --cost analytic");
    prices.model = cost::analytic_cost(config.cost.profile);
    return prices;
  }
  if (config.cost.profile != CostOptions().profile)
    fail_usage("--cost.profile names the constants of a formula; it goes with --cost analytic");
  return optimise::measured_prices(std::move(prices.runtime), config.cost.table);
}

}  // namespace rlgo::launch
