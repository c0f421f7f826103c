#include "launch/train/commands.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "core/base/file.h"
#include "core/cost/analytic.h"
#include "core/cost/decorators.h"
#include "core/rules/rule_choice.h"
#include "launch/model.h"
#include "launch/signals.h"
#include "launch/train/algorithm_factory.h"
#include "launch/train/run_parts.h"
#include "learner/session/scale.h"
#include "learner/session/scale_options.h"

namespace rlgo::launch {
namespace fs = std::filesystem;
namespace {

constexpr const char* kUsage =
    "usage: rlgo bench scale [--ranks 1,2,4 | --simulate 32,256,1000] [--agent random | model-free | ...] [options]\n"
    "How a run grows with its actors, each number in a run of its own, next to the environment alone "
    "(docs/scale.md).\n";

learner::LoopSpeed measure_bare(const RunConfig& config, const LoadedModel& model, double seconds) {
  const auto rules = rules::choose_rules(config.rules);
  const auto prices = std::make_shared<cost::CachedCost>(std::make_unique<cost::AnalyticCost>());
  const auto envs = [&] { return make_envs(config, model, rules, prices, config.envs_per_actor); };
  actors::RandomPolicy random;
  const auto bare = learner::measure_loop(*envs(), random, seconds / 2);
  if (config.agent == Agent::random) return bare;
  auto player = make_player(config, envs(), false);
  player.policy->load(make_algorithm({config, player.envs->spec(), exec::Device(), {}, {}})->weights(), 0);
  const auto loop = learner::measure_loop(*player.envs, *player.policy, seconds / 2);
  return {bare.env_per_s, loop.loop_per_s, loop.loop_per_cpu_s};
}

// The configuration file of a run of so many actors, for ever.
std::string run_config(RunConfig config, int actors, const learner::ScaleOptions& scale, const fs::path& runs) {
  config.loop.steps_per_epoch = scale.steps_per_actor * actors;
  config.loop.epochs = 1'000'000'000;
  config.runs = runs.string();
  config.name = "run";
  Options known;
  declare(known, config);
  return known.dump({"config", "resume"});
}

}  // namespace

int run_bench_scale(Context& context) {
  RunConfig config;
  config.agent = Agent::random;
  config.cost.kind = CostKind::analytic;
  learner::ScaleOptions scale;
  OutputOptions output_options;
  Options options("scale");
  declare(options, scale);
  declare(options, output_options);
  declare(options, config);
  if (!read_command_line(options, context.arguments, kUsage)) return 0;
  const Output output(output_options);
  const auto counts = scale.counts();
  const auto model = load_model(config.model, false);
  if (scale.simulated()) {
    scale.simulation.seconds = scale.seconds;
    const auto rules = rules::choose_rules(config.rules);
    const auto prices = std::make_shared<cost::CachedCost>(std::make_unique<cost::AnalyticCost>());
    const auto envs = make_envs(config, model, rules, prices, 4);
    const auto rows =
        learner::simulate_counts(*envs, store_header(config, envs->spec(), *rules), counts, scale.simulation,
                                 config.store_rollouts, [&](const std::string& text) { output.print(text); });
    output.document("bench-scale", 0, options, {{"of", "simulation"}, {"rows", report::rows_json(rows)}});
    return 0;
  }
  const std::string program = program_path().string();
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  output.print(fmt::format(
      "{}, agent {}, {} cores, {} s each; rate(N)/(N rate(1)) can be min(N, cores)/N at most; docs/scale.md explains "
      "the columns\n{}",
      config.model.graph, name_of(config.agent, kAgents), cores, scale.seconds, learner::kScaleHeading));
  std::vector<learner::MetricRow> rows;
  std::optional<learner::ScaleRow> one;
  for (const int actors : counts) {
    const auto bare = measure_bare(config, model, scale.seconds / 2);
    learner::ScaleJobOptions job{actors, config.loop.learners, scale.launcher, program, config.store_rollouts, {}, {}};
    job.config = [&](const fs::path& runs) { return run_config(config, actors, scale, runs); };
    job.stop = signalled;
    const auto row = learner::measure_actors(job, bare, scale.seconds);
    if (!one) one = row;
    output.print(learner::to_text(row, *one));
    rows.push_back(
        learner::cells(config.model.graph, name_of(config.agent, kAgents), config.loop.learners, row, *one, cores));
    if (!scale.csv.empty()) atomic_write(scale.csv, learner::csv_of(rows));
  }
  output.document("bench-scale", 0, options, {{"of", "runs"}, {"rows", report::rows_json(rows)}});
  return 0;
}

}  // namespace rlgo::launch
