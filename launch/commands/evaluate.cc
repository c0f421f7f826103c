// rlgo evaluate: a trained agent in the real environment, and what its world model expected.
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "core/rules/rule_choice.h"
#include "launch/commands/command.h"
#include "launch/model.h"
#include "launch/output.h"
#include "launch/session.h"
#include "launch/signals.h"
#include "launch/target.h"
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
  std::string checkpoint, csv;
  int64_t episodes = 20;
  OutputOptions output;
};

// What was evaluated.
struct Evaluated {
  const RunConfig& config;
  const EvaluateOptions& options;
  const learner::RunFolder& folder;
  const std::filesystem::path& checkpoint;
  double initial_us;
  const std::vector<learner::Played>& all;
};

void tell(const Output& output, const Options& options, const Evaluated& e) {
  std::string text =
      fmt::format("{}, agent {}, checkpoint {}, temperature {:g}; returns in percent of the initial cost (reward {})\n",
                  e.config.model.graph, name_of(e.config.agent, kAgents), e.checkpoint.string(),
                  e.config.dream.dream.temperature, name_of(e.config.env.reward, env::kRewards));
  const learner::EvaluatedRun run{e.folder.path.filename().string(), name_of(e.config.agent, kAgents), e.config.seed,
                                  e.config.dream.dream.temperature};
  std::string rows;
  Json played = Json::array();
  for (const auto& p : e.all) {
    text += learner::to_text(p, e.initial_us);
    rows += learner::csv_row(run, p);
    played.push_back(learner::to_json(p));
  }
  Json gap;
  if (e.all.size() == 3) {
    gap = e.all[2].report.total_reward.mean - e.all[0].report.total_reward.mean;
    text += fmt::format("gap      {:.3f} % (dream-predicted less real return, both sampled)\n", gap.get<double>());
  }
  output.say(text);
  if (!e.options.csv.empty()) learner::append_rows(e.options.csv, rows);
  output.document("evaluate", 0, options,
                  {{"run", e.folder.path.string()},
                   {"checkpoint", report::file_json(e.checkpoint)},
                   {"graph", e.config.model.graph},
                   {"agent", name_of(e.config.agent, kAgents)},
                   {"reward", name_of(e.config.env.reward, env::kRewards)},
                   {"initial_cost_us", e.initial_us},
                   {"played", std::move(played)},
                   {"gap_percent", gap}});
}

}  // namespace

int run_evaluate(Context& context) {
  RunConfig config;
  EvaluateOptions evaluate;
  Options options;
  options.heading("Evaluate");
  options.text("checkpoint", evaluate.checkpoint, "run folder whose newest checkpoint is evaluated");
  options.integer("episodes", evaluate.episodes, 1, 1000000, "episodes of each way of playing");
  options.text("csv", evaluate.csv, "table to append the results to; made where it does not exist");
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

  const auto device = exec::resolve_device("cpu");
  const auto model = load_model(config.model, true);
  const auto rules = rules::choose_rules(config.rules);
  config.device = "cpu";
  auto prices = make_prices(config);
  if (prices.table && std::filesystem::exists(folder.costs())) prices.table->load(folder.costs());
  auto envs = make_envs(config, model.graph, rules, prices.model, device,
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
  {
    const auto player = make_player(config, std::move(envs), false);
    player.policy->load(weights, 0);
    for (const bool greedy : {false, true}) {
      how.greedy = greedy;
      all.push_back({greedy ? "greedy" : "sampled", actors::evaluate(*player.envs, *player.policy, how)});
    }
  }
  if (latent_features(config) > 0) {
    RunConfig dreaming = config;
    dreaming.dream.branch_length = dreaming.env.max_steps;
    dreaming.dream.length = 0;
    dreaming.dream.dream.batch = static_cast<int>(std::min<int64_t>(dreaming.dream.dream.batch, evaluate.episodes));
    const auto player = make_player(dreaming, make_envs(config, model.graph, rules, prices.model, device, 1), true);
    player.policy->load(weights, 0);
    how.greedy = false;
    all.push_back({"dream", actors::evaluate(*player.envs, *player.policy, how)});
  }
  tell(Output(evaluate.output), options, {config, evaluate, folder, found.path, initial_us, all});
  return 0;
}

}  // namespace rlgo::launch
