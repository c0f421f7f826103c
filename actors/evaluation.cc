#include "actors/evaluation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace rlgo::actors {
namespace {

class Tally : public Sink {
 public:
  void on_trajectory(mdp::Trajectory trajectory) override {
    double total = 0;
    for (const auto& step : trajectory.steps) total += step.reward;
    total_reward.push_back(total);
    length.push_back(static_cast<double>(trajectory.steps.size()));
    final_cost.push_back(trajectory.steps.empty() ? trajectory.initial_cost_us : trajectory.steps.back().info.cost_us);
    best_cost.push_back(trajectory.best_cost_us);
    report.steps += static_cast<int64_t>(trajectory.steps.size());
    report.terminal += trajectory.terminal ? 1 : 0;
    ++report.episodes;
    if (report.best.steps.empty() || trajectory.best_cost_us < report.best.best_cost_us)
      report.best = std::move(trajectory);
  }
  void on_lost(const LostEpisode&) override { ++report.lost; }

  EvaluationReport report;
  std::vector<double> total_reward, length, final_cost, best_cost;
};

// Sets the flag for the life of a scope.
class GreedyFor {
 public:
  GreedyFor(Policy& policy, bool greedy) : policy_(policy), before_(policy.greedy()) { policy.set_greedy(greedy); }
  ~GreedyFor() { policy_.set_greedy(before_); }
  GreedyFor(const GreedyFor&) = delete;
  GreedyFor& operator=(const GreedyFor&) = delete;

 private:
  Policy& policy_;
  bool before_;
};

}  // namespace

Spread Spread::of(const std::vector<double>& values) {
  Spread spread;
  if (values.empty()) return spread;
  const auto count = static_cast<double>(values.size());
  spread.mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  spread.min = *low;
  spread.max = *high;
  if (values.size() < 2) return spread;
  double squares = 0;
  for (double value : values) squares += (value - spread.mean) * (value - spread.mean);
  spread.deviation = std::sqrt(squares / (count - 1));
  return spread;
}

EvaluationReport evaluate(mdp::BatchEnv& envs, Policy& policy, const EvaluationOptions& options) {
  Tally tally;
  CollectorOptions collecting;
  collecting.seed = options.seed;
  collecting.rank = options.rank;
  Collector collector(envs, policy, tally, collecting);
  {
    const GreedyFor scope(policy, options.greedy);
    const auto may_start = [&] { return collector.next_episode() < options.episodes; };
    while (collector.round(may_start) > 0) {
      if (options.should_stop()) break;
    }
  }
  EvaluationReport report = std::move(tally.report);
  report.total_reward = Spread::of(tally.total_reward);
  report.length = Spread::of(tally.length);
  report.final_cost_us = Spread::of(tally.final_cost);
  report.best_cost_us = Spread::of(tally.best_cost);
  report.steps_per_s = collector.stats().steps_per_s();
  return report;
}

}  // namespace rlgo::actors
