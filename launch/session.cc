#include "launch/session.h"

#include "actors/policy.h"
#include "core/base/error.h"
#include "core/base/usage.h"
#include "core/cost/profile.h"
#include "core/exec/measured_cost.h"
#include "launch/target.h"

namespace rlgo::launch {

std::function<double(const graph::Graph&)> whole_graph_timer(const RunConfig& config, const exec::Device& device) {
  if (config.env.reward != env::Reward::measured) return {};
  return [options = measure_options(config), device](const graph::Graph& graph) {
    const graph::Graph* one[] = {&graph};
    return exec::measure_graphs(one, device, options)[0].median_us;
  };
}

std::shared_ptr<const env::Starts> make_starts(const RunConfig& config, const graph::Graph& graph,
                                               std::shared_ptr<const rules::RuleSet> rules, cost::CostModel& model) {
  if (config.env.frontier <= 0) return nullptr;
  return std::make_shared<env::Starts>(graph, std::move(rules), model, config.env.max_locations, config.env.frontier);
}

std::unique_ptr<mdp::BatchEnv> make_envs(const RunConfig& config, const graph::Graph& graph,
                                         std::shared_ptr<const rules::RuleSet> rules,
                                         std::shared_ptr<cost::CostModel> model, const exec::Device& device, int count,
                                         std::shared_ptr<const env::Starts> starts) {
  std::vector<std::unique_ptr<mdp::Env>> envs;
  for (int i = 0; i < count; ++i) {
    envs.push_back(
        std::make_unique<env::RewriteEnv>(graph, rules, model, config.env, whole_graph_timer(config, device), starts));
  }
  return mdp::make_batch(std::move(envs));
}

Prices make_prices(const RunConfig& config, std::shared_ptr<cost::Runtime> runtime) {
  Prices prices;
  prices.runtime = runtime ? std::move(runtime) : start_runtime(config);
  if (config.cost.kind == CostKind::analytic) {
    if (!config.cost.table.empty())
      fail_usage("--cost.table is a table of measured costs; it does not go with --cost analytic");
    prices.model = cost::analytic_cost(config.cost.profile);
    return prices;
  }
  if (config.cost.profile != CostOptions().profile)
    fail_usage("--cost.profile names the constants of a formula; it goes with --cost analytic");
  const cost::MeasuredCosts measured = prices.runtime->measure();
  prices.table = measured.table;
  prices.model = measured.model;
  prices.groups = std::dynamic_pointer_cast<measure::GroupCost>(measured.model);
  if (!config.cost.table.empty()) prices.table->load(config.cost.table);
  return prices;
}

size_t explore_costs(const RunConfig& config, const graph::Graph& graph, std::shared_ptr<const rules::RuleSet> rules,
                     const Prices& prices, const std::function<bool()>& should_stop,
                     const std::function<void(size_t done)>& progress) {
  if (!prices.table) return 0;
  const size_t before = prices.table->size();
  if (prices.groups) prices.groups->postpone();  // one request for all of them
  env::EnvOptions quiet = config.env;
  quiet.reward = env::Reward::step;  // whole graphs need not be timed here
  quiet.prices_locations = false;    // nor each rewrite that is possible
  env::RewriteEnv env(graph, std::move(rules), prices.model, quiet);
  actors::RandomPolicy policy;
  Rng rng({config.seed, 0xC057});
  Rng* rngs[] = {&rng};
  mdp::Observation observation = env.reset(0);
  for (int64_t i = 0; i < config.cost.explore && !should_stop(); ++i) {
    const mdp::Observation* seen[] = {&observation};
    const auto result = env.step(policy.act(seen, rngs)[0].action);
    observation = result.terminal || result.truncated ? env.reset(0) : result.observation;
    progress(static_cast<size_t>(i + 1));
  }
  if (prices.groups) {
    prices.groups->measure_postponed([&](size_t done, size_t) {
      progress(done);
      return should_stop() ? 0.0 : 1e9;
    });
  }
  return prices.table->size() - before;
}

}  // namespace rlgo::launch
