#include "launch/target.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "core/base/error.h"
#include "core/base/shipped.h"
#include "core/base/text.h"
#include "core/base/usage.h"
#include "core/exec/runtime.h"
#include "core/measure/runtime.h"

namespace rlgo::launch {
namespace fs = std::filesystem;
namespace {

constexpr const char* kShipped[] = {"onnxruntime", "openvino"};

std::string python(const RunConfig& config) {
  if (!config.cost.target.python.empty()) return config.cost.target.python;
  std::error_code error;
  return fs::exists(RLGO_PYTHON, error) ? RLGO_PYTHON : "python3";  // of set-up, or the user's own
}

std::vector<std::string> known_targets() {
  std::vector<std::string> known = {"auto", "libtorch"};
  known.insert(known.end(), std::begin(kShipped), std::end(kShipped));
  return known;
}

// Whether a shell would find a program of this name.
bool on_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  for (const auto& folder : split(path != nullptr ? path : "", ':')) {
    if (::access((fs::path(folder) / name).c_str(), X_OK) == 0) return true;
  }
  return false;
}

}  // namespace

void check_target(const TargetOptions& target) {
  const std::string& name = target.runtime;
  const auto known = known_targets();
  const auto plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_'; };
  const bool command = !std::ranges::all_of(name, plain) || (!name.empty() && on_path(name));
  if (command || std::ranges::find(known, name) != known.end()) return;
  fail_usage("--target '{}': no such runtime{}; known: {}, or the command of a measurer (docs/measurers.md)", name,
             did_you_mean(name, known), join(known, ", "));
}

std::vector<std::string> measurer_command(const RunConfig& config) {
  for (const std::string shipped : kShipped) {
    if (config.cost.target.runtime != shipped) continue;
    const std::string file = shipped + "_measurer.py";
    return {python(config), shipped_file({"launch/measurers/" + file, "share/rlgo/measurers/" + file}).string()};
  }
  // A shell, so that it may have arguments and quotes.
  return {"sh", "-c", "exec " + config.cost.target.runtime};
}

void check_target_of_run(const Options& options, const RunConfig& config, const fs::path& folder) {
  const auto& [runtime, python] = config.cost.target;
  const auto names = known_targets();
  const bool known = std::ranges::find(names, runtime) != names.end();
  const auto refuse = [&](const char* option, const std::string& value) {
    fail(
        "{}: its config.cfg asks to run '{}'; a command of a run folder is not run unless the command line says it "
        "too: "
        "--{} '{}'",
        folder.string(), value, option, value);
  };
  if (!known && options.source("target") == Source::resumed) refuse("target", runtime);
  if (!python.empty() && options.source("target.python") == Source::resumed) refuse("target.python", python);
}

exec::MeasureOptions measure_options(const RunConfig& config) {
  exec::MeasureOptions options;
  options.warmup = config.cost.timing.warmup;
  options.repeats = config.cost.timing.repeats;
  options.min_sample_us = config.cost.timing.min_sample_us;
  options.threads = config.cost.timing.threads;
  return options;
}

std::shared_ptr<cost::Runtime> start_runtime(const RunConfig& config, const Log& log,
                                             std::function<bool()> should_stop) {
  check_target(config.cost.target);
  if (config.cost.target.runtime == "auto") {
    RunConfig one = config;
    try {
      one.cost.target.runtime = "onnxruntime";
      return start_runtime(one, log, should_stop);
    } catch (const Error& e) {
      log.info("costs and times are LibTorch's: {}", e.what());
      one.cost.target.runtime = "libtorch";
      return start_runtime(one, log, should_stop);
    }
  }
  if (!config.is_external())
    return std::make_shared<exec::LibTorchRuntime>(exec::resolve_device(config.device), measure_options(config));
  measure::MeasurerOptions options;
  options.threads = config.cost.timing.threads;
  options.warmup = config.cost.timing.warmup;
  options.repeats = config.cost.timing.repeats;
  options.min_sample_us = config.cost.timing.min_sample_us;
  options.seed = config.seed + 1;
  options.should_stop = std::move(should_stop);
  try {
    return std::make_shared<measure::ChildRuntime>(
        std::make_shared<measure::Measurer>(measurer_command(config), options, log));
  } catch (const Error& e) {
    throw e.in("--target " + config.cost.target.runtime);
  }
}

}  // namespace rlgo::launch
