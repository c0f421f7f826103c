#include "learner/session/evaluation.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "actors/collector.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "learner/dream/dream_agent.h"
#include "learner/metrics.h"

namespace rlgo::learner {
namespace {

using report::Json;

constexpr const char* kHeader =
    "run,graph,agent,seed,temperature,mode,episodes,return_mean,return_deviation,length_mean,final_cost_mean_us,best_"
    "cost_us,"
    "lost\n";

Json to_json(const actors::Spread& s) {
  return {{"mean", s.mean}, {"deviation", s.deviation}, {"min", s.min}, {"max", s.max}};
}

std::string csv_row(const Evaluation& e, const Played& p) {
  const auto& r = p.report;
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  const bool real = p.mode != "dream";
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_line({e.run.filename().string(), e.graph}), e.agent,
                     e.seed, e.temperature, p.mode, r.episodes, r.total_reward.mean, r.total_reward.deviation,
                     r.length.mean, real ? r.final_cost_us.mean : unknown, real ? r.best_cost_us.min : unknown, r.lost);
}

std::string to_text(const Played& p, double initial_us) {
  const auto& r = p.report;
  std::string out = fmt::format("{:<8} return {:8.3f} +- {:.3f} %  length {:5.1f}", p.mode, r.total_reward.mean,
                                r.total_reward.deviation, r.length.mean);
  if (p.mode != "dream") {
    out += fmt::format("  cost {:.3f} -> {:.3f} ms at the end, {:.3f} ms at best ({:+.2f} %)", initial_us / 1e3,
                       r.final_cost_us.mean / 1e3, r.best_cost_us.min / 1e3,
                       100 * (r.best_cost_us.min - initial_us) / initial_us);
  }
  return out + fmt::format("  {} episodes{}\n", r.episodes, r.lost > 0 ? fmt::format(", {} lost", r.lost) : "");
}

Json to_json(const Played& p) {
  const auto& r = p.report;
  const bool real = p.mode != "dream";
  return {{"mode", p.mode},
          {"episodes", r.episodes},
          {"lost", r.lost},
          {"return_percent", to_json(r.total_reward)},
          {"length", to_json(r.length)},
          {"final_cost_us", real ? to_json(r.final_cost_us) : Json()},
          {"best_cost_us", real ? to_json(r.best_cost_us) : Json()}};
}

// Dream-predicted less real return, both sampled; nothing where there is no dream.
std::optional<double> gap_of(const Evaluation& e) {
  if (e.played.size() < 3) return {};
  return e.played[2].report.total_reward.mean - e.played[0].report.total_reward.mean;
}

}  // namespace

void append_rows(const std::string& path, const std::string& rows) {
  std::error_code error;
  const std::string before = std::filesystem::exists(path, error) ? read_file(path) : kHeader;
  if (!before.starts_with(kHeader))
    fail("{}: not a table of rlgo evaluate (its first line differs); name another file", path);
  atomic_write(path, before + rows);
}

