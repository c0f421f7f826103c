#include "learner/session/whole_timings.h"

#include <cmath>
#include <utility>

#include "core/base/error.h"
#include "core/optimise/whole_timer.h"

namespace rlgo::learner {

std::string timed_under(env::Reward reward, const cost::Runtime& runtime) {
  return reward == env::Reward::latency ? optimise::timed_under(runtime) : "";
}

TimerOf timer_of(std::shared_ptr<cost::Runtime> runtime, env::Reward reward, int rounds, const std::string& under) {
  const std::string here = timed_under(reward, *runtime);
  if (!under.empty() && under != here)
    fail("--env.reward {}: rank 0 times graphs under {}, this rank under {}; use hosts that are alike",
         name_of(reward, env::kRewards), under, here);
  const auto looks =
      reward == env::Reward::latency ? optimise::looks_for_latency(rounds) : optimise::WholeTimerOptions{rounds};
  return [runtime = std::move(runtime), looks](const optimise::LoadedModel& model) {
    const auto write = [](const auto& of, const auto& graph, const auto& path) {
      optimise::export_model(of, graph, path);
    };
    return optimise::whole_timer(runtime, model, looks, write);
  };
}

void expect_timed_under(const Checkpoint& checkpoint, const std::string& under, const std::filesystem::path& place) {
  const auto at = checkpoint.texts.find("timed_under");
  const std::string before = at == checkpoint.texts.end() ? "" : at->second;
  if (before == under) return;
  const auto text = [](const std::string& key) { return key.empty() ? "no timings of whole graphs" : key; };
  fail(
      "{}: made under {}, this run is under {}; latencies of the two are not mixed: continue there, or begin another "
      "run",
      place.string(), text(before), text(under));
}

void WholeTimings::add(const mdp::Trajectory& trajectory) {
  for (const mdp::Step& step : trajectory.steps) {
    shown += step.info.timing == mdp::WholeTimed::shown ? 1 : 0;
    within_noise += step.info.timing == mdp::WholeTimed::within_noise ? 1 : 0;
    failed += step.info.timing == mdp::WholeTimed::failed ? 1 : 0;
  }
}

std::string to_text(const WholeTimings& timings) {
  return fmt::format("{} graphs timed: {} differed from the one before, {} were within noise, {} failed", timings.all(),
                     timings.shown, timings.within_noise, timings.failed);
}

void add_timings(WholeTimings& timings, const std::vector<RunGraph>& graphs, MetricRow& row, const Log& log) {
  if (!graphs[0].best->by_latency()) return;
  double logs = 0;
  for (const RunGraph& graph : graphs) logs += std::log(graph.best->latency_bound());
  row.emplace_back("timings", timings.all());
  row.emplace_back("timings_within_noise", timings.within_noise);
  row.emplace_back("timings_failed", timings.failed);
  row.emplace_back("best_latency", std::exp(logs / static_cast<double>(graphs.size())));
  if (timings.failed > timings.logged)
    log.warn("{} timings of whole graphs failed, {} of {} in all: these steps earned nothing",
             timings.failed - timings.logged, timings.failed, timings.all());
  timings.logged = timings.failed;
}

}  // namespace rlgo::learner
