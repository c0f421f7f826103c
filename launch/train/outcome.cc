#include "launch/train/outcome.h"

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/temporary_folder.h"
#include "core/base/text.h"
#include "core/optimise/benchmark.h"
#include "core/optimise/verify.h"
#include "core/search/search.h"

namespace rlgo::launch {
namespace {

using optimise::milliseconds;

// A graph and the rewrites that make it from the unmodified one, with the cost after each.
struct Candidate {
  graph::Graph graph;
  env::Trace actions;
  std::vector<double> costs;
  double us(double initial_us) const { return costs.empty() ? initial_us : costs.back(); }
};

// Applies greedily whatever still lowers the cost.
Candidate polish(const OutcomeInput& in, Candidate start) {
  search::Options options;
  options.budget = 1'000'000;
  options.max_locations = static_cast<int>(in.config.env_max_locations);
  options.stop = in.should_stop;
  const auto found = search::run("greedy", {start.graph, in.rules, in.cost}, options);
  for (const auto& step : found.trace) {
    start.graph = env::replay(start.graph, *in.rules, {{step.rule, step.location}}, options.max_locations);
    start.actions.push_back({step.rule, step.location});
    start.costs.push_back(cost::graph_cost(in.cost, start.graph).runtime_us);
  }
  return start;
}

std::string interactions_text(const Interactions& done) {
  std::string text =
      fmt::format("{} environment steps in {} episodes, {} epochs, {} ({:.0f} steps/s); ended by {}", done.steps,
                  done.episodes, done.epochs, human_seconds(done.seconds),
                  done.seconds > 0 ? static_cast<double>(done.steps) / done.seconds : 0.0, done.stop_reason);
  if (done.lost_episodes > 0) text += fmt::format("; {} episodes lost", done.lost_episodes);
  return text;
}

}  // namespace

std::string count_rules(const env::Trace& trace, const rules::RuleSet& rules) {
  std::map<int32_t, int> counts;
  for (const auto& action : trace) ++counts[action.xfer];
  std::vector<std::pair<int, int32_t>> order;
  for (const auto& [rule, count] : counts) order.emplace_back(-count, rule);
  std::sort(order.begin(), order.end());
  std::vector<std::string> parts;
  for (const auto& [count, rule] : order) parts.push_back(fmt::format("{} x {}", -count, rules.name(rule)));
  return parts.empty() ? "none" : join(parts, ", ");
}

Verdict judge(const RunConfig& config, const LoadedModel& model, const graph::Graph& after, cost::Runtime& runtime) {
  const TemporaryFolder folder("rlgo-outcome");
  const std::filesystem::path files[] = {folder.path() / "before.onnx", folder.path() / "after.onnx"};
  export_model(model, model.graph, files[0]);
  export_model(model, after, files[1]);
  const cost::RunnableModel both[] = {{&model.graph, files[0]}, {&after, files[1]}};
  optimise::CheckOptions options;
  options.seeds = static_cast<int>(config.outcome_seeds);
  options.tolerance = config.outcome_tolerance;
  options.seed = static_cast<uint64_t>(config.seed);
  runtime.set_input_shapes(optimise::input_shapes(model.graph));
  Verdict verdict;
  verdict.runtime = fmt::format("{}, {}", runtime.name(), runtime.device());
  verdict.checks = optimise::verify(model, files[0], both[1], runtime, options);
  optimise::refuse_differences(verdict.checks, options.tolerance, "those of the run folder's trace", true);
  optimise::Benchmark benchmark(runtime, both[0]);
  const int repeats = static_cast<int>(config.outcome_repeats);
  verdict.times = benchmark.compare({&both[1], 1}, repeats, 0, repeats);
  verdict.unmeasured = verdict.times.error;
  for (const auto& timing : verdict.times.models) {
    if (verdict.unmeasured.empty()) verdict.unmeasured = timing.error;
  }
  return verdict;
}

std::string to_text(const Verdict& verdict, const RunConfig& config) {
  std::string out;
  if (verdict.unmeasured.empty()) {
    const auto &before = verdict.times.models[0], &after = verdict.times.models[1];
    const double ratio = verdict.times.ratio[1];
    out = fmt::format(
        "end to end      {} (spread {}) -> {} (spread {}): {:+.2f} %, {:.2f}x; {}, {} thread{}, {} interleaved runs "
        "each, noise {:.2f} %\n",
        milliseconds(before.median_us), milliseconds(before.spread_us), milliseconds(after.median_us),
        milliseconds(after.spread_us), 100.0 * (ratio - 1), 1.0 / ratio, verdict.runtime, config.cost_threads,
        config.cost_threads == 1 ? "" : "s", after.samples, 100.0 * verdict.times.noise);
  } else {
    out = fmt::format("end to end      not measured under {}: {}\n", verdict.runtime, verdict.unmeasured);
  }
  return out + optimise::to_text(verdict.checks, config.outcome_tolerance);
}

std::string conclude(const OutcomeInput& in, BestGraph& best, const Log& log) {
  const double initial_us = best.initial_us();
  const double agent_us = best.best_us();
  Candidate result{
      env::replay(in.model.graph, *in.rules, best.trace().actions, static_cast<int>(in.config.env_max_locations)),
      best.trace().actions, best.trace().cost_us};
  std::string origin;
  if (in.config.outcome_polish) {
    result = polish(in, std::move(result));
    const double polished_us = result.us(initial_us);
    Candidate greedy = polish(in, {in.model.graph, {}, {}});
    const double greedy_us = greedy.us(initial_us);
    const bool agent_wins = polished_us <= greedy_us;
    origin =
        fmt::format("  candidates    agent {}, agent and then greedy {}, greedy alone {}: {} is taken\n",
                    optimise::percent_change(initial_us, agent_us), optimise::percent_change(initial_us, polished_us),
                    optimise::percent_change(initial_us, greedy_us), agent_wins ? "the agent's" : "greedy's");
    if (!agent_wins) result = std::move(greedy);
    best.replace(result.actions, result.costs);
  }
  const graph::Graph& graph = result.graph;
  log.info("checking and measuring the best graph ({} rewrites)", best.trace().actions.size());
  const Verdict verdict = judge(in.config, in.model, graph, in.runtime);
  atomic_write(in.folder.best_trace(), to_text(best.trace(), *in.rules));
  const auto written = export_model(in.model, graph, in.folder.best_onnx());

  std::string out =
      fmt::format("graph           {} ({} nodes -> {})\n", in.config.graph, in.model.graph.size(), graph.size());
  out += fmt::format("cost            {} -> {} ({}), sum over operators, {}\n", milliseconds(best.initial_us()),
                     milliseconds(best.best_us()), optimise::percent_change(best.initial_us(), best.best_us()),
                     in.cost.name());
  out += origin;
  out += to_text(verdict, in.config);
  out += fmt::format("rules applied   {} rewrites: {}\n", best.trace().actions.size(),
                     count_rules(best.trace().actions, *in.rules));
  out += fmt::format("agent           {}: {}\n", in.interactions.agent, interactions_text(in.interactions));
  out += fmt::format("model           {}\n", in.folder.best_onnx().string());
  if (const auto normalised = normalisation_text(written); !normalised.empty())
    out += fmt::format("normalised      {}\n", normalised);
  atomic_write(in.folder.summary(), out);
  return out;
}

}  // namespace rlgo::launch