namespace {

class KeepAll : public actors::Sink {
 public:
  void on_trajectory(mdp::Trajectory t) override { all.push_back(std::move(t)); }
  void on_lost(const actors::LostEpisode& lost) override { fail("episode {} failed: {}", lost.episode, lost.what); }
  std::vector<mdp::Trajectory> all;
};

std::string name_of(WorldTrainer::Clips clips) {
  return clips.reward && clips.latent ? "both" : clips.reward ? "reward" : clips.latent ? "latent" : "none";
}

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

std::string to_text(const WorldCheck& check) {
  std::string out = fmt::format("world model on {} episodes of its controller ({} steps), {} states to dream from\n",
                                check.episodes, check.steps, check.states);
  for (const auto& v : check.variants) {
    out += fmt::format("clip {:<7} reward correlation {:.3f}  counts exact {:.1f} %\n", name_of(v.clips),
                       v.score.reward_correlation, 100 * v.score.counts_exact);
    for (size_t i = 0; i < WorldScore::kReach; ++i) {
      const auto& r = v.returns[i];
      out += fmt::format(
          "  {:3d} steps  drift {:6.3f}  of reward {:7.3f} %  counts exact {:5.1f} %  return {:7.3f} % real, {:7.3f} % "
          "dreamed (gap {:+.3f} +- {:.3f}, {} states)\n",
          r.steps, v.score.drift[i], v.score.drift_reward[i], 100 * v.score.exact[i], r.real, r.dream, r.gap(),
          r.deviation, r.states);
    }
  }
  return out;
}

Json to_json(const WorldCheck& check) {
  Json variants = Json::array();
  for (const auto& v : check.variants) {
    Json horizons = Json::array();
    for (size_t i = 0; i < WorldScore::kReach; ++i) {
      const auto& r = v.returns[i];
      horizons.push_back({{"steps", r.steps},
                          {"drift", number(v.score.drift[i])},
                          {"drift_reward_percent", number(v.score.drift_reward[i])},
                          {"counts_exact", number(v.score.exact[i])},
                          {"states", r.states},
                          {"real_return_percent", r.states > 0 ? Json(r.real) : Json()},
                          {"dream_return_percent", r.states > 0 ? Json(r.dream) : Json()},
                          {"gap_deviation_percent", r.states > 0 ? Json(r.deviation) : Json()}});
    }
    variants.push_back({{"clip", name_of(v.clips)},
                        {"reward_correlation", v.score.reward_correlation},
                        {"reward_mse", v.score.reward_mse},
                        {"counts_exact", v.score.counts_exact},
                        {"mask_f1", v.score.mask_f1},
                        {"nll", number(v.score.nll)},
                        {"horizons", std::move(horizons)}});
  }
  return {{"episodes", check.episodes}, {"steps", check.steps}, {"states", check.states}, {"clips", variants}};
}

double fraction(double part, int64_t of) { return of > 0 ? part / static_cast<double>(of) : 0.0; }

std::string name_of(actors::Truth truth) {
  const std::pair<bool, const char*> parts[] = {
      {truth.reward, "reward"}, {truth.masks, "masks"}, {truth.state, "state"}};
  std::string name;
  for (const auto& [real, part] : parts)
    if (real) name += (name.empty() ? "" : "+") + std::string(part);
  return name.empty() ? "none" : name;
}

std::string to_text(const SwapCheck& check) {
  std::string out = fmt::format("dreams with true parts, from {} states behind {} random rewrites (return {:.3f} %)\n",
                                check.starts, check.prefix, check.before);
  const auto returns = [](const std::vector<SwapReturn>& all) {
    std::string line = " return";
    for (const auto& r : all) line += fmt::format(" {:8.3f}", r.mean);
    return line + fmt::format(" % after {} steps (+- {:.3f} to reality)\n", all.back().steps, all.back().deviation);
  };
  for (const auto& s : check.swaps) {
    out += fmt::format("  true {:<18}{}", name_of(s.truth), returns(s.returns));
    out += fmt::format(
        "  {:<23} actions that reality does not have {:.1f} %  counts wrong {:.1f} %  latent off by {:.3f}\n", "",
        100 * fraction(static_cast<double>(s.apart.illegal), s.apart.steps),
        100 * fraction(static_cast<double>(s.apart.wrong), s.apart.rules), fraction(s.apart.distance, s.apart.states));
  }
  return out + fmt::format("  {:<23}{}", "at random, in reality", returns(check.random));
}

Json to_json(const std::vector<SwapReturn>& returns) {
  Json horizons = Json::array();
  for (const auto& r : returns)
    horizons.push_back({{"steps", r.steps}, {"return_percent", r.mean}, {"gap_deviation_percent", r.deviation}});
  return horizons;
}

Json to_json(const SwapCheck& check) {
  Json swaps = Json::array();
  for (const auto& s : check.swaps) {
    swaps.push_back({{"true", name_of(s.truth)},
                     {"illegal_fraction", fraction(static_cast<double>(s.apart.illegal), s.apart.steps)},
                     {"counts_wrong_fraction", fraction(static_cast<double>(s.apart.wrong), s.apart.rules)},
                     {"latent_distance", fraction(s.apart.distance, s.apart.states)},
                     {"horizons", to_json(s.returns)}});
  }
  return {{"prefix", check.prefix},
          {"starts", check.starts},
          {"before_percent", check.before},
          {"swaps", std::move(swaps)},
          {"random", to_json(check.random)}};
}

}  // namespace

std::string csv_rows(const Evaluation& e) {
  std::string rows;
  for (const auto& p : e.played) rows += csv_row(e, p);
  return rows;
}

std::string to_text(const Evaluation& e) {
  std::string text =
      fmt::format("{}, agent {}, checkpoint {}, temperature {:g}; returns in percent of the initial cost (reward {})\n",
                  e.graph, e.agent, e.checkpoint.string(), e.temperature, e.reward);
  for (const auto& p : e.played) text += to_text(p, e.initial_us);
  if (const auto gap = gap_of(e))
    text += fmt::format("gap      {:.3f} % (dream-predicted less real return, both sampled)\n", *gap);
  if (e.world) text += to_text(*e.world);
  return e.swaps ? text + to_text(*e.swaps) : text;
}

Json to_json(const Evaluation& e) {
  Json played = Json::array();
  for (const auto& p : e.played) played.push_back(to_json(p));
  const auto gap = gap_of(e);
  return {{"run", e.run.string()},
          {"checkpoint", report::file_json(e.checkpoint)},
          {"graph", e.graph},
          {"agent", e.agent},
          {"reward", e.reward},
          {"initial_cost_us", e.initial_us},
          {"played", std::move(played)},
          {"gap_percent", gap ? Json(*gap) : Json()},
          {"world_model", e.world ? to_json(*e.world) : Json()},
          {"swaps", e.swaps ? to_json(*e.swaps) : Json()}};
}

namespace {

DreamAgent& dreaming(Algorithm& algorithm, const char* option) {
  auto* agent = dynamic_cast<DreamAgent*>(&algorithm);
  if (agent == nullptr) fail("the agent has no world model to look at; leave out {}", option);
  return *agent;
}

}  // namespace

WorldCheck check_world(Algorithm& algorithm, mdp::BatchEnv& envs, actors::Policy& policy,
                       actors::EvaluationOptions how) {
  auto& agent = dreaming(algorithm, "--world-model");
  KeepAll sink;
  actors::CollectorOptions options;
  options.seed = how.seed;
  options.rank = how.rank;
  policy.set_greedy(false);
  actors::Collector collector(envs, policy, sink, options);
  while (collector.round([&] { return collector.next_episode() < how.episodes; }) > 0 && !how.should_stop()) {
  }
  std::ranges::sort(sink.all, {}, &mdp::Trajectory::episode);
  return agent.check(pointers(sink.all), how.seed);
}

SwapCheck check_swaps(Algorithm& algorithm, std::unique_ptr<mdp::BatchEnv> envs, int prefix, uint64_t seed) {
  const std::vector<int> horizons(std::begin(WorldScore::kHorizons), std::end(WorldScore::kHorizons));
  return dreaming(algorithm, "--swaps").swaps(std::move(envs), prefix, horizons, seed);
}

}  // namespace rlgo::learner
