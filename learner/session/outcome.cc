#include "learner/session/outcome.h"

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/stopwatch.h"
#include "core/base/temporary_folder.h"
#include "core/base/text.h"
#include "core/optimise/benchmark.h"
#include "core/optimise/json.h"
#include "core/optimise/judge.h"
#include "core/rules/trace.h"
#include "core/search/search.h"
#include "core/search/trace.h"

namespace rlgo::learner {
namespace {

using optimise::milliseconds;
using report::Json;

constexpr int64_t kPolishGraphsPerNode = 500;  // priced by each search at the end: a second or two by formula
constexpr int64_t kLeastPolishGraphs = 5'000, kMostPolishGraphs = 200'000;
constexpr double kPolishMiB = 2048;
// Candidates that are timed against each other: rounds of each, and s.
constexpr int kLatencyRounds = 24, kLeastLatencyRounds = 3;
constexpr double kLatencySeconds = 60;
constexpr double kUnlimited = std::numeric_limits<double>::infinity();

// A graph and the rewrites that make it from the unmodified one, with the cost after each.
struct Candidate {
  graph::Graph graph;
  rules::Trace trace;
  std::vector<double> costs;
  double us(double initial_us) const { return costs.empty() ? initial_us : costs.back(); }
};

// `from` and then these rewrites of its graph, with the cost after each at the prices of now.
Candidate extended(const OutcomeInput& in, Candidate from, const rules::Trace& trace) {
  const auto note = [&](const graph::Graph& graph, size_t made) {
    from.costs.insert(from.costs.end(), made, cost::graph_cost(in.cost, graph).runtime_us);
  };
  from.graph = rules::replay(from.graph, in.rules, trace, std::numeric_limits<int>::max(), note);
  from.trace.insert(from.trace.end(), trace.begin(), trace.end());
  return from;
}

// These rewrites of the unmodified graph.
Candidate priced(const OutcomeInput& in, const rules::Trace& trace) {
  return extended(in, {in.model.graph, {}, {}}, trace);
}

// Without rewrites that undo one another or gain nothing, as random play leaves them: its cost is at most as high.
Candidate minimal(const OutcomeInput& in, Candidate found) {
  const auto made =
      search::minimal_trace({in.model.graph, in.rules, in.cost}, found.trace, in.max_locations, in.should_stop);
  return made.trace == found.trace ? std::move(found) : priced(in, made.trace);
}

// What a search makes of it, in `seconds` at most. Graphs are counted, too, so that a seed repeats where time is
// enough.
Candidate searched(const OutcomeInput& in, const std::string& method, const Candidate& from, double seconds) {
  const Stopwatch clock;
  search::Options options;
  const auto nodes = static_cast<int64_t>(in.model.graph.size());
  options.budget = std::clamp(kPolishGraphsPerNode * nodes, kLeastPolishGraphs, kMostPolishGraphs);
  options.seed = in.seed;
  options.max_locations = in.max_locations;
  options.memory_mib = kPolishMiB;
  options.stop = [&] { return clock.seconds() > seconds || (in.should_stop && in.should_stop()); };
  return extended(in, from, search::run(method, {from.graph, in.rules, in.cost}, options).trace);
}

std::string interactions_text(const Interactions& done) {
  std::string text =
      fmt::format("{} environment steps in {} episodes, {} epochs, {} ({:.0f} steps/s); ended by {}", done.steps,
                  done.episodes, done.epochs, human_seconds(done.seconds),
                  done.seconds > 0 ? static_cast<double>(done.steps) / done.seconds : 0.0, done.stop_reason);
  if (done.lost_episodes > 0) text += fmt::format("; {} episodes lost", done.lost_episodes);
  return text;
}

// What `candidates` of a summary states, as numbers, us.
struct Candidates {
  double agent = 0;  // what the agent found
  double agent_then_greedy = 0, agent_then_search = 0;
  double greedy = 0, search = 0;  // from the unmodified graph
  double start = 0;               // where the run started from; 0: there is none
  const char* taken = "agent";
  // The same as ratios to the unmodified graph's latency, where that decides; 0: not timed. Searches with greedy ones.
  double agent_ratio = 0, agent_then_search_ratio = 0, search_ratio = 0, start_ratio = 0;
};

// A candidate, the name of what found it, and the ratio that its time goes to.
struct Found {
  Candidate candidate;
  const char* by;
  double Candidates::*ratio;
};

// The fastest of these, in turns with the unmodified graph, which it is where none is faster. Where the target does not
// run them the first one, which is not shown to be faster then.
Candidate fastest(const OutcomeInput& in, const std::vector<Found>& found, Candidates& out, const Log& log) {
  const TemporaryFolder folder("rlgo-outcome");
  const auto runnable = [&](const graph::Graph& graph, size_t k) -> cost::RunnableModel {
    if (!in.runtime.reads_files()) return {&graph, {}};
    const auto file = folder.path() / fmt::format("candidate-{}.onnx", k);
    optimise::export_model(in.model, graph, file);
    return {&graph, file};
  };
  in.runtime.set_input_shapes(optimise::run_shapes(in.model));
  optimise::Benchmark benchmark(in.runtime, runnable(in.model.graph, found.size()), in.seed);
  std::vector<cost::RunnableModel> models;
  for (size_t k = 0; k < found.size(); ++k) models.push_back(runnable(found[k].candidate.graph, k));
  const auto timed = benchmark.compare(models, kLatencyRounds, kLatencySeconds, kLeastLatencyRounds, false);
  if (!timed.error.empty()) {
    log.warn("the candidates could not be timed: {}", timed.error);
    return found[0].candidate;
  }
  Candidate best{in.model.graph, {}, {}};
  double lowest = 1;
  for (size_t k = 0; k < found.size(); ++k) {
    const double ratio = timed.ratio[k + 1];
    double& of_kind = out.*found[k].ratio;
    if (ratio > 0 && (of_kind == 0 || ratio < of_kind)) of_kind = ratio;
    if (ratio <= 0 || ratio >= lowest) continue;
    lowest = ratio;
    best = found[k].candidate;
    out.taken = found[k].by;
  }
  return best;
}

// The lowest of the agent's graph, polished or not, what the searches make of the unmodified one and the one that the
// run started from, without useless rewrites; or the fastest of them.
std::pair<Candidate, Candidates> lowest(const OutcomeInput& in, const rules::Trace& found, double initial_us,
                                        const Log& log) {
  Candidate result = priced(in, found);
  Candidates costs{result.us(initial_us)};
  std::vector<Found> all = {{result, "agent", &Candidates::agent_ratio}};
  const auto offer = [&](const Candidate& other, const char* name, double Candidates::*ratio) {
    if (in.by_latency) all.push_back({other, name, ratio});
    if (other.us(initial_us) >= result.us(initial_us)) return;
    result = other;
    costs.taken = name;
  };
  if (in.polish) {
    // Greedy rewriting goes first, to its end: where operators must be timed, the other may not come as far in its
    // time.
    const auto polish = [&](const Candidate& from, bool of_agent, double& greedy_us, double& search_us) {
      const Candidate greedy = searched(in, "greedy", from, kUnlimited);
      search_us = greedy_us = greedy.us(initial_us);
      const auto ratio = of_agent ? &Candidates::agent_then_search_ratio : &Candidates::search_ratio;
      offer(greedy, of_agent ? "agent" : "greedy", ratio);
      if (in.polish_s <= 0) return;
      const Candidate portfolio = searched(in, "portfolio", from, in.polish_s / 2);
      search_us = std::min(greedy_us, portfolio.us(initial_us));
      offer(portfolio, of_agent ? "agent" : "portfolio", ratio);
    };
    const Candidate agent = result;
    if (!agent.trace.empty()) polish(agent, true, costs.agent_then_greedy, costs.agent_then_search);
    polish({in.model.graph, {}, {}}, false, costs.greedy, costs.search);
    if (agent.trace.empty()) costs.agent_then_greedy = costs.greedy, costs.agent_then_search = costs.search;
  }
  if (!in.start.empty()) {
    Candidate start = priced(in, in.start);
    costs.start = start.us(initial_us);
    offer(start, "search", &Candidates::start_ratio);
  }
  if (in.by_latency) {
    Candidate best = fastest(in, all, costs, log);
    return {std::move(best), costs};
  }
  return {minimal(in, std::move(result)), costs};
}

// By how much the agent's graph, polished or not, is below what searches reach alone. In percent of the initial cost.
double contribution_percent(const OutcomeInput& in, double initial_us, const Candidates& c) {
  double alone_us = in.polish ? c.search : initial_us;
  if (c.start > 0) alone_us = std::min(alone_us, c.start);
  return std::max(0.0, 100 * (alone_us - (in.polish ? c.agent_then_search : c.agent)) / initial_us);
}

// The same of latencies, in percent of the unmodified graph's.
double contribution_by_latency(const Candidates& c) {
  double alone = 1, agent = c.agent_ratio;
  for (const double ratio : {c.search_ratio, c.start_ratio}) alone = ratio > 0 ? std::min(alone, ratio) : alone;
  if (c.agent_then_search_ratio > 0) agent = std::min(agent, c.agent_then_search_ratio);
  return agent > 0 ? std::max(0.0, 100 * (alone - agent)) : 0;
}

std::string latencies_text(const Candidates& c) {
  std::string text = "  latencies   ";
  double lowest = 0;
  const std::pair<const char*, double> named[] = {{"agent", c.agent_ratio},
                                                  {"agent and then search", c.agent_then_search_ratio},
                                                  {"search alone", c.search_ratio},
                                                  {"searches that it started from", c.start_ratio}};
  for (const auto& [name, ratio] : named) {
    if (ratio <= 0) continue;
    text += fmt::format(" {} {:.3f},", name, ratio);
    lowest = lowest > 0 ? std::min(lowest, ratio) : ratio;
  }
  if (lowest == 0) return text + " not timed\n";
  text.back() = ':';
  if (lowest >= 1) return text + " none is faster than the unmodified graph\n";
  return text +
         fmt::format(" the {}'s is taken; the agent contributed {:.2f} points\n", c.taken, contribution_by_latency(c));
}

std::string candidates_text(const OutcomeInput& in, double initial_us, const Candidates& c) {
  if (in.by_latency) return latencies_text(c);
  const auto change = [&](double us) { return optimise::percent_change(initial_us, us); };
  std::string text = fmt::format("  candidates    agent {}", change(c.agent));
  if (in.polish)
    text += fmt::format(", agent and then search {}, search alone {} (greedy {})", change(c.agent_then_search),
                        change(c.search), change(c.greedy));
  if (c.start > 0) text += fmt::format(", searches that it started from {}", change(c.start));
  return text + fmt::format(": the {}'s is taken; the agent contributed {:.2f} points\n", c.taken,
                            contribution_percent(in, initial_us, c));
}

Json timings_json(const WholeTimings& timings) {
  return {{"shown", timings.shown}, {"within_noise", timings.within_noise}, {"failed", timings.failed}};
}

Json latencies_json(const Candidates& c) {
  const auto known = [](double ratio) { return ratio > 0 ? Json(ratio) : Json(); };
  return {{"agent", known(c.agent_ratio)},
          {"agent_then_search", known(c.agent_then_search_ratio)},
          {"search", known(c.search_ratio)},
          {"starts", known(c.start_ratio)},
          {"agent_contribution_percent", contribution_by_latency(c)}};
}

Json outcome_json(const OutcomeInput& in, const BestGraph& best, const optimise::Judgement& verdict,
                  const Candidates& candidates, const std::filesystem::path& model_file,
                  const std::filesystem::path& trace_file) {
  const Interactions& done = in.interactions;
  return {
      {"run", in.folder.path.string()},
      {"graph", in.graph},
      {"model", report::file_json(in.graph)},
      {"written", report::file_json(model_file)},
      {"trace", report::file_json(trace_file)},
      {"agent",
       {{"name", done.agent},
        {"seed", in.seed},
        {"steps", done.steps},
        {"episodes", done.episodes},
        {"lost_episodes", done.lost_episodes},
        {"epochs", done.epochs},
        {"seconds", done.seconds},
        {"ended_by", done.stop_reason},
        {"timings", in.by_latency ? timings_json(done.timings) : Json()}}},
      {"cost",
       {{"model", in.cost.name()},
        {"before_us", best.initial_us()},
        {"after_us", best.best_us()},
        {"agent_us", candidates.agent},
        {"agent_then_greedy_us", in.polish ? Json(candidates.agent_then_greedy) : Json()},
        {"agent_then_search_us", in.polish ? Json(candidates.agent_then_search) : Json()},
        {"greedy_us", in.polish ? Json(candidates.greedy) : Json()},
        {"search_us", in.polish ? Json(candidates.search) : Json()},
        {"starts_us", candidates.start > 0 ? Json(candidates.start) : Json()},
        {"agent_contribution_percent", contribution_percent(in, best.initial_us(), candidates)},
        {"latency_ratios", in.by_latency ? latencies_json(candidates) : Json()},
        {"taken", candidates.taken}}},
      {"target", {{"runtime", in.runtime.name()}, {"device", in.runtime.device()}, {"threads", in.runtime.threads()}}},
      {"latency", optimise::to_json(verdict.latency)},
      {"checks", optimise::to_json(verdict.checks)},
      {"rewrites", report::trace_json(*in.rules, best.trace().rewrites, best.trace().cost_us)},
      {"rules", report::rules_json(*in.rules)}};
}

// What "best" does not mean of the model that is written.
std::string what_it_is(const optimise::Latency& latency) {
  if (latency.slower) return " (slower than the unmodified graph: no best.onnx is written)";
  if (!latency.ok()) return " (the best by cost; its latency could not be measured)";
  if (latency.rounds == 0) return " (the unmodified graph: nothing better was found)";
  return latency.faster ? "" : " (the best by cost; not shown to be faster than the unmodified graph)";
}

}  // namespace

Outcome conclude(const OutcomeInput& in, BestGraph& best, const Log& log) {
  // Operators may have been timed since the agent and the searches priced their graphs: all are compared at one time.
  const double initial_us = cost::graph_cost(in.cost, in.model.graph).runtime_us;
  best.reprice(initial_us);
  auto [result, candidates] = lowest(in, best.trace().rewrites, initial_us, log);
  // What no longer lowers the cost is not the best: the unmodified graph is.
  if (!in.by_latency && result.us(initial_us) >= initial_us) result = {in.model.graph, {}, {}};
  best.replace(result.trace, result.costs);
  const std::string origin =
      in.by_latency || in.polish || !in.start.empty() ? candidates_text(in, initial_us, candidates) : std::string();
  log.info("checking and measuring the best graph ({} rewrites)", best.trace().rewrites.size());
  const auto after = optimise::replayed(in.model, in.rules, result.trace);
  const graph::Graph& graph = after.graph;  // what is written is what was checked
  const auto verdict = optimise::judge(in.model, after, in.runtime, in.check, in.should_stop);
  // What was shown to be slower is not called best: the unmodified graph is better.
  const bool slower = verdict.latency.slower;
  if (!result.trace.empty() && !verdict.latency.faster)
    log.warn("the best graph by cost{} is {} the unmodified graph", in.polish ? ", polished," : "",
             slower ? "slower than" : "not shown to be faster than");
  const auto model_file = slower ? in.folder.path / "slower.onnx" : in.folder.best_onnx();
  const auto trace_file = slower ? in.folder.path / "slower.trace" : in.folder.best_trace();
  std::error_code ignored;
  if (slower) std::filesystem::remove(in.folder.best_trace(), ignored);
  atomic_write(trace_file, rules::to_text(best.trace(), *in.rules));
  const auto written = optimise::export_model(in.model, graph, model_file);

  std::string out = fmt::format("graph           {} ({} nodes -> {})\n", in.graph, in.model.graph.size(), graph.size());
  out += fmt::format("cost            {} -> {} ({}), sum over operators, {}\n", milliseconds(best.initial_us()),
                     milliseconds(best.best_us()), optimise::percent_change(best.initial_us(), best.best_us()),
                     in.cost.name());
  out += origin;
  out += optimise::to_text(verdict);
  out += fmt::format("rules applied   {} rewrites: {}\n", best.trace().rewrites.size(),
                     rules::count_rules(best.trace().rewrites, *in.rules));
  out += fmt::format("agent           {}{}: {}\n", in.interactions.agent, in.interactions.form,
                     interactions_text(in.interactions));
  if (in.by_latency) out += fmt::format("timings         {}\n", to_text(in.interactions.timings));
  out += fmt::format("model           {}{}\n", model_file.string(), what_it_is(verdict.latency));
  if (const auto normalised = optimise::normalisation_text(written); !normalised.empty())
    out += fmt::format("normalised      {}\n", normalised);
  atomic_write(in.folder.summary(), out);
  return {out, outcome_json(in, best, verdict, candidates, model_file, trace_file)};
}

}  // namespace rlgo::learner
