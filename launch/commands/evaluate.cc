// rlgo evaluate: a trained agent in the real environment, and what its world model expected.
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "core/rules/rule_choice.h"
#include "launch/commands/command.h"
#include "launch/model.h"
#include "launch/output.h"
#include "launch/run_parts.h"
#include "launch/signals.h"
#include "launch/target.h"
#include "launch/train/agent_of_run.h"
#include "launch/train/algorithm_factory.h"
#include "learner/checkpoint.h"
#include "learner/session/evaluation.h"
#include "learner/session/run_folder.h"

namespace rlgo::launch {
namespace {

constexpr const char* kUsage =
    "usage: rlgo evaluate --checkpoint RUN_FOLDER [options]\n"
    "Plays the agent of a run's newest checkpoint, with the graph, rules and options of the run: sampled and greedy\n"
    "in the real environment, and, where it has a world model, in the dream. Options below win over the run's.\n";

struct EvaluateOptions {
  std::string checkpoint, csv, agent_file;
  int64_t episodes = 20;
  bool world_model = false;
  OutputOptions output;
};

}  // namespace

int run_evaluate(Context& context) {
  RunConfig config;
  EvaluateOptions evaluate;
  Options options;
  options.heading("Evaluate");
  options.text("checkpoint", evaluate.checkpoint, "run folder whose newest checkpoint is evaluated");
  options.integer("episodes", evaluate.episodes, 1, 1000000, "episodes of each way of playing");
  options.flag("world-model", evaluate.world_model,
               "also how well the world model foretells sampled episodes of its controller, and what dreams from their "
               "states return beside them, with and without each clip");
  options.text("csv", evaluate.csv, "table to append the results to; made where it does not exist");
  options.text("agent.file", evaluate.agent_file,
               "file to write the agent of the run's best checkpoint to, for search and optimise (docs/agents.md)");
  declare(options, evaluate.output);
  options.rest();
  declare(options, config);
  if (!read_command_line(options, context.arguments, kUsage)) return 0;
  [[maybe_unused]] const Output checked(evaluate.output);
  if (evaluate.checkpoint.empty()) fail_usage("no run is given; use --checkpoint RUN_FOLDER (rlgo evaluate --help)");
  const learner::RunFolder folder{evaluate.checkpoint};
  read_run_options(options, config, folder);
  config.dream.encoder_from.clear();  // the checkpoint has the encoder
  if (config.dream.encoder == learner::EncoderSource::ppo) config.dream.encoder = learner::EncoderSource::random;
  check(config);
  if (config.agent == Agent::random) fail("{}: the random agent has nothing to evaluate", folder.path.string());
  const auto found = learner::latest(folder.checkpoints());
  if (!found.checkpoint) fail("{}: no usable checkpoint", folder.checkpoints().string());

  if (!evaluate.agent_file.empty()) agent::save(agent_of_run(folder.path), evaluate.agent_file);

  const auto device = exec::resolve_device("cpu");
  const auto model = load_model(config.model, true);
  const auto rules = rules::choose_rules(config.rules);
  config.device = "cpu";
  auto prices = make_prices(config);
  if (prices.table && std::filesystem::exists(folder.costs())) prices.table->load(folder.costs());
  auto envs = make_envs(config, model, rules, prices.model,
                        static_cast<int>(std::min<int64_t>(config.envs_per_actor, evaluate.episodes)));
  const auto initial = envs->reset(0, 0);
  const double initial_us = envs->initial_cost_us(0);
  const auto algorithm = make_algorithm({config, envs->spec(), device, initial, folder.rollouts()});
  algorithm->restore(*found.checkpoint);
  const auto weights = algorithm->final_weights();

  actors::EvaluationOptions how;
  how.seed = config.seed + 0xE7A1;
  how.episodes = evaluate.episodes;
  how.should_stop = [] { return stop_signal() != 0; };
  std::vector<learner::Played> all;
  std::optional<learner::WorldCheck> world;
  {
    const auto player = make_player(config, std::move(envs), false);
    player.policy->load(weights, 0);
    for (const bool greedy : {false, true}) {
      how.greedy = greedy;
      all.push_back({greedy ? "greedy" : "sampled", actors::evaluate(*player.envs, *player.policy, how)});
    }
    if (evaluate.world_model) world = learner::check_world(*algorithm, *player.envs, *player.policy, how);
  }
  if (latent_features(config) > 0) {
    RunConfig dreaming = config;
    dreaming.dream.branch_length = dreaming.env.max_steps;
    dreaming.dream.length = 0;
    dreaming.dream.dream.batch = static_cast<int>(std::min<int64_t>(dreaming.dream.dream.batch, evaluate.episodes));
    const auto player = make_player(dreaming, make_envs(config, model, rules, prices.model, 1), true);
    player.policy->load(weights, 0);
    how.greedy = false;
    all.push_back({"dream", actors::evaluate(*player.envs, *player.policy, how)});
  }
  const learner::Evaluation done{folder.path,
                                 found.path,
                                 config.model.graph,
                                 name_of(config.agent, kAgents),
                                 name_of(config.env.reward, env::kRewards),
                                 config.seed,
                                 config.dream.dream.temperature,
                                 initial_us,
                                 std::move(all),
                                 std::move(world)};
  const Output output(evaluate.output);
  output.say(learner::to_text(done));
  if (!evaluate.csv.empty()) learner::append_rows(evaluate.csv, learner::csv_rows(done));
  Json document = learner::to_json(done);
  document["agent_file"] = report::file_json(evaluate.agent_file);
  output.document("evaluate", 0, options, std::move(document));
  return 0;
}

}  // namespace rlgo::launch
