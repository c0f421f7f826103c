#include "launch/target.h"

#include <algorithm>
#include <cstdlib>

#include "core/base/error.h"
#include "core/exec/runtime.h"
#include "learner/session/run_folder.h"

namespace rlgo::launch {
namespace fs = std::filesystem;

std::string measurer_python(const RunConfig& config) {
  if (!config.cost.target.python.empty()) return config.cost.target.python;
  const std::string of_set_up = RLGO_PYTHON;
  std::error_code error;
  return fs::exists(of_set_up, error) ? of_set_up : "python3";  // the user's own
}

namespace {

// A run folder may be somebody else's: a measurer's command, or a Python, that stands in its config.cfg is not run.
void check_target_of_run(const Options& options, const RunConfig& config, const fs::path& folder) {
  const auto& [runtime, python] = config.cost.target;
  const auto names = optimise::known_targets();
  const bool known = std::ranges::find(names, runtime) != names.end();
  const auto refuse = [&](const char* option, const std::string& value) {
    fail(
        "{}: its config.cfg asks to run '{}'; a command of a run folder is not run unless the command line names it "
        "too: "
        "--{} '{}'",
        folder.string(), value, option, value);
  };
  if (!known && options.source("target") == Source::resumed) refuse("target", runtime);
  if (!python.empty() && options.source("target.python") == Source::resumed) refuse("target.python", python);
}

std::shared_ptr<cost::Runtime> libtorch_runtime(const optimise::RuntimeOptions& options, const Log& log,
                                                std::function<bool()> should_stop) {
  exec::MeasureOptions how{options.timing};
  how.deadline = Deadline::when(std::move(should_stop));
  std::string remark;
  const auto device = exec::resolve_device(options.device, &remark);
  if (!remark.empty()) log.warn("{}", remark);
  return std::make_shared<exec::LibTorchRuntime>(device, how);
}

}  // namespace

void check_target(const TargetOptions& target) {
  const char* path = std::getenv("PATH");
  optimise::check_target(target, path != nullptr ? path : "");
}

void read_run_options(Options& options, RunConfig& config, const learner::RunFolder& folder) {
  options.parse_config(learner::run_options(folder.path), folder.config().string(), Source::resumed);
  check_target_of_run(options, config, folder.path);
}

std::shared_ptr<cost::Runtime> start_runtime(const RunConfig& config, const Log& log,
                                             std::function<bool()> should_stop) {
  check_target(config.cost.target);
  optimise::RuntimeOptions options{config.cost.target, config.cost.timing, config.device, config.seed};
  options.target.python = measurer_python(config);
  options.libtorch = libtorch_runtime;
  return optimise::start_runtime(options, log, std::move(should_stop));
}

}  // namespace rlgo::launch
