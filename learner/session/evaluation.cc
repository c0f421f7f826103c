#include "learner/session/evaluation.h"

#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/file.h"

namespace rlgo::learner {
namespace {

using report::Json;

constexpr const char* kHeader =
    "run,agent,seed,temperature,mode,episodes,return_mean,return_deviation,length_mean,final_cost_mean_us,best_cost_us,"
    "lost\n";

Json to_json(const actors::Spread& s) {
  return {{"mean", s.mean}, {"deviation", s.deviation}, {"min", s.min}, {"max", s.max}};
}

}  // namespace

std::string csv_row(const EvaluatedRun& run, const Played& p) {
  const auto& r = p.report;
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\n", run.name, run.agent, run.seed, run.temperature, p.mode,
                     r.episodes, r.total_reward.mean, r.total_reward.deviation, r.length.mean,
                     p.mode == "dream" ? std::numeric_limits<double>::quiet_NaN() : r.final_cost_us.mean,
                     p.mode == "dream" ? std::numeric_limits<double>::quiet_NaN() : r.best_cost_us.min, r.lost);
}

void append_rows(const std::string& path, const std::string& rows) {
  std::error_code error;
  const std::string before = std::filesystem::exists(path, error) ? read_file(path) : kHeader;
  if (!before.starts_with(kHeader))
    fail("{}: not a table of rlgo evaluate (its first line differs); name another file", path);
  atomic_write(path, before + rows);
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

}  // namespace rlgo::learner
