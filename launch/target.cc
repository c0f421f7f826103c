#include "launch/target.h"

#include <cstdlib>

#include "launch/training.h"

namespace rlgo::launch {
namespace fs = std::filesystem;

std::string measurer_python(const Problem& config) {
  if (!config.cost.target.python.empty()) return config.cost.target.python;
  const char* of_package = std::getenv("RLGO_PYTHON");
  if (of_package != nullptr && *of_package != '\0') return of_package;
  const std::string of_set_up = RLGO_PYTHON;
  std::error_code error;
  return fs::exists(of_set_up, error) ? of_set_up : "python3";  // the user's own
}

Problem::Problem() {
  const char* cache = std::getenv("RLGO_CACHE");
  const char* home = std::getenv("HOME");
  if (cache != nullptr && *cache != '\0')
    cost.target.folder = std::string(cache) + "/costs";
  else if (home != nullptr && *home != '\0')
    cost.target.folder = std::string(home) + "/.cache/rlgo/costs";
  if (training() == nullptr) cost.target.runtime = "auto";
}

void check_target(const TargetOptions& target) {
  const char* path = std::getenv("PATH");
  optimise::check_target(target, path != nullptr ? path : "");
}

std::shared_ptr<cost::Runtime> start_runtime(const Problem& config, const Log& log, std::function<bool()> should_stop) {
  check_target(config.cost.target);
  optimise::RuntimeOptions options{config.cost.target, config.cost.timing, config.device, config.seed, {}, {}};
  options.target.python = measurer_python(config);
  if (training() != nullptr) {
    options.libtorch = training()->libtorch;
    options.cuda = training()->cuda;
  }
  return optimise::start_runtime(options, log, std::move(should_stop));
}

}  // namespace rlgo::launch
