#include "learner/session/gpu_sizes.h"

#include "core/base/error.h"
#include "core/exec/device_tools.h"

namespace rlgo::learner {

bool learns_on_gpu(const LearnersOptions& options) {
  if (options.device == "cpu" || (options.learners > 1 && options.device == "auto")) return false;
  try {
    return !exec::usable_gpus(options.device).empty();
  } catch (const Error&) {
    return false;  // the run reports it
  }
}

std::string fit_gpu(const std::function<bool(const std::string&)>& unset, LoopOptions& loop, PpoOptions& ppo,
                    WorldTrainerOptions& world) {
  std::string raised;
  const auto raise = [&](const std::string& key, auto& option, auto value) {
    if (!unset(key)) return;
    option = value;
    raised += fmt::format(" --{} {}", key, value);
  };
  raise("train.steps-per-epoch", loop.steps_per_epoch, 8192);
  raise("ppo.minibatch", ppo.minibatch, 2048);
  raise("wm.batch", world.batch, 64);
  // To find equal rows takes the host longer than a GPU needs to compute all of them.
  raise("ppo.distinct-rows", ppo.distinct_rows, false);
  return raised.empty() ? "" : "sizes for a GPU:" + raised;
}

}  // namespace rlgo::learner
