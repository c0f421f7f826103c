#include "launch/commands/bench_scale.h"

#include <cmath>
#include <cstdio>
#include <ctime>
#include <optional>
#include <thread>

#include "actors/collector.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/stopwatch.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "core/cost/analytic.h"
#include "core/cost/decorators.h"
#include "core/rules/rule_choice.h"
#include "launch/model.h"
#include "launch/session.h"
#include "launch/train/algorithm_factory.h"
#include "launch/train/scale_job.h"
#include "learner/metrics.h"
#include "replay/summary.h"

namespace rlgo::launch {
namespace fs = std::filesystem;
namespace {

constexpr const char* kUsage =
    "usage: rlgo bench scale [--ranks 1,2,4] [--agent random | model-free | ...] [options]\n"
    "How a run grows with its actors: each number of them in a run of its own under mpirun, beside the environment\n"
    "without messages (docs/scale.md).\n";

struct ScaleOptions {
  std::vector<std::string> ranks = {"1", "2", "4", "8", "16", "32"};
  double seconds = 10;
  int64_t steps_per_actor = 512;
  std::string csv;
  std::string launcher = "mpirun --oversubscribe --bind-to none";
};

// Steps/s of one process on its own, without messages.
struct Bare {
  double env_per_s = 0;       // the environment alone: reset() and step()
  double loop_per_s = 0;      // with the agent's policy
  double loop_per_cpu_s = 0;  // the same by CPU time: what else runs on the machine counts less
};

struct Row {
  int actors = 0;
  Bare bare;
  double steps_per_s = 0;
  double waiting_share = 0;
  double lag_min = 0, lag_mean = 0, lag_max = 0;
  double message_bytes = 0, store_bytes = 0;  // a step
  double resident_mib = 0, private_mib = 0;   // of an actor: the largest
  double learner_mib = 0;                     // resident
  double actor_cpu = 0, learner_cpu = 0;      // cores, while all play
  double actor_sleeps = 0;                    // share of the time in which an actor neither runs nor could
  double update_us = 0;                       // of an update, a step
  double idle_cpu = 0;                        // cores, of an actor that waits: the largest
};

class Nowhere : public actors::Sink {
 public:
  void on_trajectory(mdp::Trajectory) override {}
  void on_lost(const actors::LostEpisode& lost) override { fail("episode lost: {}", lost.what); }
};

double own_cpu_s() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

Bare measure_bare(const RunConfig& config, const graph::Graph& graph, double seconds) {
  const auto rules = rules::choose_rules(config.rules);
  const auto prices = std::make_shared<cost::CachedCost>(std::make_unique<cost::AnalyticCost>());
  const auto play = [&](std::unique_ptr<mdp::BatchEnv> real, actors::Policy* policy) {
    Nowhere sink;
    actors::Collector collector(*real, *policy, sink, {.seed = 1});
    collector.round([] { return true; });  // first touch
    const auto before = collector.stats();
    const double cpu_before_s = own_cpu_s();
    const Stopwatch watch;
    while (watch.seconds() < seconds / 2) collector.round([] { return true; });
    const auto after = collector.stats();
    const auto steps = static_cast<double>(after.steps - before.steps);
    return Bare{steps / (after.env_s - before.env_s), steps / watch.seconds(), steps / (own_cpu_s() - cpu_before_s)};
  };
  const auto envs = [&] { return make_envs(config, graph, rules, prices, exec::Device(), config.envs_per_actor); };
  actors::RandomPolicy random;
  Bare bare = play(envs(), &random);
  if (config.agent == Agent::random) return bare;
  auto player = make_player(config, envs(), false);
  player.policy->load(make_algorithm({config, player.envs->spec(), exec::Device(), {}, {}})->weights(), 0);
  const Bare loop = play(std::move(player.envs), player.policy.get());
  return {bare.env_per_s, loop.loop_per_s, loop.loop_per_cpu_s};
}

struct Cores {
  double used = 0, wanted = 0;  // wanted: where none had been taken by others
};

// Of each rank between two looks.
std::map<int, Cores> cores(const std::map<int, learner::ProcessUse>& before,
                           const std::map<int, learner::ProcessUse>& after, double seconds) {
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
double idle_cores(ScaleJob& job, int64_t learners) {
  constexpr double kWindow_s = 3;
  job.hold_learner();
  double busiest = 0, before = 0;
  for (int window = 0; window < 10; ++window) {
    const auto first = job.ranks(false);
    const Stopwatch watch;
    job.wait(kWindow_s);
    before = busiest;
    busiest = 0;
    for (const auto& [rank, share] : cores(first, job.ranks(false), watch.seconds())) {
      if (rank >= learners) busiest = std::max(busiest, share.used);
    }
    if (window > 0 && busiest < 0.25 && std::abs(busiest - before) <= 0.01 + busiest / 4) break;  // all wait
  }
  return busiest;
}

void read_metrics(const RunMetrics& metrics, size_t first, Row& row) {
  const size_t last = metrics.rows.size() - 1;
  double epoch_s = 0, bytes_steps = 0, lag_rows = 0;
  row.lag_min = INFINITY;
  for (size_t i = first + 1; i <= last; ++i) {
    const double spent = metrics.at(i, "seconds") - metrics.at(i - 1, "seconds"), steps = metrics.at(i, "epoch_steps");
    epoch_s += spent;
    row.waiting_share += metrics.at(i, "waiting_share") * spent;
    row.update_us += 1e6 * metrics.at(i, "update_s");
    row.message_bytes += metrics.at(i, "bytes_per_transition") * steps;
    bytes_steps += steps;
    row.lag_min = std::min(row.lag_min, metrics.at(i, "lag_min"));
    row.lag_max = std::max(row.lag_max, metrics.at(i, "lag_max"));
    row.lag_mean += metrics.at(i, "lag_mean");
    lag_rows += 1;
  }
  row.steps_per_s = (metrics.at(last, "steps") - metrics.at(first, "steps")) / epoch_s;
  row.waiting_share /= epoch_s;
  row.update_us /= bytes_steps;
  row.message_bytes /= bytes_steps;
  row.lag_mean /= lag_rows;
}

Row measure_actors(const RunConfig& config, const graph::Graph& graph, const std::string& program, int actors,
                   const ScaleOptions& scale) {
  Row row;
  row.actors = actors;
  row.bare = measure_bare(config, graph, scale.seconds / 2);
  RunConfig run = config;
  run.loop.steps_per_epoch = scale.steps_per_actor * actors;
  ScaleJob job(run, {actors, scale.launcher, program});
  const size_t first = job.wait_for_actors(120 + 10.0 * actors);
  const auto before = job.ranks(false);
  const Stopwatch watch;
  do job.wait(1);
  while (watch.seconds() < scale.seconds || job.metrics().rows.size() < first + 4);
  const auto after = job.ranks(true);
  for (const auto& [rank, share] : cores(before, after, watch.seconds())) {
    if (rank == 0) row.learner_cpu = share.used;
    if (rank < config.loop.learners) continue;
    row.actor_cpu += share.used / actors;
    row.actor_sleeps += std::max(0.0, 1 - share.wanted) / actors;
  }
  read_metrics(job.metrics(), first, row);
  constexpr double kMiB = 1 << 20;
  for (const auto& [rank, use] : after) {
    if (rank == 0) row.learner_mib = static_cast<double>(use.resident_bytes) / kMiB;
    if (rank < config.loop.learners) continue;
    row.resident_mib = std::max(row.resident_mib, static_cast<double>(use.resident_bytes) / kMiB);
    row.private_mib = std::max(row.private_mib, static_cast<double>(use.private_bytes) / kMiB);
  }
  if (config.store_rollouts) row.store_bytes = replay::summarize(job.folder()).bytes_per_step();
  row.idle_cpu = idle_cores(job, config.loop.learners);
  return row;
}

// The numbers of a row by name: what the file holds.
learner::MetricRow cells(const RunConfig& config, const Row& r, const Row& one, unsigned cores) {
  const double each = r.steps_per_s / r.actors;
  return {{"graph", config.model.graph},
          {"agent", std::string(name_of(config.agent, kAgents))},
          {"actors", int64_t{r.actors}},
          {"learners", int64_t{config.loop.learners}},
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
          {"waiting_share", r.waiting_share},
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

std::string csv_of(const std::vector<learner::MetricRow>& rows) {
  std::string text;
  for (const auto& row : rows) {
    std::vector<std::string> names, values;
    for (const auto& [name, value] : row) {
      names.push_back(name);
      values.push_back(std::visit([](const auto& v) { return fmt::format("{}", v); }, value));
    }
    if (text.empty()) text = learner::csv_line(names) + "\n";
    text += learner::csv_line(values) + "\n";
  }
  return text;
}

constexpr const char* kTableHead =
    "        steps/s                     of one actor, percent of                    "
    "learner             bytes a step   MiB an actor     CPU\n"
    "actors  bare env  +policy      run  bare env  +policy  by CPU  rate(1)  sleeps  "
    "waits   lag          sent  stored   RSS  private    idle\n";

void print_row(const Row& r, const Row& one) {
  const double each = 100 * r.steps_per_s / r.actors;
  std::printf(
      "%6d %9.0f %8.0f %8.0f %9.1f %8.1f %7.1f %8.1f %6.1f%% %5.1f%%  %.0f/%.2f/%.0f %9.0f %7.0f %5.0f %8.0f %6.1f%%\n",
      r.actors, r.bare.env_per_s, r.bare.loop_per_s, r.steps_per_s, each / r.bare.env_per_s, each / r.bare.loop_per_s,
      each / r.actor_cpu / r.bare.loop_per_cpu_s, each / (one.steps_per_s / one.actors), 100 * r.actor_sleeps,
      100 * r.waiting_share, r.lag_min, r.lag_mean, r.lag_max, r.message_bytes, r.store_bytes, r.resident_mib,
      r.private_mib, 100 * r.idle_cpu);
  std::fflush(stdout);
}

int read_count(const std::string& text) {
  size_t used = 0;
  int value = 0;
  try {
    value = std::stoi(text, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  if (used != text.size() || value < 1 || value > 4096)
    fail_usage("--ranks: '{}' is no number of actors in [1..4096]", text);
  return value;
}

}  // namespace

int run_bench_scale(Context& context) {
  RunConfig config;
  config.agent = Agent::random;
  config.cost.kind = CostKind::analytic;
  ScaleOptions scale;
  Options options("scale");
  options.heading("Bench scale");
  options.texts("scale.ranks", scale.ranks, "numbers of actor ranks, separated by commas; the learners are more");
  options.number("scale.seconds", scale.seconds, 1, 3600,
                 "how long each run is watched once all its actors are at work, s");
  options.integer("scale.steps-per-actor", scale.steps_per_actor, 1, 1'000'000,
                  "--train.steps-per-epoch is this times the number of actors");
  options.text("scale.csv", scale.csv, "write the numbers to this file, too");
  options.text("scale.launcher", scale.launcher, "what starts the ranks; -np is added");
  declare(options, config);
  if (!read_command_line(options, context.arguments, kUsage)) return 0;
  std::vector<int> counts;
  for (const auto& text : scale.ranks) counts.push_back(read_count(text));
  const auto model = load_model(config.model, false);
  const std::string program = program_path().string();
  const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
  std::printf(
      "%s, agent %s, %u cores, %g s each; rate(N)/(N rate(1)) can be min(N, cores)/N at most; docs/scale.md explains "
      "the columns\n%s",
      config.model.graph.c_str(), name_of(config.agent, kAgents), cores, scale.seconds, kTableHead);
  std::vector<learner::MetricRow> rows;
  std::optional<Row> one;
  for (const int actors : counts) {
    const Row row = measure_actors(config, model.graph, program, actors, scale);
    if (!one) one = row;
    print_row(row, *one);
    rows.push_back(cells(config, row, *one, cores));
    if (!scale.csv.empty()) atomic_write(scale.csv, csv_of(rows));
  }
  return 0;
}

}  // namespace rlgo::launch
