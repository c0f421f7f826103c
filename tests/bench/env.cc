// Time of one step of the rewrite environment under few and under all shipped rules: target rlgo_bench_env (Google
// Benchmark). The actions are the same for all rule sets, drawn among those of base.rules, so all see the same graphs.
//
//   build/release/rlgo_bench_env
#include <benchmark/benchmark.h>

#include <array>

#include "core/base/rng.h"
#include "core/cost/analytic.h"
#include "core/cost/decorators.h"
#include "core/env/rewrite_env.h"
#include "core/zoo/zoo.h"

namespace rlgo {
namespace {

constexpr int kSteps = 1000, kEpisode = 100;

// The proved rules of the first `files` shipped files.
std::shared_ptr<const rules::RuleSet> proved_rules(size_t files) {
  std::vector<std::filesystem::path> paths;
  for (size_t k = 0; k < files; ++k) paths.push_back(std::filesystem::path("configs/rules") / rules::kShippedFiles[k]);
  const auto all = rules::RuleSet::load(paths);
  std::vector<std::string> names;
  for (int r = 0; r < all->size(); ++r) {
    if (all->proof(r) == rules::Proof::proved) names.push_back(all->name(r));
  }
  return all->subset(names);
}

env::RewriteEnv make_env(const char* graph, std::shared_ptr<const rules::RuleSet> rules) {
  env::EnvOptions options;
  options.max_steps = kEpisode;
  return {zoo::make(graph), std::move(rules),
          std::make_shared<cost::CachedCost>(std::make_unique<cost::AnalyticCost>()), options};
}

mdp::Observation play(mdp::Env& env, mdp::Action action) {
  auto result = env.step(action);
  return result.terminal || result.truncated ? env.reset(0) : std::move(result.observation);
}

std::vector<mdp::Action> base_walk(const char* graph) {
  auto env = make_env(graph, proved_rules(1));
  Rng rng({1});
  std::vector<mdp::Action> walk;
  auto seen = env.reset(0);
  while (walk.size() < kSteps) {
    std::vector<int32_t> legal;
    for (size_t x = 0; x < seen.counts.size(); ++x) {
      if (seen.counts[x] > 0) legal.push_back(static_cast<int32_t>(x));
    }
    const int32_t rule = legal[rng.below(legal.size())];
    const auto locations = static_cast<uint64_t>(seen.counts[static_cast<size_t>(rule)]);
    walk.push_back({rule, static_cast<int32_t>(rng.below(locations))});
    seen = play(env, walk.back());
  }
  return walk;
}

// One step, resets included. base.rules come first in every set, so an action means the same in all.
void env_step(benchmark::State& bench, const char* graph, size_t files) {
  const auto walk = base_walk(graph);
  const auto rules = proved_rules(files);
  auto env = make_env(graph, rules);
  env.reset(0);
  size_t at = 0;
  for (auto _ : bench) {
    benchmark::DoNotOptimize(play(env, walk[at]).counts.size());
    at = (at + 1) % walk.size();
  }
  bench.SetLabel(std::to_string(rules->size()) + " rules");
  bench.SetItemsProcessed(bench.iterations());
}

BENCHMARK_CAPTURE(env_step, resnet50_base, "resnet50", 1);
BENCHMARK_CAPTURE(env_step, resnet50_default, "resnet50", 3);
BENCHMARK_CAPTURE(env_step, bert_base, "bert", 1);
BENCHMARK_CAPTURE(env_step, bert_default, "bert", 3);
BENCHMARK_CAPTURE(env_step, inception_v3_base, "inception_v3", 1);
BENCHMARK_CAPTURE(env_step, inception_v3_default, "inception_v3", 3);
BENCHMARK_CAPTURE(env_step, squeezenet1_1_base, "squeezenet1_1", 1);
BENCHMARK_CAPTURE(env_step, squeezenet1_1_default, "squeezenet1_1", 3);

}  // namespace
}  // namespace rlgo

BENCHMARK_MAIN();
