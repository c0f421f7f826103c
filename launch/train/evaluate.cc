// rlgo evaluate: a trained agent in the real environment, and what its world model expected.
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "core/rules/rule_choice.h"
#include "launch/model.h"
#include "launch/output.h"
#include "launch/signals.h"
#include "launch/train/algorithm_factory.h"
#include "launch/train/commands.h"
#include "launch/train/run_parts.h"
#include "learner/checkpoint.h"
#include "learner/session/evaluation.h"
#include "learner/session/run_folder.h"

namespace rlgo::launch {
namespace {

constexpr const char* kUsage =
    "usage: rlgo evaluate --checkpoint RUN_FOLDER [options]\n"
    "Plays the agent of a run's newest checkpoint on each graph of the run, with its rules and options: sampled and\n"
    "greedy in the real environment, and, where it has a world model, in the dream. Options below win over the "
    "run's.\n";

struct EvaluateOptions {
  std::string checkpoint, csv;
  int64_t episodes = 20;
  bool world_model = false, swaps = false;
  int64_t prefix = 0;
  OutputOptions output;
};

// Plays the checkpoint's agent on the one graph that `config` names.
learner::Evaluation evaluate_graph(const RunConfig& config, const learner::RunFolder& folder,
                                   const learner::Latest& found, const EvaluateOptions& asked,
                                   actors::EvaluationOptions how) {
  const auto model = load_model(config.model, true);
  const auto rules = rules::choose_rules(config.rules);
  const auto prices = make_prices(config);
  if (prices.table && std::filesystem::exists(folder.costs())) prices.table->load(folder.costs());
  const auto envs_of = [&](int64_t most) {
    return make_envs(config, model, rules, prices.model, static_cast<int>(std::min(most, how.episodes)));
  };
  auto envs = envs_of(config.envs_per_actor);
  const auto initial = envs->reset(0, 0);
  learner::Evaluation done{folder.path,
                           found.path,
                           config.model.graph,
                           name_of(config.agent, kAgents),
                           name_of(config.env.reward, env::kRewards),
                           config.seed,
                           config.dream.dream.temperature,
                           envs->initial_cost_us(0),
                           {},
                           {},
                           {}};
  const auto algorithm =
      make_algorithm({config, envs->spec(), exec::resolve_device(config.device), initial, folder.rollouts()});
  algorithm->restore(*found.checkpoint);
  const auto weights = algorithm->final_weights();
  const auto play = [&](const Player& player, bool greedy, const char* mode) {
    how.greedy = greedy;
    done.played.push_back({mode, actors::evaluate(*player.envs, *player.policy, how)});
  };
  {
    const auto player = make_player(config, std::move(envs), false);
    player.policy->load(weights, 0);
    play(player, false, "sampled");
    play(player, true, "greedy");
    if (asked.world_model) done.world = learner::check_world(*algorithm, *player.envs, *player.policy, how);
  }
  if (asked.swaps)
    done.swaps = learner::check_swaps(*algorithm, envs_of(how.episodes), static_cast<int>(asked.prefix), how.seed);
  if (latent_features(config) > 0) {
    RunConfig dreaming = config;
    dreaming.dream.branch_length = dreaming.env.max_steps;
    dreaming.dream.length = 0;
    dreaming.dream.dream.batch = static_cast<int>(std::min<int64_t>(dreaming.dream.dream.batch, how.episodes));
    const auto player = make_player(dreaming, envs_of(1), true);
    player.policy->load(weights, 0);
    play(player, false, "dream");
  }
  return done;
}

}  // namespace

int run_evaluate(Context& context) {
  RunConfig config;
  EvaluateOptions evaluate;
  Options options;
  options.heading("Evaluate");
  options.text("checkpoint", evaluate.checkpoint, "run folder whose newest checkpoint is evaluated");
  options.integer("episodes", evaluate.episodes, 1, 1000000, "episodes of each playing strategy");
  options.flag("world-model", evaluate.world_model,
               "also how well the world model predicts sampled episodes of its controller, and what dreams from their "
               "states return next to them, with and without each clip");
  options.flag("swaps", evaluate.swaps,
               "also dreams in which the reward, the legal actions or the next state of each step are the real ones: "
               "which of them closes the gap between dream and reality");
  options.integer("prefix", evaluate.prefix, 0, 1000, "random rewrites before each episode of --swaps");
  options.text("csv", evaluate.csv, "table to append the results to; made where it does not exist");
  declare(options, evaluate.output);
  options.rest();
  declare(options, config);
  if (!read_command_line(options, context.arguments, kUsage)) return 0;
  const Output output(evaluate.output);
  if (evaluate.checkpoint.empty()) fail_usage("no run is given; use --checkpoint RUN_FOLDER (rlgo evaluate --help)");
  if (evaluate.prefix > 0 && !evaluate.swaps) fail_usage("--prefix is of --swaps, which is not given");
  const learner::RunFolder folder{evaluate.checkpoint};
  read_run_options(options, config, folder);
  config.dream.encoder_from.clear();  // the checkpoint has the encoder
  if (config.dream.encoder == learner::EncoderSource::ppo) config.dream.encoder = learner::EncoderSource::random;
  check(config);
  if (config.agent == Agent::random) fail("{}: the random agent has nothing to evaluate", folder.path.string());
  const auto found = learner::latest(folder.checkpoints());
  if (!found.checkpoint) fail("{}: no usable checkpoint", folder.checkpoints().string());

  actors::EvaluationOptions how;
  how.seed = config.seed + 0xE7A1;
  how.episodes = evaluate.episodes;
  how.should_stop = signalled;
  config.device = "cpu";
  std::string rows;
  Json all;
  for (const auto& one : optimise::each_model(config.model)) {
    config.model = one;
    const auto done = evaluate_graph(config, folder, found, evaluate, how);
    output.print(learner::to_text(done));
    rows += learner::csv_rows(done);
    all.push_back(learner::to_json(done));
    if (signalled()) break;
  }
  if (!evaluate.csv.empty()) learner::append_rows(evaluate.csv, rows);
  // As of a training run: the members of the first graph, and where there are several of each.
  Json document = all[0];
  if (all.size() > 1) document["graphs"] = std::move(all);
  output.document("evaluate", 0, options, std::move(document));
  return 0;
}

}  // namespace rlgo::launch
