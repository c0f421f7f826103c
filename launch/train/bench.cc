// rlgo bench: how fast the parts of a run are on this machine.
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/usage.h"
#include "core/cost/analytic.h"
#include "core/cost/decorators.h"
#include "core/nets/actor_critic.h"
#include "core/nets/weights.h"
#include "core/rules/rule_choice.h"
#include "launch/commands/bench.h"
#include "launch/model.h"
#include "launch/output.h"
#include "launch/signals.h"
#include "launch/train/algorithm_factory.h"
#include "launch/train/commands.h"
#include "launch/train/run_parts.h"
#include "learner/dream/dream_agent.h"
#include "learner/session/speed.h"

namespace rlgo::launch {
namespace {

constexpr const char* kUsage =
    "Speed of environment, policy and learner (analytic costs, one thread); with --target RUNTIME instead: how\n"
    "well the sum of the runtime's group times shows its times of whole models.\n";

struct BenchOptions {
  std::vector<std::string> graphs = {"resnet50", "bert"};
  double seconds = 3;
  int64_t variants = 8;
};

// What an actor and the learner do in a second with the options given, then the learner by block. Members of a graph.
Json bench_learner(const Output& output, const RunConfig& given,
                   const std::function<std::unique_ptr<mdp::BatchEnv>()>& make_real) {
  const auto measure = [&](nets::Block block, bool distinct) {
    RunConfig config = given;
    config.network.block = block;
    config.ppo.distinct_rows = distinct;
    config.ppo.target_kl = 0;  // all passes
    const auto player = make_player(config, make_real(), false);
    const auto algorithm = make_algorithm({config, player.envs->spec(), exec::Device(), {}, {}});
    return learner::learner_speed(*algorithm, *player.envs, *player.policy, config.loop.steps_per_epoch);
  };
  const double full = measure(nets::Block::full, false).trained_per_s;
  const double plain = measure(nets::Block::local, false).trained_per_s;
  const double distinct = measure(nets::Block::local, true).trained_per_s;
  // Last: by then memory and libraries are warm.
  const auto own = measure(given.network.block, given.ppo.distinct_rows);
  output.print(
      fmt::format("  one actor          {:8.0f} steps/s (environment and policy, {} environments side by side)\n",
                  own.collected_per_s, given.envs_per_actor));
  output.print(fmt::format("learner              {:8.0f} transitions/s (PPO update of {} passes, gnn.block {})\n",
                           own.trained_per_s, given.ppo.epochs, name_of(given.network.block, nets::kBlocks)));
  output.print(
      fmt::format("learner, by block    full {:.0f}, local {:.0f} ({:.1f} times), local with equal rows computed once "
                  "{:.0f} ({:.1f} "
                  "times)\n",
                  full, plain, plain / full, distinct, distinct / full));
  return {{"actor_steps_per_s", own.collected_per_s},
          {"learner_transitions_per_s", own.trained_per_s},
          {"learner_by_block_transitions_per_s", {{"full", full}, {"local", plain}, {"local_distinct", distinct}}}};
}

// Dreamed steps, world model and controller together, and what one costs next to a real one.
Json bench_dream(const Output& output, RunConfig config, mdp::BatchEnv& real, const mdp::Observation& initial,
                 double real_per_s, double seconds) {
  config.agent = Agent::model_based;
  Json out = Json::array();
  const auto weights = make_algorithm({config, real.spec(), exec::Device(), initial, {}})->final_weights();
  for (const int batch : {1, 16, 256, 1024}) {
    const auto dreamer = learner::make_dreamer(dream_agent_options(config), real.spec(), config.seed, torch::kCPU);
    dreamer->unpack(weights);
    auto options = config.dream.dream;
    options.batch = batch;
    options.max_steps = 100;
    const double per_s = learner::dream_steps_per_s(dreamer, options, seconds / 2);
    output.print(
        fmt::format("  dream, batch {:<4}  {:8.0f} steps/s (world model and controller), {:.3f} ms a step; a real one "
                    "(environment, encoder, policy) costs {:.1f} as much\n",
                    batch, per_s, 1e3 / per_s, per_s / real_per_s));
    out.push_back({{"batch", batch}, {"steps_per_s", per_s}});
  }
  return out;
}

// A member of "graphs" of the document "rlgo.bench/1".
Json bench_graph(const Output& output, RunConfig config, const std::string& name, double seconds) {
  config.model.graph = name;
  const auto model = load_model(config.model, false);
  const auto rules = rules::choose_rules(config.rules);
  const auto prices = std::make_shared<cost::CachedCost>(std::make_unique<cost::AnalyticCost>());
  auto options = config.env;
  options.max_steps = 100;
  env::RewriteEnv env(model.graph, rules, prices, options);
  const auto observation = env.reset(0);
  output.print(fmt::format("{}: {} nodes ({} seen by the agent), {} rules, {} legal rewrites at the start\n", name,
                           model.graph.size(), observation.node_op.size(), rules->size(), observation.loc_node.size()));
  const double steps_per_s = learner::environment_steps_per_s(env, seconds);
  output.print(fmt::format("  environment        {:8.0f} steps/s (match, apply, cost, observation; policy excluded)\n",
                           steps_per_s));
  Json inference = Json::array();
  for (const auto block : {nets::Block::full, nets::Block::local}) {
    RunConfig one = config;
    one.network.block = block;
    const auto player = make_player(one, make_envs(one, model, rules, prices, 1), false);
    nets::ActorCritic network(player.envs->spec(), one.network, one.seed);
    player.policy->load(nets::pack(*network), 0);
    const auto speed = learner::policy_speed(*player.policy, *network, env, seconds / 2);
    const std::string which(name_of(block, nets::kBlocks));
    output.print(
        fmt::format("  policy, {:<5}      {:8.3f} ms a decision; of {} none is further than {:.1e} from a full pass\n",
                    which, speed.ms, speed.steps, speed.worst));
    inference.push_back({{"block", which}, {"decision_us", 1e3 * speed.ms}, {"difference", speed.worst}});
  }
  const auto envs = make_envs(config, model, rules, prices, config.envs_per_actor);
  Json out =
      bench_learner(output, config, [&] { return make_envs(config, model, rules, prices, config.envs_per_actor); });
  out["dream"] = bench_dream(output, config, *envs, observation, out["actor_steps_per_s"].get<double>(), seconds);
  out.update({{"graph", name},
              {"nodes", model.graph.size()},
              {"nodes_seen", observation.node_op.size()},
              {"rules", rules->size()},
              {"legal_rewrites", observation.loc_node.size()},
              {"environment_steps_per_s", steps_per_s},
              {"inference", std::move(inference)}});
  return out;
}

}  // namespace

int run_training_bench(Context& context) {
  RunConfig config;
  BenchOptions bench;
  Options options("bench");
  options.heading("Bench");
  options.texts("bench.graphs", bench.graphs, "zoo graphs or .onnx files to bench, separated by commas");
  options.number("bench.seconds", bench.seconds, 0.1, 3600, "about how long each figure may take, s");
  options.integer("bench.variants", bench.variants, 0, 1000,
                  "with --target: randomly rewritten graphs whose prices are checked too");
  OutputOptions output_options;
  declare(options, output_options);
  declare_problem(options, config);
  options.rest();
  declare_agent(options, config);
  declare_details(options, config);
  optimise::declare(options, config.check);
  if (!read_command_line(options, context.arguments, bench_usage() + kUsage)) return 0;
  if (!config.model.graph.empty()) fail_usage("bench takes --graphs, several with commas between, not --graph");
  const Output output(output_options);
  Json graphs = Json::array();
  if (config.is_external()) {
    graphs = bench_target(output, config, bench.graphs, static_cast<int>(bench.variants));
  } else {
    for (const auto& graph : bench.graphs) {
      if (signalled()) fail("stopped by a signal; {} of {} graphs were benched", graphs.size(), bench.graphs.size());
      graphs.push_back(bench_graph(output, config, graph, bench.seconds));
    }
  }
  output.document("bench", 0, options,
                  {{"of", config.is_external() ? "target" : "training"}, {"graphs", std::move(graphs)}});
  return 0;
}

}  // namespace rlgo::launch
