#include "launch/train/outcome.h"

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/search/search.h"
#include "launch/target.h"

namespace rlgo::launch {
namespace {

std::string milliseconds(double us) {
  return us < 1000.0 ? fmt::format("{:.4f} ms", us / 1000.0) : fmt::format("{:.3f} ms", us / 1000.0);
}

std::string change(double before, double after) {
  return before > 0 ? fmt::format("{:+.2f} %", 100.0 * (after - before) / before) : "n/a";
}

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

Verdict judge(const RunConfig& config, const LoadedModel& model, const graph::Graph& after, measure::Measurer* measurer,
              const exec::Device& device) {
  const graph::Graph& before = model.graph;
  Verdict verdict;
  exec::EquivalenceOptions equivalence;
  equivalence.seeds = static_cast<int>(config.outcome_seeds);
  equivalence.seed = static_cast<uint64_t>(config.seed) + 1;
  verdict.equivalence = exec::equivalence(before, after, equivalence);
  if (!verdict.equivalence.within(config.outcome_tolerance)) {
    fail(
        "the rewritten graph does not compute the same: {} (tolerance {}); nothing is written. This is a bug of a rule "
        "or of rlgo; please report the run folder",
        verdict.equivalence.comparable
            ? fmt::format("relative error {:.3g} at output '{}'", verdict.equivalence.max_rel_error,
                          verdict.equivalence.worst_output)
            : verdict.equivalence.reason,
        config.outcome_tolerance);
  }
  const graph::Graph* both[] = {&before, &after};
  const auto times = compare_graphs(config, model, both, measurer, device, static_cast<int>(config.outcome_repeats));
  for (const auto& error : {times.error, times.models[0].error, times.models[1].error}) {
    if (verdict.unmeasured.empty()) verdict.unmeasured = error;
  }
  verdict.before = times.models[0];
  verdict.after = times.models[1];
  verdict.ratio = times.ratio[1];
  verdict.noise = times.noise;
  verdict.runtime = measurer != nullptr ? target_name(measurer) : fmt::format("LibTorch, {}", exec::to_string(device));
  return verdict;
}

std::string to_text(const Verdict& verdict, const RunConfig& config) {
  std::string out;
  if (verdict.unmeasured.empty()) {
    out = fmt::format(
        "end to end      {} (spread {}) -> {} (spread {}): {:+.2f} %, {:.2f}x; {}, {} thread{}, {} interleaved runs "
        "each, noise {:.2f} %\n",
        milliseconds(verdict.before.median_us), milliseconds(verdict.before.spread_us),
        milliseconds(verdict.after.median_us), milliseconds(verdict.after.spread_us), 100.0 * (verdict.ratio - 1),
        1.0 / verdict.ratio, verdict.runtime, config.cost_threads, config.cost_threads == 1 ? "" : "s",
        verdict.after.samples, 100.0 * verdict.noise);
  } else {
    out = fmt::format("end to end      not measured under {}: {}\n", verdict.runtime, verdict.unmeasured);
  }
  out += fmt::format("equivalence     largest relative error {:.3g} over {} random inputs (tolerance {:.3g})\n",
                     verdict.equivalence.max_rel_error, config.outcome_seeds, config.outcome_tolerance);
  return out;
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
    origin = fmt::format("  candidates    agent {}, agent and then greedy {}, greedy alone {}: {} is taken\n",
                         change(initial_us, agent_us), change(initial_us, polished_us), change(initial_us, greedy_us),
                         agent_wins ? "the agent's" : "greedy's");
    if (!agent_wins) result = std::move(greedy);
    best.replace(result.actions, result.costs);
  }
  const graph::Graph& graph = result.graph;
  log.info("checking and measuring the best graph ({} rewrites)", best.trace().actions.size());
  const Verdict verdict = judge(in.config, in.model, graph, in.measurer, in.device);
  atomic_write(in.folder.best_trace(), to_text(best.trace(), *in.rules));
  const auto written = export_model(in.model, graph, in.folder.best_onnx());

  std::string out =
      fmt::format("graph           {} ({} nodes -> {})\n", in.config.graph, in.model.graph.size(), graph.size());
  out += fmt::format("cost            {} -> {} ({}), sum over operators, {}\n", milliseconds(best.initial_us()),
                     milliseconds(best.best_us()), change(best.initial_us(), best.best_us()), in.cost.name());
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
