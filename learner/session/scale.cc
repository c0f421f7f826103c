#include "learner/session/scale.h"

#include <sys/resource.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "actors/collector.h"
#include "core/base/error.h"
#include "core/base/stopwatch.h"
#include "replay/summary.h"

namespace rlgo::learner {
namespace {

class Nowhere : public actors::Sink {
 public:
  void on_trajectory(mdp::Trajectory) override {}
  void on_lost(const actors::LostEpisode& lost) override { fail("episode lost: {}", lost.what); }
};

double own_cpu_s() {
  rusage use{};
  ::getrusage(RUSAGE_SELF, &use);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(use.ru_utime) + seconds(use.ru_stime);
}

struct Cores {
  double used = 0, wanted = 0;  // wanted: where none had been taken by others
};

// Of each rank between two looks.
std::map<int, Cores> cores(const std::map<int, ProcessUse>& before, const std::map<int, ProcessUse>& after,
                           double seconds) {
  std::map<int, Cores> ranks;
  for (const auto& [rank, use] : after) {
    if (const auto found = before.find(rank); found != before.end()) {
      const double used = (use.cpu_s - found->second.cpu_s) / seconds;
      ranks[rank] = {used, used + (use.ready_s - found->second.ready_s) / seconds};
    }
  }
  return ranks;
}

// The learner is held, so that the actors use up their permission and then wait: what the busiest one takes then.
double idle_cores(ScaleJob& job, int learners) {
  constexpr double kWindow_s = 3;
  job.hold_learner();
  double busiest = 0, before = 0;
  for (int window = 0; window < 10; ++window) {
    const auto first = job.ranks(false);
    const Stopwatch watch;
    job.wait(kWindow_s);
    before = busiest;
    busiest = 0;
    for (const auto& [rank, core] : cores(first, job.ranks(false), watch.seconds())) {
      if (rank >= learners) busiest = std::max(busiest, core.used);
    }
    if (window > 0 && busiest < 0.25 && std::abs(busiest - before) <= 0.01 + busiest / 4) break;  // all wait
  }
  return busiest;
}

void read_metrics(const RunMetrics& metrics, size_t first, ScaleRow& row) {
  const size_t last = metrics.rows.size() - 1;
  double epoch_s = 0, bytes_steps = 0, lag_rows = 0;
  row.lag_min = INFINITY;
  for (size_t i = first + 1; i <= last; ++i) {
    const double spent = metrics.at(i, "seconds") - metrics.at(i - 1, "seconds"), steps = metrics.at(i, "epoch_steps");
    epoch_s += spent;
    row.waiting_fraction += metrics.at(i, "waiting_fraction") * spent;
    row.update_us += 1e6 * metrics.at(i, "update_s");
    row.message_bytes += metrics.at(i, "bytes_per_transition") * steps;
    bytes_steps += steps;
    row.lag_min = std::min(row.lag_min, metrics.at(i, "lag_min"));
    row.lag_max = std::max(row.lag_max, metrics.at(i, "lag_max"));
    row.lag_mean += metrics.at(i, "lag_mean");
    lag_rows += 1;
  }
  row.steps_per_s = (metrics.at(last, "steps") - metrics.at(first, "steps")) / epoch_s;
  row.waiting_fraction /= epoch_s;
  row.update_us /= bytes_steps;
  row.message_bytes /= bytes_steps;
  row.lag_mean /= lag_rows;
}

}  // namespace

LoopSpeed measure_loop(mdp::BatchEnv& envs, actors::Policy& policy, double seconds) {
  Nowhere sink;
  actors::Collector collector(envs, policy, sink, {.seed = 1});
  collector.round([] { return true; });  // first touch
  const auto before = collector.stats();
  const double cpu_before_s = own_cpu_s();
  const Stopwatch watch;
  while (watch.seconds() < seconds) collector.round([] { return true; });
  const auto after = collector.stats();
  const auto steps = static_cast<double>(after.steps - before.steps);
  return {steps / (after.env_s - before.env_s), steps / watch.seconds(), steps / (own_cpu_s() - cpu_before_s)};
}

ScaleRow measure_actors(const ScaleJobOptions& options, const LoopSpeed& bare, double seconds) {
  ScaleRow row;
  row.actors = options.actors;
  row.bare = bare;
  ScaleJob job(options);
  const size_t first = job.wait_for_actors(120 + 10.0 * options.actors);
  const auto before = job.ranks(false);
  const Stopwatch watch;
  do job.wait(1);
  while (watch.seconds() < seconds || job.metrics().rows.size() < first + 4);
  const auto after = job.ranks(true);
  for (const auto& [rank, core] : cores(before, after, watch.seconds())) {
    if (rank == 0) row.learner_cpu = core.used;
    if (rank < options.learners) continue;
    row.actor_cpu += core.used / options.actors;
    row.actor_sleeps += std::max(0.0, 1 - core.wanted) / options.actors;
  }
  read_metrics(job.metrics(), first, row);
  constexpr double kMiB = 1 << 20;
  for (const auto& [rank, use] : after) {
    if (rank == 0) row.learner_mib = static_cast<double>(use.resident_bytes) / kMiB;
    if (rank < options.learners) continue;
    row.resident_mib = std::max(row.resident_mib, static_cast<double>(use.resident_bytes) / kMiB);
    row.private_mib = std::max(row.private_mib, static_cast<double>(use.private_bytes) / kMiB);
  }
  if (options.stores) row.store_bytes = replay::summarize(job.folder()).bytes_per_step();
  row.idle_cpu = idle_cores(job, options.learners);
  return row;
}

// The numbers of a row by name: what the file holds.
MetricRow cells(const std::string& graph, const std::string& agent, int learners, const ScaleRow& r,
                const ScaleRow& one, unsigned cores) {
  const double each = r.steps_per_s / r.actors;
  return {{"graph", graph},
          {"agent", agent},
          {"actors", int64_t{r.actors}},
          {"learners", int64_t{learners}},
          {"cores", int64_t{cores}},
          {"env_per_s", r.bare.env_per_s},
          {"loop_per_s", r.bare.loop_per_s},
          {"loop_per_cpu_s", r.bare.loop_per_cpu_s},
          {"steps_per_s", r.steps_per_s},
          {"steps_per_s_per_actor", each},
          {"of_env", each / r.bare.env_per_s},
          {"of_loop", each / r.bare.loop_per_s},
          {"of_loop_by_cpu", each / r.actor_cpu / r.bare.loop_per_cpu_s},
          {"efficiency", each / (one.steps_per_s / one.actors)},
          {"cores_allow", std::min<double>(r.actors, cores) / r.actors},
          {"waiting_fraction", r.waiting_fraction},
          {"lag_min", r.lag_min},
          {"lag_mean", r.lag_mean},
          {"lag_max", r.lag_max},
          {"message_bytes", r.message_bytes},
          {"store_bytes", r.store_bytes},
          {"actor_resident_mib", r.resident_mib},
          {"actor_private_mib", r.private_mib},
          {"learner_resident_mib", r.learner_mib},
          {"actor_cpu", r.actor_cpu},
          {"learner_cpu", r.learner_cpu},
          {"actor_sleeps", r.actor_sleeps},
          {"update_us", r.update_us},
          {"idle_cpu", r.idle_cpu}};
}

std::string csv_of(const std::vector<MetricRow>& rows) {
  std::string text;
  for (const auto& row : rows) {
    std::vector<std::string> names, values;
    for (const auto& [name, value] : row) {
      names.push_back(name);
      values.push_back(std::visit([](const auto& v) { return fmt::format("{}", v); }, value));
    }
    if (text.empty()) text = csv_line(names) + "\n";
    text += csv_line(values) + "\n";
  }
  return text;
}

const char* const kScaleHeading =
    "        steps/s                     of one actor, percent of                    "
    "learner             bytes a step   MiB an actor     CPU\n"
    "actors  bare env  +policy      run  bare env  +policy  by CPU  rate(1)  sleeps  "
    "waits   lag          sent  stored   RSS  private    idle\n";

std::string to_text(const ScaleRow& r, const ScaleRow& one) {
  const double each = 100 * r.steps_per_s / r.actors;
  return fmt::format(
      "{:>6} {:>9.0f} {:>8.0f} {:>8.0f} {:>9.1f} {:>8.1f} {:>7.1f} {:>8.1f} {:>6.1f}% {:>5.1f}%  "
      "{:.0f}/{:.2f}/{:.0f} {:>9.0f} {:>7.0f} {:>5.0f} {:>8.0f} {:>6.1f}%\n",
      r.actors, r.bare.env_per_s, r.bare.loop_per_s, r.steps_per_s, each / r.bare.env_per_s, each / r.bare.loop_per_s,
      each / r.actor_cpu / r.bare.loop_per_cpu_s, each / (one.steps_per_s / one.actors), 100 * r.actor_sleeps,
      100 * r.waiting_fraction, r.lag_min, r.lag_mean, r.lag_max, r.message_bytes, r.store_bytes, r.resident_mib,
      r.private_mib, 100 * r.idle_cpu);
}

}  // namespace rlgo::learner
