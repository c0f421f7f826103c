// The learned cost's and the learning agent's part in making candidates.
#include <algorithm>

#include "core/base/error.h"
#include "core/base/temporary_folder.h"
#include "core/optimise/candidates.h"
#include "core/optimise/learned_search.h"

namespace rlgo::optimise {
namespace {

constexpr double kLearnShare = 0.5;           // of the time for the method
constexpr double kChooseShare = 0.4;          // of the time between searching and the end of comparisons
constexpr int kRounds = 8, kMoreRounds = 24;  // of one graph; where they take no time
constexpr double kNoTimeSeconds = 0.3;
constexpr size_t kFewestInTime = 4;  // graphs; with fewer nothing is learned
constexpr size_t kKept = 3;          // of the graphs that were timed, for the comparison that decides

}  // namespace

search::Result Candidates::found_by(const std::string& method, const search::Problem& problem,
                                    const search::Options& options) {
  if (method != "train") return search::run(method, problem, options);
  std::vector<rules::Trace> ways;
  for (const Candidate& candidate : result_.candidates) {
    if (!candidate.trace.empty()) ways.push_back(candidate.trace);
  }
  return parts_->train(problem, options, ways);
}

double Candidates::time_whole(const graph::Graph& graph) {
  const TemporaryFolder folder("rlgo-whole");  // with a file of weights, where they are many
  const auto file = folder.path() / "whole.onnx";
  export_model(model_, graph, file);
  const bool quick = benchmark_.timing().compare_s(2, kMoreRounds) < kNoTimeSeconds;
  const Latency timed = benchmark_.measure(
      {&graph, file}, quick ? kMoreRounds : kRounds, std::max(left(), 1e-3), [&] { return clock_.interrupted(); },
      false);
  if (!timed.ok()) fail("{}", timed.error);
  return timed.ratio;
}

void Candidates::search_and_learn() {
  const double until_s = plan_.search_s + kChooseShare * std::max(0.0, plan_.choose_s - plan_.search_s);
  const double begin_s = std::max(clock_.passed(), plan_.search_s - kLearnShare * (plan_.search_s - clock_.passed()));
  // Each is loaded again for every few rounds, so a measurement takes about twice a comparison.
  if (begin_s + kFewestInTime * 2 * benchmark_.timing().compare_s(2, kRounds) > until_s) {
    result_.learned.ended_by = "no time to time whole graphs";
    return search_further(plan_.search_s);
  }
  search_further(begin_s);
  learn(until_s);
}

void Candidates::learn(double until_s) {
  clock_.phase("timing whole models", "learning what whole models cost");
  timing_s_ = until_s;
  const LearnedParts parts = {
      .unmodified = model_.graph,
      .rules = result_.rules,
      .prices = cost_,
      .search =
          [&](const std::string& method, const graph::Graph& from, cost::CostModel& cost, double seconds) {
            auto found =
                run(method, from, result_.rules, cost, clock_.passed() + seconds, "the model, by learned cost");
            timing_s_ = until_s;
            return found;
          },
      .time = [&](const graph::Graph& graph, double) { return time_whole(graph); },
      .left_s = [&] { return clock_.interrupted() ? 0.0 : until_s - clock_.passed(); },
  };
  LearnedSearch search(parts, *timed_, options_.learned, options_.seed);
  for (const Candidate& c : result_.candidates) search.offer({c.name, c.graph, c.trace});
  search.run();
  for (const Proposal* found : search.fastest(kKept)) {
    if (add({.name = "learned cost: " + found->name, .graph = found->graph, .trace = found->trace}))
      result_.candidates.back().by_learned = true;
  }
  search_further(plan_.search_s);
  for (Candidate& c : result_.candidates) c.predicted_us = result_.before_us * search.predicted(c.graph, c.trace);
  const auto file = result_.learned.file;
  result_.learned = search.summary();
  result_.learned.file = file;
  if (clock_.interrupted()) result_.learned.ended_by = "interrupted";
}

}  // namespace rlgo::optimise
