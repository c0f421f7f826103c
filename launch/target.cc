#include "launch/target.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/exec/measure.h"
#include "launch/session.h"

namespace rlgo::launch {
namespace fs = std::filesystem;
namespace {

constexpr const char* kShipped[] = {"onnxruntime", "openvino"};

std::string python(const RunConfig& config) {
  if (!config.target_python.empty()) return config.target_python;
  std::error_code error;
  return fs::exists(RLGO_PYTHON, error) ? RLGO_PYTHON : "python3";  // of set-up, or the user's own
}

// "sh" runs any other command, so that it may have arguments and quotes.
std::string unknown_hint(const std::string& target) {
  std::vector<std::string> known = {"libtorch"};
  known.insert(known.end(), std::begin(kShipped), std::end(kShipped));
  if (std::find(known.begin(), known.end(), target) != known.end()) return "--target " + target;
  return fmt::format("--target {}{}", target, did_you_mean(target, known));
}

measure::Comparison compare_in_libtorch(const RunConfig& config, std::span<const graph::Graph* const> graphs,
                                        const exec::Device& device, int repeats) {
  exec::MeasureOptions options = measure_options(config);
  options.repeats = repeats;
  std::vector<const graph::Graph*> runs(graphs.begin(), graphs.end());
  runs.push_back(graphs[0]);  // A/A
  const auto times = exec::measure_graphs(runs, device, options);
  measure::Comparison out;
  for (size_t i = 0; i < graphs.size(); ++i) {
    measure::Timing timing;
    timing.median_us = timing.min_us = times[i].median_us;
    timing.spread_us = times[i].spread_us;
    timing.samples = times[i].samples;
    out.models.push_back(timing);
    out.ratio.push_back(times[i].median_us / times[0].median_us);
    out.ratio_spread.push_back((times[i].spread_us + times[0].spread_us) / times[0].median_us);
  }
  out.noise = std::abs(1 - times.back().median_us / times[0].median_us);
  return out;
}

}  // namespace

bool is_external(const RunConfig& config) { return config.target != "libtorch"; }

std::string target_name(const measure::Measurer* measurer) {
  return measurer == nullptr ? "LibTorch" : fmt::format("{} {}", measurer->hello().runtime, measurer->hello().version);
}

std::vector<std::string> measurer_command(const RunConfig& config) {
  for (const std::string shipped : kShipped) {
    if (config.target != shipped) continue;
    const std::string file = shipped + "_measurer.py";
    return {python(config), shipped_file({"launch/measurers/" + file, "share/rlgo/measurers/" + file}).string()};
  }
  return {"sh", "-c", "exec " + config.target};
}

std::shared_ptr<measure::Measurer> start_target(const RunConfig& config, const Log& log,
                                                std::function<bool()> should_stop) {
  if (!is_external(config)) return nullptr;
  measure::MeasurerOptions options;
  options.threads = static_cast<int>(config.cost_threads);
  options.warmup = static_cast<int>(config.cost_warmup);
  options.repeats = static_cast<int>(config.cost_repeats);
  options.min_sample_us = config.cost_min_sample_us;
  options.seed = static_cast<uint64_t>(config.seed) + 1;
  options.should_stop = std::move(should_stop);
  try {
    return std::make_shared<measure::Measurer>(measurer_command(config), options, log);
  } catch (const Error& e) {
    throw e.in(unknown_hint(config.target));
  }
}

measure::Comparison compare_graphs(const RunConfig& config, const LoadedModel& model,
                                   std::span<const graph::Graph* const> graphs, measure::Measurer* measurer,
                                   const exec::Device& device, int repeats) {
  if (measurer == nullptr) return compare_in_libtorch(config, graphs, device, repeats);
  std::vector<fs::path> files;
  for (const graph::Graph* graph : graphs) {
    files.push_back(measurer->temporary("whole"));
    export_model(model, *graph, files.back());
  }
  auto out = measurer->compare(files, repeats);
  std::error_code ignored;
  for (const auto& file : files) fs::remove(file, ignored);
  return out;
}

}  // namespace rlgo::launch
