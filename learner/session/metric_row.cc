#include "learner/session/metric_row.h"

#include <nlohmann/json.hpp>

namespace rlgo::learner {
namespace {

constexpr double kMegabyte = 1 << 20;

}  // namespace

MetricRow metric_row(const EpochReport& e, const LoopState& state, double best_us, const MemoryPeak& memory) {
  MetricRow row = {{"epoch", e.epoch},
                   {"seconds", state.seconds},
                   {"steps", state.steps},
                   {"episodes", state.episodes},
                   {"best_cost_us", best_us},
                   {"episode_reward_mean", e.reward_mean},
                   {"episode_reward_max", e.reward_max},
                   {"episode_length_mean", e.length_mean},
                   {"episode_cost_mean_us", e.cost_mean_us},
                   {"episode_cost_best_us", e.cost_best_us},
                   {"epoch_episodes", e.episodes},
                   {"epoch_steps", e.steps},
                   {"epoch_dream_steps", e.dream_steps},
                   {"dropped_episodes", e.dropped},
                   {"lost_episodes", e.lost},
                   {"weights_version", e.version},
                   {"lag_min", e.lag_min},
                   {"lag_mean", e.lag_mean},
                   {"lag_max", e.lag_max},
                   {"collect_s", e.collect_s},
                   {"update_s", e.update_s},
                   {"waiting_fraction", e.waiting_fraction},
                   {"steps_per_s", e.steps_per_s},
                   {"actors", static_cast<int64_t>(e.actors)},
                   {"inferred_steps", e.inference.decided},
                   {"inference_batch", e.inference.batches > 0 ? static_cast<double>(e.inference.answered) /
                                                                     static_cast<double>(e.inference.batches)
                                                               : 0.0},
                   {"refused_questions", e.inference.refused},
                   {"fallback_steps", e.inference.fallback},
                   {"bytes_in", static_cast<int64_t>(e.bytes_in)},
                   {"bytes_out", static_cast<int64_t>(e.bytes_out)},
                   {"bytes_per_transition", e.trajectory_steps > 0 ? static_cast<double>(e.trajectory_bytes) /
                                                                         static_cast<double>(e.trajectory_steps)
                                                                   : 0.0},
                   {"host_memory_mb", memory.host_bytes / kMegabyte},
                   {"device_memory_mb", memory.device_bytes / kMegabyte}};
  for (const auto& [name, value] : e.update.values) row.emplace_back(name, value);
  return row;
}

std::vector<HyperParameter> hyper_parameters(const report::Json& options) {
  std::vector<HyperParameter> out;
  for (const auto& [key, value] : options.items()) {
    if (value.is_boolean())
      out.emplace_back(key, value.get<bool>());
    else if (value.is_number())
      out.emplace_back(key, value.get<double>());
    else if (value.is_string() && !value.get<std::string>().empty())
      out.emplace_back(key, value.get<std::string>());
  }
  return out;
}

}  // namespace rlgo::learner
