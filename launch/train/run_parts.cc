#include "launch/train/run_parts.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/env/playground.h"
#include "launch/revision.h"
#include "launch/signals.h"
#include "launch/target.h"
#include "launch/train/algorithm_factory.h"
#include "learner/session/whole_timings.h"

namespace rlgo::launch {
namespace {

// A run folder may be somebody else's: a measurer's command, or a Python, that stands in its config.cfg is not run.
void check_target_of_run(const Options& options, const RunConfig& config, const std::filesystem::path& folder) {
  const std::string &runtime = config.cost.target.runtime, &python = config.cost.target.python;
  const auto names = optimise::known_targets();
  const bool known = std::ranges::find(names, runtime) != names.end();
  const auto refuse = [&](const char* option, const std::string& value) {
    fail(
        "{}: its config.cfg asks to run '{}'; a command of a run folder is not run unless the command line gives it "
        "too: "
        "--{} '{}'",
        folder.string(), value, option, value);
  };
  if (!known && options.source("target") == Source::resumed) refuse("target", runtime);
  if (!python.empty() && options.source("target.python") == Source::resumed) refuse("target.python", python);
}

}  // namespace

learner::TimerOf timer_of(const RunConfig& config, const std::string& under, const Log& log,
                          std::function<bool()> should_stop) {
  if (!env::times_whole(config.env.reward)) return [](const LoadedModel&) { return cost::WholeTimer(); };
  return learner::timer_of(start_runtime(config, log, should_stop ? std::move(should_stop) : signalled),
                           config.env.reward, config.cost.timing.repeats, under);
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

void read_run_options(Options& options, RunConfig& config, const learner::RunFolder& folder) {
  options.parse_config(learner::run_options(folder.path), folder.config().string(), Source::resumed);
  check_target_of_run(options, config, folder.path);
}

}  // namespace rlgo::launch
