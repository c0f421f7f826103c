#include "learner/session/explore.h"

#include "actors/policy.h"

namespace rlgo::learner {

size_t explore_costs(const ExploreOptions& options, const graph::Graph& graph,
                     std::shared_ptr<const rules::RuleSet> rules, const optimise::Prices& prices,
                     const std::function<bool()>& should_stop, const std::function<void(size_t done)>& progress) {
  if (!prices.table) return 0;
  const size_t before = prices.table->size();
  if (prices.groups) prices.groups->defer();  // one request for all of them
  env::EnvOptions quiet = options.env;
  quiet.reward = env::Reward::step;  // whole graphs need not be timed here
  quiet.prices_locations = false;    // nor each rewrite that is possible
  env::RewriteEnv env(graph, std::move(rules), prices.model, quiet);
  actors::RandomPolicy policy;
  Rng rng({options.seed, 0xC057});
  Rng* rngs[] = {&rng};
  mdp::Observation observation = env.reset(0);
  for (int64_t i = 0; i < options.steps && !should_stop(); ++i) {
    const mdp::Observation* seen[] = {&observation};
    const auto result = env.step(policy.act(seen, rngs)[0].action);
    observation = result.terminal || result.truncated ? env.reset(0) : result.observation;
    progress(static_cast<size_t>(i + 1));
  }
  if (prices.groups) {
    prices.groups->measure_deferred([&](size_t done, size_t) {
      progress(done);
      return should_stop() ? 0.0 : 1e9;
    });
  }
  return prices.table->size() - before;
}

}  // namespace rlgo::learner
